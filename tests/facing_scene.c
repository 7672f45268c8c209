/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/facing_scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/ground/stixels.h"
#include "cpu/cpu.h"
#include "drivers/synthetic/raycast.h"
#include "oracle/test_image.h"

enum { WIDTH = 640, HEIGHT = 480, COLUMNS = WIDTH / PLX_COLUMN_WIDTH };

#define MEAN_GREY 110.0
#define WRONG_PX 1.5 /* a wrong match, and no bias */

const char *const facing_surface_name[FACING_SURFACES] = {"box", "pole", "wall"};
const char *const facing_output_name[FACING_OUTPUTS] = {"strict", "dense", "stixels"};

struct facing_scene {
    struct plx_stages *stages;
    struct plx_image picture[PLX_EYES], plane[MATCHING_PLANES];
    struct plx_scene scene;
    bool wall;
    double distance_m, scale; /* disparity times distance */
    float inverse_depth[HEIGHT][WIDTH];
    uint8_t hit[HEIGHT][WIDTH];
    struct plx_stixel stixel[COLUMNS][PLX_COLUMN_STIXELS];
    struct plx_scan scan[COLUMNS];
};

static void must(bool done, const char *what)
{
    if (!done) {
        fprintf(stderr, "facing_scene: %s failed\n", what);
        exit(1);
    }
}

struct facing_scene *facing_scene_create(void)
{
    const struct plx_limits limits = {WIDTH, HEIGHT, FACING_DISPARITIES, 0};
    struct facing_scene *scene = calloc(1, sizeof *scene);
    struct plx_match match;

    must(scene != NULL, "memory");
    must(plx_cpu_create(&limits, &scene->stages) == 0, "the CPU backend");
    plx_match_default(&match);
    for (int i = 0; i < MATCHING_PLANES; i++)
        scene->plane[i] = test_image_new(WIDTH, HEIGHT, matching_type(&match, (enum matching_plane)i), 0);
    for (int eye = 0; eye < PLX_EYES; eye++)
        scene->picture[eye] = test_image_new(WIDTH, HEIGHT, PLX_U8, 0);
    return scene;
}

void facing_scene_destroy(struct facing_scene *scene)
{
    for (int i = 0; i < MATCHING_PLANES; i++)
        test_image_free(&scene->plane[i]);
    for (int eye = 0; eye < PLX_EYES; eye++)
        test_image_free(&scene->picture[eye]);
    scene->stages->ops->destroy(scene->stages);
    free(scene);
}

static void place(struct facing_scene *scene, int seed)
{
    struct plx_scene *s = &scene->scene;
    const double z = scene->distance_m, width = z > 8 ? 2.0 : 0.9, height = z > 8 ? 1.8 : 1.2;

    if (scene->wall) {
        plx_scene_wall(WIDTH, HEIGHT, (uint64_t)seed, s);
        s->pitch_rad = 0;
        s->object[0].z = z;
    } else {
        plx_scene_demo(WIDTH, HEIGHT, (uint64_t)seed, s);
        s->object_count = 2;
        s->object[FACING_BOX] = (struct plx_scene_object){-0.5 * width, z, width, height, 0.5, 0, 0, 0};
        s->object[FACING_POLE] = (struct plx_scene_object){0.55, z, 0.2, 2.0, 0.2, 0, 0, 0};
    }
    scene->scale = s->calibration.fx * s->calibration.baseline_m;
}

void facing_scene_render(struct facing_scene *scene, bool wall, double distance_m, const struct facing_look *look, int seed)
{
    uint64_t random = (uint64_t)seed + 77;

    scene->wall = wall;
    scene->distance_m = distance_m;
    place(scene, seed);
    for (int eye = PLX_EYES - 1; eye >= 0; eye--) { /* the left one last: its depths stay */
        struct plx_ray_view view;
        plx_ray_view_init(&view, &scene->scene, 0, (enum plx_eye)eye);
        for (int y = 0; y < HEIGHT; y++) {
            float radiance[WIDTH];
            plx_ray_cast(&view, y, &(struct plx_ray_row){radiance, scene->inverse_depth[y], scene->hit[y]});
            for (int x = 0; x < WIDTH; x++) {
                const double grey = MEAN_GREY + look->contrast * ((double)radiance[x] * 255 - MEAN_GREY);
                const double seen = grey * (eye == PLX_RIGHT ? look->gain : 1) + look->noise * random_normal(&random);
                ((uint8_t *)plx_row(&scene->picture[eye], y))[x] = (uint8_t)(fmin(fmax(seen, 0), 255) + 0.5);
            }
        }
    }
}

static void add_error(struct facing_bias *bias, int disparity, double truth_px)
{
    const double error = disparity / (double)PLX_DISPARITY_ONE - truth_px;

    if (disparity == PLX_DISPARITY_INVALID || fabs(error) > WRONG_PX)
        return;
    bias->count++;
    bias->px += (error - bias->px) / bias->count;
}

static bool is_inner(const struct facing_scene *scene, int what, int x, int y, int margin)
{
    for (int k = -margin; k <= margin; k++)
        if (scene->hit[y][x + k] != what || scene->hit[y + k][x] != what)
            return false;
    return true;
}

static struct facing_bias plane_bias(const struct facing_scene *scene, enum matching_plane plane, int what, int margin)
{
    struct facing_bias bias = {0, 0};

    for (int y = 8; y < HEIGHT - 8; y++)
        for (int x = FACING_DISPARITIES + 8; x < WIDTH - 8; x++)
            if (is_inner(scene, what, x, y, margin))
                add_error(&bias, ((const uint16_t *)plx_row(&scene->plane[plane], y))[x],
                          scene->scale * (double)scene->inverse_depth[y][x]);
    return bias;
}

/* The ground of the scene, as the stage would find it. */
static struct plx_ground ground_of(const struct plx_scene *scene)
{
    const struct plx_calibration_info *c = &scene->calibration;
    const double unit = 65536.0 * PLX_DISPARITY_ONE * c->baseline_m / scene->camera_height_m;
    struct plx_pose pose;

    plx_scene_camera(scene, 0, &pose);
    const double *down = pose.rotation + 3; /* in the camera's axes */
    return (struct plx_ground){.a = (int64_t)(unit * down[0]),
                               .b = (int64_t)(unit * down[1]),
                               .c = (int64_t)(unit * (down[2] * c->fx - down[0] * c->cx - down[1] * c->cy)),
                               .camera_height_um = (int)(scene->camera_height_m * 1e6),
                               .valid = 1};
}

static void find_stixels(struct facing_scene *scene)
{
    const struct plx_columns_params params = {.mask = {.near_disparity = FACING_DISPARITIES * PLX_DISPARITY_ONE - 1,
                                                       .far_disparity = 10,
                                                       .min_height_um = 200000,
                                                       .max_height_um = 3000000,
                                                       .focal_px = (int)scene->scene.calibration.fx},
                                              .disparities = FACING_DISPARITIES,
                                              .min_drop_mm = 100};
    const struct plx_ground ground = ground_of(&scene->scene);
    const struct plx_image scan = {scene->scan, COLUMNS, 1, sizeof scene->scan, PLX_U64};
    const struct plx_image stixels = {scene->stixel, PLX_COLUMN_STIXELS, COLUMNS, sizeof scene->stixel[0], PLX_U128};

    must(scene->stages->ops->stixels(scene->stages, &scene->plane[MATCHING_CHECKED], &ground, &params, &scan, &stixels) == 0,
         "stixels");
}

static struct facing_bias stixel_bias(const struct facing_scene *scene, int what)
{
    struct facing_bias bias = {0, 0};

    for (int i = 1; i < COLUMNS - 1; i++)
        for (int k = 0; k < PLX_COLUMN_STIXELS && scene->stixel[i][k].disparity > 0; k++) {
            const struct plx_stixel *stixel = &scene->stixel[i][k];
            const int y = (stixel->y0 + stixel->y1) / 2, x = PLX_COLUMN_WIDTH * i;
            if (scene->hit[y][x] == what && scene->hit[y][x + PLX_COLUMN_WIDTH - 1] == what)
                add_error(&bias, stixel->disparity, scene->scale * (double)scene->inverse_depth[y][x]);
        }
    return bias;
}

void facing_scene_measure(struct facing_scene *scene, const struct plx_match *match,
                          struct facing_bias ret_bias[FACING_SURFACES][FACING_OUTPUTS])
{
    const int pole_margin = (int)fmin(fmax((0.2 * scene->scene.calibration.fx / scene->distance_m - 3) / 2, 0), 4);

    memset(ret_bias, 0, sizeof *ret_bias * FACING_SURFACES);
    must(matching_run(scene->stages, scene->picture, match, scene->plane) == 0, "matching");
    if (!scene->wall)
        find_stixels(scene);
    for (int surface = scene->wall ? FACING_WALL : FACING_BOX; surface <= (scene->wall ? FACING_WALL : FACING_POLE);
         surface++) {
        const int what = PLX_HIT_FRONT + (surface == FACING_POLE ? FACING_POLE : 0);
        const int margin = surface == FACING_POLE ? pole_margin : 6;
        struct facing_bias *bias = ret_bias[surface];
        bias[FACING_STRICT] = plane_bias(scene, MATCHING_STRICT, what, margin);
        bias[FACING_DENSE] = plane_bias(scene, MATCHING_DENSE, what, margin);
        if (!scene->wall)
            bias[FACING_STIXELS] = stixel_bias(scene, what);
    }
}
