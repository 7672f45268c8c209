/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of the scene: rays, exposure and noise. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "drivers/synthetic/raycast.h"
#include "drivers/synthetic/texture.h"

#define FULL_EXPOSURE_US 10000.0 /* at gain 1 and light 1, radiance 1 is white */
#define NOISE_STEPS 4096         /* quantiles of the normal distribution */

static float normal_quantile[NOISE_STEPS];
static pthread_once_t normal_once = PTHREAD_ONCE_INIT;

/* The quantiles at the middles of NOISE_STEPS equal parts, by bisection of the distribution function. */
static void make_normal(void)
{
    for (int i = 0; i < NOISE_STEPS; i++) {
        double wanted = (i + 0.5) / NOISE_STEPS, low = -6.0, high = 6.0;
        for (int step = 0; step < 40; step++) {
            double middle = 0.5 * (low + high);
            if (0.5 * erfc(-middle * M_SQRT1_2) < wanted)
                low = middle;
            else
                high = middle;
        }
        normal_quantile[i] = (float)(0.5 * (low + high));
    }
}

/* One hash serves five pixels, 12 bits each. */
#define PIXELS_PER_HASH 5

struct exposure {
    float scale; /* grey levels at radiance 1 */
    uint64_t key;
    float noise[NOISE_STEPS]; /* grey levels */
};

static void init_exposure(const struct plx_scene *scene, uint32_t frame_index, enum plx_eye eye, uint32_t exposure_us,
                          double gain, struct exposure *exposure)
{
    const float sigma = (float)scene->noise;
    pthread_once(&normal_once, make_normal);
    exposure->scale = (float)(255.0 * scene->light * exposure_us / FULL_EXPOSURE_US * gain);
    exposure->key = plx_hash(plx_hash(scene->seed) + ((uint64_t)frame_index << 1 | (uint64_t)eye));
    for (int i = 0; i < NOISE_STEPS; i++)
        exposure->noise[i] = sigma * normal_quantile[i];
}

/* The noise is looked up before the row is exposed, so that the compiler makes vectors of the second loop. */
static void expose_row(const struct exposure *exposure, int y, int width, const float *radiance, uint8_t *restrict grey)
{
    const uint64_t key = plx_hash(exposure->key + (uint64_t)y);
    const float scale = exposure->scale;
    float noise[PLX_MAX_SIDE + PIXELS_PER_HASH];

    for (int x = 0; x < width; x += PIXELS_PER_HASH) {
        uint64_t bits = plx_hash(key + (uint64_t)x);
        for (int i = x; i < x + PIXELS_PER_HASH; i++, bits >>= 12)
            noise[i] = exposure->noise[bits & (NOISE_STEPS - 1)];
    }
    for (int x = 0; x < width; x++) {
        float value = radiance[x] * scale + noise[x] + 0.5f;
        value = value > 0.0f ? value : 0.0f;
        grey[x] = (uint8_t)(int32_t)(value < 255.0f ? value : 255.0f);
    }
}

/* STILL: radiance [height][width] of what stands still, or NULL. */
static int draw(const struct plx_scene *scene, const float *still, double time_s, uint32_t frame_index, enum plx_eye eye,
                uint32_t exposure_us, double gain, const struct plx_image *ret_image)
{
    if (!plx_image_ok(ret_image, PLX_U8) || ret_image->width != scene->width || ret_image->height != scene->height ||
        (eye != PLX_LEFT && eye != PLX_RIGHT))
        return PLX_ERR_ARG;
    if (!isfinite(time_s) || !(gain >= 0.0 && gain <= 1e6))
        return PLX_ERR_RANGE;

    const size_t width = (size_t)scene->width;
    float radiance[PLX_MAX_SIDE], inverse_depth[PLX_MAX_SIDE];
    uint8_t hit[PLX_MAX_SIDE];
    const struct plx_ray_row row = {radiance, inverse_depth, hit};
    struct plx_ray_view view;
    struct exposure exposure;
    plx_ray_view_init(&view, scene, time_s, eye);
    init_exposure(scene, frame_index, eye, exposure_us, gain, &exposure);
    for (int y = 0; y < scene->height; y++) {
        const float *drawn = radiance;
        if (!still) {
            plx_ray_draw(&view, y, &row);
        } else if (plx_ray_moves(&view, y)) {
            memcpy(radiance, still + (size_t)y * width, width * sizeof *still);
            plx_ray_draw_moving(&view, y, &row);
        } else {
            drawn = still + (size_t)y * width;
        }
        expose_row(&exposure, y, scene->width, drawn, plx_row(ret_image, y));
    }
    return 0;
}

int plx_scene_render(const struct plx_scene *scene, double time_s, uint32_t frame_index, enum plx_eye eye, uint32_t exposure_us,
                     double gain, const struct plx_image *ret_image)
{
    if (!scene)
        return PLX_ERR_ARG;
    if (plx_scene_check(scene, NULL) < 0)
        return PLX_ERR_RANGE;
    return draw(scene, NULL, time_s, frame_index, eye, exposure_us, gain, ret_image);
}

/* --- many pictures of one scene ----------------------------------------------------------------------------------- */

struct plx_scene_renderer {
    struct plx_scene scene;
    float *still[PLX_EYES]; /* radiance [height][width] of what stands still; NULL if the camera moves */
};

/* Draws what stands still, once. */
static int draw_still(struct plx_scene_renderer *self, enum plx_eye eye)
{
    const size_t width = (size_t)self->scene.width, height = (size_t)self->scene.height;
    float inverse_depth[PLX_MAX_SIDE];
    uint8_t hit[PLX_MAX_SIDE];
    struct plx_ray_row row = {NULL, inverse_depth, hit};
    struct plx_ray_view view;

    self->still[eye] = malloc(width * height * sizeof *self->still[eye]);
    if (!self->still[eye])
        return PLX_ERR_NOMEM;
    plx_ray_view_init(&view, &self->scene, 0.0, eye);
    plx_ray_view_keep_still(&view);
    for (size_t y = 0; y < height; y++) {
        row.radiance = self->still[eye] + y * width;
        plx_ray_draw(&view, (int)y, &row);
    }
    return 0;
}

int plx_scene_renderer_create(const struct plx_scene *scene, struct plx_scene_renderer **ret_renderer)
{
    if (!scene)
        return PLX_ERR_ARG;
    if (plx_scene_check(scene, NULL) < 0)
        return PLX_ERR_RANGE;
    struct plx_scene_renderer *self = calloc(1, sizeof *self);
    if (!self)
        return PLX_ERR_NOMEM;
    self->scene = *scene;
    const struct plx_scene_drive *drive = &scene->drive;
    const bool camera_stands = drive->period_s == 0.0 && drive->sway_period_s == 0.0 && drive->turn_period_s == 0.0;
    for (int eye = 0; eye < PLX_EYES && camera_stands; eye++) {
        int result = draw_still(self, (enum plx_eye)eye);
        if (result < 0) {
            plx_scene_renderer_destroy(self);
            return result;
        }
    }
    *ret_renderer = self;
    return 0;
}

void plx_scene_renderer_destroy(struct plx_scene_renderer *renderer)
{
    if (!renderer)
        return;
    for (int eye = 0; eye < PLX_EYES; eye++)
        free(renderer->still[eye]);
    free(renderer);
}

int plx_scene_renderer_draw(const struct plx_scene_renderer *renderer, double time_s, uint32_t frame_index, enum plx_eye eye,
                            uint32_t exposure_us, double gain, const struct plx_image *ret_image)
{
    if (!renderer || (eye != PLX_LEFT && eye != PLX_RIGHT))
        return PLX_ERR_ARG;
    return draw(&renderer->scene, renderer->still[eye], time_s, frame_index, eye, exposure_us, gain, ret_image);
}
