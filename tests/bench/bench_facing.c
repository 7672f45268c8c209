/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far matching draws facing surfaces towards whole disparities (pixel locking), and what one least-squares step per pixel
 * leaves of it: a prototype of a stage between the left-right check and local_mean, in the exact integers that a stage would
 * have.
 *
 *   bench_facing scenes   bias of boxes, poles and walls at 24 distances of 2 to 20 m, textured and weak; the worst distance
 *   bench_facing pairs    real pairs: bad pixels, and pixels within 0.5 and 0.25 px of the truth
 *   bench_facing          both
 *
 * Tsukuba's truth has whole disparities only, so that its pixels within 0.25 px reward locking.
 */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "core/ground/stixels.h"
#include "cpu/cpu.h"
#include "drivers/files/picture.h"
#include "drivers/synthetic/raycast.h"
#include "oracle/matching.h"
#include "oracle/test_image.h"

enum method { TODAY, UNLOCKED, METHODS };
static const char *const method_name[METHODS] = {"today", "unlocked"};

static void must(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "bench_facing: %s: %s\n", what, plx_strerror(result));
        exit(1);
    }
}

static int at(const struct plx_image *image, int x, int y)
{
    x = x < 0 ? 0 : x < image->width ? x : image->width - 1;
    y = y < 0 ? 0 : y < image->height ? y : image->height - 1;
    return image->type == PLX_U8 ? ((const uint8_t *)plx_row(image, y))[x] : ((const uint16_t *)plx_row(image, y))[x];
}

/* --- the prototype ------------------------------------------------------------------------------------------------------- */

#define REACH 3        /* the window has 7 x 7 pixels */
#define OUTLIER 40     /* grey levels: pixels that differ more do not match */
#define MIN_SLOPE2 4   /* mean square, (1/4 grey level a pixel)^2, that a step needs */
#define MAX_STEP 6     /* 1/16 px */
#define FACING_REACH 5 /* pixels from one to its eight neighbours that show whether the surface faces the camera: */
#define FACING_STEP 9  /* 1/16 px: they differ by no more, */
#define OTHER_STEP 40  /* 1/16 px: or by more than this, and belong to another surface */
#define FACING_LEAST 4 /* neighbours on the same surface */

enum sum { STEP, SLOPE2, SLOPE, DIFFERENCE, COUNT, SUMS };

struct sums {
    int32_t of[SUMS];
};

/* G of docs/matching.md. */
static void smooth(const struct plx_image *src, const struct plx_image *dst)
{
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            ((uint8_t *)plx_row(dst, y))[x] = (uint8_t)((4 * at(src, x, y) + at(src, x, y - 1) + at(src, x, y + 1) +
                                                         at(src, x + 1, y) + at(src, x - 1, y) + 4) >>
                                                        3);
}

/* What the pixel with disparity V in column X adds: the step is that of the pictures, less the fraction V already has. */
static struct sums pixel_sums(const uint8_t *left, const uint8_t *right, int width, int x, int v)
{
    const int d = (v + 8) >> 4, q = x - d;
    if (v == PLX_DISPARITY_INVALID || x < 1 || x > width - 2 || q < 1 || q > width - 2)
        return (struct sums){{0}};
    const int difference = left[x] - right[q], slope = left[x + 1] - left[x - 1] + right[q + 1] - right[q - 1];
    if (abs(difference) > OUTLIER)
        return (struct sums){{0}};
    return (struct sums){{[STEP] = -64 * difference * slope - (v - PLX_DISPARITY_ONE * d) * slope * slope,
                          [SLOPE2] = slope * slope,
                          [SLOPE] = slope,
                          [DIFFERENCE] = difference,
                          [COUNT] = 1}};
}

static bool is_facing(const struct plx_image *disparity, int x, int y)
{
    const int v = at(disparity, x, y);
    int same = 0;
    for (int dy = -FACING_REACH; dy <= FACING_REACH; dy += FACING_REACH)
        for (int dx = -FACING_REACH; dx <= FACING_REACH; dx += FACING_REACH) {
            const int other = at(disparity, x + dx, y + dy), e = abs(other - v);
            if ((dx == 0 && dy == 0) || other == PLX_DISPARITY_INVALID || e > OTHER_STEP)
                continue;
            if (e > FACING_STEP)
                return false;
            same++;
        }
    return same >= FACING_LEAST;
}

/* The step of a pixel with disparity V, 1/16 px, rounded half up; never towards the whole disparity. */
static int step_of(const struct sums *sums, int v)
{
    const int n = sums->of[COUNT], weight = sums->of[SLOPE2], part = v - PLX_DISPARITY_ONE * ((v + 8) >> 4);
    if (weight < MIN_SLOPE2 * (2 * REACH + 1) * (2 * REACH + 1))
        return 0;
    const int offset = (int)floor((32.0 * sums->of[DIFFERENCE] + n) / (2.0 * n)); /* mean, 1/16 grey level: a brightness */
    const int sum = 2 * (sums->of[STEP] + 4 * offset * sums->of[SLOPE]);
    int step = 0;
    for (int k = 1; k < 2 * MAX_STEP; k += 2)
        step += (sum >= k * weight) - (sum < -k * weight);
    return (part > 0 && step < 0) || (part < 0 && step > 0) ? 0 : step;
}

/* GREY: both pictures, smoothed. Sums of columns slide down, sums of windows slide right. */
static void unlock(const struct plx_image grey[PLX_EYES], const struct plx_image *src, const struct plx_image *dst)
{
    const int width = src->width, height = src->height, rows = 2 * REACH + 1;
    struct sums *row = calloc((size_t)(rows * width), sizeof *row), *column = calloc((size_t)width, sizeof *column);
    must(row && column ? 0 : PLX_ERR_NOMEM, "sums");

    for (int below = 0; below < height + REACH; below++) {
        struct sums *oldest = row + below % rows * width;
        for (int x = 0; x < width; x++) {
            const struct sums here = below < height ? pixel_sums(plx_row(&grey[PLX_LEFT], below),
                                                                 plx_row(&grey[PLX_RIGHT], below), width, x, at(src, x, below))
                                                    : (struct sums){{0}};
            for (int i = 0; i < SUMS; i++)
                column[x].of[i] += here.of[i] - oldest[x].of[i];
            oldest[x] = here;
        }
        const int y = below - REACH;
        struct sums window = {{0}};
        for (int x = -REACH; x < width && y >= 0; x++) {
            for (int i = 0; i < SUMS; i++)
                window.of[i] +=
                    (x + REACH < width ? column[x + REACH].of[i] : 0) - (x > REACH ? column[x - REACH - 1].of[i] : 0);
            if (x < 0)
                continue;
            const int v = at(src, x, y);
            const int step = v != PLX_DISPARITY_INVALID && is_facing(src, x, y) ? step_of(&window, v) : 0;
            ((uint16_t *)plx_row(dst, y))[x] = (uint16_t)(v + step > 0 ? v + step : 0);
        }
    }
    free(row);
    free(column);
}

/* --- matching ------------------------------------------------------------------------------------------------------------ */

struct matching {
    struct plx_match match;
    struct plx_stages *stages;
    struct plx_image picture[PLX_EYES], smoothed[PLX_EYES], plane[MATCHING_PLANES];
    struct plx_image checked, smooth, local_mean, dense, strict; /* a method's results */
    int64_t taken_ns, frames;                                    /* by unlock */
};

static struct plx_image new_image(const struct matching *m, enum plx_type type)
{
    return test_image_new(m->picture[0].width, m->picture[0].height, type, 0);
}

/* PICTURE is there. */
static void begin(struct matching *m, int disparities)
{
    plx_match_default(&m->match);
    m->match.disparities = disparities;
    for (int i = 0; i < MATCHING_PLANES; i++)
        m->plane[i] = new_image(m, matching_type(&m->match, (enum matching_plane)i));
    for (int eye = 0; eye < PLX_EYES; eye++)
        m->smoothed[eye] = new_image(m, PLX_U8);
    struct plx_image *const own[] = {&m->checked, &m->smooth, &m->local_mean, &m->dense, &m->strict};
    for (int i = 0; i < 5; i++)
        *own[i] = new_image(m, PLX_U16);
    const struct plx_limits limits = {m->picture[0].width, m->picture[0].height, disparities, 0};
    must(plx_cpu_create(&limits, &m->stages), "CPU");
}

static void end(struct matching *m)
{
    for (int i = 0; i < MATCHING_PLANES; i++)
        test_image_free(&m->plane[i]);
    for (int eye = 0; eye < PLX_EYES; eye++)
        test_image_free(&m->smoothed[eye]);
    struct plx_image *const own[] = {&m->checked, &m->smooth, &m->local_mean, &m->dense, &m->strict};
    for (int i = 0; i < 5; i++)
        test_image_free(own[i]);
    m->stages->ops->destroy(m->stages);
}

static void match_pair(struct matching *m)
{
    must(matching_run(m->stages, m->picture, &m->match, m->plane), "matching");
    for (int eye = 0; eye < PLX_EYES; eye++)
        smooth(&m->picture[eye], &m->smoothed[eye]);
}

/* Fills the images of METHOD from the planes. */
static void finish(struct matching *m, enum method method)
{
    const struct plx_image *p = m->plane;
    const int64_t begun = plx_now_ns();
    if (method == UNLOCKED) {
        unlock(m->smoothed, &p[MATCHING_CHECKED], &m->checked);
        unlock(m->smoothed, &p[MATCHING_DENSE_SMOOTH], &m->smooth);
        m->taken_ns += plx_now_ns() - begun;
        m->frames++;
    } else {
        memcpy(m->checked.data, p[MATCHING_CHECKED].data, m->checked.pitch * (size_t)m->checked.height);
        memcpy(m->smooth.data, p[MATCHING_DENSE_SMOOTH].data, m->smooth.pitch * (size_t)m->smooth.height);
    }
    const struct plx_stages_ops *ops = m->stages->ops;
    must(ops->local_mean(m->stages, &m->checked, &m->local_mean), "local_mean");
    must(ops->local_mean(m->stages, &m->smooth, &m->dense), "local_mean");
    must(ops->cross_validate(m->stages, &m->local_mean, &m->dense, &p[MATCHING_CANDIDATE_RAW], &p[MATCHING_DISTINCT],
                             &m->strict),
         "cross_validate");
}

/* --- real pairs ---------------------------------------------------------------------------------------------------------- */

enum share { BAD_1, BAD_3, WITHIN_HALF, WITHIN_QUARTER, VALID, SHARES };

static void add_shares(const struct plx_image *disparity, const struct plx_image *truth, double sum[SHARES])
{
    double count[SHARES] = {0}, known = 0;
    for (int y = 0; y < truth->height; y++)
        for (int x = 0; x < truth->width; x++) {
            const int want = at(truth, x, y), v = at(disparity, x, y);
            known += want > 0;
            if (want == 0 || v == PLX_DISPARITY_INVALID)
                continue;
            const double error = fabs(v / (double)PLX_DISPARITY_ONE - want / 256.0);
            count[BAD_1] += error > 1;
            count[BAD_3] += error > 3;
            count[WITHIN_HALF] += error <= 0.5;
            count[WITHIN_QUARTER] += error <= 0.25;
            count[VALID]++;
        }
    for (int i = 0; i < SHARES; i++)
        sum[i] += 100 * count[i] / (i == VALID ? known : count[VALID]);
}

/* Every STEP-th of the folders that match PATTERN, from FIRST on. */
static void measure_pairs(const char *name, const char *pattern, int first, int step)
{
    double strict[METHODS][SHARES] = {{0}}, dense[METHODS][SHARES] = {{0}};
    int pairs = 0;
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = (size_t)first; i < found.gl_pathc; i += (size_t)step, pairs++) {
        static const char *const file[] = {"left.png", "right.png", "gt.png", "nonocc.png"};
        struct plx_image image[4] = {{0}};
        struct matching m = {.frames = 0};
        for (int k = 0; k < 4; k++) {
            char path[700];
            snprintf(path, sizeof path, "%.*s%s", (int)(strlen(found.gl_pathv[i]) - strlen("gt.png")), found.gl_pathv[i],
                     file[k]);
            const int result = plx_picture_read(path, k == 2 ? PLX_U16 : PLX_U8, &image[k], NULL);
            must(k == 3 ? 0 : result, path); /* KITTI's truth has no occluded pixels */
        }
        for (int y = 0; image[3].data && y < image[3].height; y++)
            for (int x = 0; x < image[3].width; x++)
                if (at(&image[3], x, y) != 255)
                    ((uint16_t *)plx_row(&image[2], y))[x] = 0;
        m.picture[PLX_LEFT] = image[0];
        m.picture[PLX_RIGHT] = image[1];
        begin(&m, strstr(found.gl_pathv[i], "aloe") ? 256 : 128);
        match_pair(&m);
        for (int method = 0; method < METHODS; method++) {
            finish(&m, (enum method)method);
            add_shares(&m.strict, &image[2], strict[method]);
            add_shares(&m.dense, &image[2], dense[method]);
        }
        end(&m);
        for (int k = 0; k < 4; k++)
            free(image[k].data);
    }
    globfree(&found);
    for (int method = 0; method < METHODS; method++)
        for (int plane = 0; plane < 2; plane++) {
            const double *s = plane ? dense[method] : strict[method];
            printf("%-11s %-8s %-6s bad>1 %6.3f  bad>3 %6.3f  within 0.5 %6.2f  0.25 %6.2f  valid %6.2f %%\n", name,
                   method_name[method], plane ? "dense" : "strict", s[BAD_1] / pairs, s[BAD_3] / pairs, s[WITHIN_HALF] / pairs,
                   s[WITHIN_QUARTER] / pairs, s[VALID] / pairs);
        }
}

/* --- scenes -------------------------------------------------------------------------------------------------------------- */

#define WIDTH 640
#define HEIGHT 480
#define DISTANCES 24
#define MEAN_GREY 110.0

enum surface { BOX, POLE, WALL, SURFACES };
static const char *const surface_name[SURFACES] = {"box", "pole", "wall"};
enum output { STRICT, DENSE, STIXELS, OUTPUTS };
static const char *const output_name[OUTPUTS] = {"strict", "dense", "stixels"};

/* The right picture is GAIN times as bright. */
static const struct look {
    double contrast, noise, gain;
} looks[] = {{1, 1.5, 1}, {0.3, 1.5, 1}, {0.15, 1.5, 1}, {0.08, 0.7, 1}, {0.3, 1.5, 1.04}};

static float inverse_depth[HEIGHT][WIDTH];
static uint8_t hit[HEIGHT][WIDTH];

static void render(const struct plx_scene *scene, const struct look *look, uint64_t seed,
                   const struct plx_image picture[PLX_EYES])
{
    for (int eye = PLX_EYES - 1; eye >= 0; eye--) { /* the left one last: its depths stay */
        struct plx_ray_view view;
        plx_ray_view_init(&view, scene, 0, (enum plx_eye)eye);
        for (int y = 0; y < HEIGHT; y++) {
            float radiance[WIDTH];
            plx_ray_cast(&view, y, &(struct plx_ray_row){radiance, inverse_depth[y], hit[y]});
            for (int x = 0; x < WIDTH; x++) {
                const double grey = MEAN_GREY + look->contrast * ((double)radiance[x] * 255 - MEAN_GREY);
                const double seen = grey * (eye == PLX_RIGHT ? look->gain : 1) + look->noise * random_normal(&seed);
                ((uint8_t *)plx_row(&picture[eye], y))[x] = (uint8_t)(fmin(fmax(seen, 0), 255) + 0.5);
            }
        }
    }
}

struct mean {
    double sum;
    int count;
};

static void add_error(struct mean *mean, double disparity, double truth)
{
    if (fabs(disparity / PLX_DISPARITY_ONE - truth) > 1.5) /* a wrong match */
        return;
    mean->sum += disparity / PLX_DISPARITY_ONE - truth;
    mean->count++;
}

static bool is_inner(int what, int x, int y, int margin)
{
    for (int k = -margin; k <= margin; k++)
        if (hit[y][x + k] != what || hit[y + k][x] != what)
            return false;
    return true;
}

static struct mean plane_bias(const struct plx_image *disparity, int what, int margin, double scale)
{
    struct mean mean = {0, 0};
    for (int y = 8; y < HEIGHT - 8; y++)
        for (int x = 72; x < WIDTH - 8; x++)
            if (is_inner(what, x, y, margin) && at(disparity, x, y) != PLX_DISPARITY_INVALID)
                add_error(&mean, at(disparity, x, y), scale * (double)inverse_depth[y][x]);
    return mean;
}

static struct mean stixel_bias(struct matching *m, const struct plx_scene *scene, int what, double scale)
{
    static struct plx_stixel stixel[WIDTH / PLX_COLUMN_WIDTH][PLX_COLUMN_STIXELS];
    static struct plx_scan scan[WIDTH / PLX_COLUMN_WIDTH];
    const int columns = WIDTH / PLX_COLUMN_WIDTH;
    const struct plx_calibration_info *c = &scene->calibration;
    const struct plx_columns_params params = {.mask = {.near_disparity = 1023,
                                                       .far_disparity = 10,
                                                       .min_height_um = 200000,
                                                       .max_height_um = 3000000,
                                                       .focal_px = 512},
                                              .disparities = 64,
                                              .min_drop_mm = 100};
    const double unit = 65536.0 * PLX_DISPARITY_ONE * c->baseline_m / scene->camera_height_m;
    struct plx_pose pose;
    plx_scene_camera(scene, 0, &pose);
    const double *down = pose.rotation + 3; /* in the camera's axes */
    const struct plx_ground ground = {.a = (int64_t)(unit * down[0]),
                                      .b = (int64_t)(unit * down[1]),
                                      .c = (int64_t)(unit * (down[2] * c->fx - down[0] * c->cx - down[1] * c->cy)),
                                      .camera_height_um = (int)(scene->camera_height_m * 1e6),
                                      .valid = 1};
    const struct plx_image scans = {scan, columns, 1, sizeof scan, PLX_U64};
    const struct plx_image stixels = {stixel, PLX_COLUMN_STIXELS, columns, sizeof stixel[0], PLX_U128};
    struct mean mean = {0, 0};

    must(m->stages->ops->stixels(m->stages, &m->checked, &ground, &params, &scans, &stixels), "stixels");
    for (int x = 1; x < columns - 1; x++)
        for (int i = 0; i < PLX_COLUMN_STIXELS && stixel[x][i].disparity > 0; i++) {
            const int y = (stixel[x][i].y0 + stixel[x][i].y1) / 2, first = PLX_COLUMN_WIDTH * x;
            if (hit[y][first] == what && hit[y][first + PLX_COLUMN_WIDTH - 1] == what)
                add_error(&mean, stixel[x][i].disparity, scale * (double)inverse_depth[y][first]);
        }
    return mean;
}

/* The bias of each output of SURFACE, seen with LOOK at distance NUMBER. */
static void measure_scene(struct matching *m, const struct look *look, bool wall, int number,
                          struct mean ret_bias[METHODS][SURFACES][OUTPUTS])
{
    struct plx_scene scene;
    if (wall)
        plx_scene_wall(WIDTH, HEIGHT, (uint64_t)number + 1, &scene);
    else
        plx_scene_demo(WIDTH, HEIGHT, (uint64_t)number + 1, &scene);
    const double scale = scene.calibration.fx * scene.calibration.baseline_m, z = 2 * pow(10, (number + 0.5) / DISTANCES);
    const double width = z > 8 ? 2.0 : 0.9, height = z > 8 ? 1.8 : 1.2;
    if (wall) {
        scene.pitch_rad = 0;
        scene.object[0].z = z;
    } else {
        scene.object_count = 2;
        scene.object[0] = (struct plx_scene_object){-0.5 * width, z, width, height, 0.5, 0, 0, 0};
        scene.object[1] = (struct plx_scene_object){0.55, z, 0.2, 2.0, 0.2, 0, 0, 0};
    }
    render(&scene, look, (uint64_t)number + 77, m->picture);
    match_pair(m);
    const int pole_margin = (int)fmin(fmax((0.2 * scene.calibration.fx / z - 3) / 2, 0), 4);
    for (int method = 0; method < METHODS; method++) {
        finish(m, (enum method)method);
        for (int surface = wall ? WALL : BOX; surface <= (wall ? WALL : POLE); surface++) {
            const int what = PLX_HIT_FRONT + (surface == POLE), margin = surface == POLE ? pole_margin : 6;
            struct mean *bias = ret_bias[method][surface];
            bias[STRICT] = plane_bias(&m->strict, what, margin, scale);
            bias[DENSE] = plane_bias(&m->dense, what, margin, scale);
            bias[STIXELS] = wall ? (struct mean){0, 0} : stixel_bias(m, &scene, what, scale);
        }
    }
}

static void measure_look(struct matching *m, const struct look *look)
{
    static struct mean bias[DISTANCES][METHODS][SURFACES][OUTPUTS];
    for (int number = 0; number < DISTANCES; number++)
        for (int wall = 0; wall < 2; wall++)
            measure_scene(m, look, wall, number, bias[number]);
    for (int surface = 0; surface < SURFACES; surface++)
        for (int output = 0; output < (surface == WALL ? STIXELS : OUTPUTS); output++)
            for (int method = 0; method < METHODS; method++) {
                double worst = 0, squares = 0;
                int seen = 0;
                for (int number = 0; number < DISTANCES; number++) {
                    const struct mean *mean = &bias[number][method][surface][output];
                    const double here = mean->count > 1 ? mean->sum / mean->count : 0;
                    worst = fmax(worst, fabs(here));
                    squares += here * here;
                    seen += mean->count > 1;
                }
                printf("contrast %.2f noise %.1f gain %.2f  %-4s %-7s %-8s seen at %2d  bias: worst %.3f  rms %.3f px\n",
                       look->contrast, look->noise, look->gain, surface_name[surface], output_name[output], method_name[method],
                       seen, worst, sqrt(squares / fmax(seen, 1)));
            }
}

static void measure_scenes(void)
{
    struct matching m = {.frames = 0};
    for (int eye = 0; eye < PLX_EYES; eye++)
        m.picture[eye] = test_image_new(WIDTH, HEIGHT, PLX_U8, 0);
    begin(&m, 64);
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++)
        measure_look(&m, &looks[i]);
    printf("unlock, plain C, one thread, strict and dense: %.2f ms a frame\n",
           (double)m.taken_ns / (double)m.frames / PLX_NS_PER_MS);
    end(&m);
    for (int eye = 0; eye < PLX_EYES; eye++)
        test_image_free(&m.picture[eye]);
}

int main(int argc, char **argv)
{
    const bool all = argc < 2;
    if (all || strcmp(argv[1], "scenes") == 0)
        measure_scenes();
    if (all || strcmp(argv[1], "pairs") == 0) {
        measure_pairs("KITTI even", PLX_TEST_DATA "/kitti_dev/*/gt.png", 0, 2);
        measure_pairs("KITTI odd", PLX_TEST_DATA "/kitti_dev/*/gt.png", 1, 2);
        measure_pairs("Middlebury", PLX_TEST_DATA "/stereo/[amt]*/gt.png", 0, 1);
    }
    return 0;
}
