/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of the scene: rays, exposure and noise. */
#include <math.h>
#include <pthread.h>

#include <parallax/error.h>

#include "drivers/synthetic/raycast.h"

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

static void expose_row(const float *radiance, int width, float scale, float sigma, uint64_t key, uint8_t *grey)
{
    for (int x = 0; x < width; x += PIXELS_PER_HASH) {
        uint64_t bits = plx_hash(key + (uint64_t)x);
        int end = x + PIXELS_PER_HASH < width ? x + PIXELS_PER_HASH : width;
        for (int i = x; i < end; i++, bits >>= 12) {
            float value = radiance[i] * scale + sigma * normal_quantile[bits & (NOISE_STEPS - 1)] + 0.5f;
            grey[i] = (uint8_t)(value < 0.0f ? 0.0f : value > 255.0f ? 255.0f : value);
        }
    }
}

int plx_scene_render(const struct plx_scene *scene, double time_s, uint32_t frame_index, enum plx_eye eye, uint32_t exposure_us,
                     double gain, const struct plx_image *ret_image)
{
    if (!scene || !plx_image_ok(ret_image, PLX_U8) || ret_image->width != scene->width || ret_image->height != scene->height ||
        (eye != PLX_LEFT && eye != PLX_RIGHT))
        return PLX_ERR_ARG;
    if (plx_scene_check(scene, NULL) < 0 || !isfinite(time_s) || !(gain >= 0.0 && gain <= 1e6))
        return PLX_ERR_RANGE;
    pthread_once(&normal_once, make_normal);

    float radiance[PLX_MAX_SIDE], inverse_depth[PLX_MAX_SIDE];
    uint8_t hit[PLX_MAX_SIDE];
    const struct plx_ray_row row = {radiance, inverse_depth, hit};
    struct plx_ray_view view;
    plx_ray_view_init(&view, scene, time_s, eye);
    float scale = (float)(255.0 * scene->light * exposure_us / FULL_EXPOSURE_US * gain);
    uint64_t key = plx_hash(plx_hash(scene->seed) + ((uint64_t)frame_index << 1 | (uint64_t)eye));
    for (int y = 0; y < scene->height; y++) {
        plx_ray_cast(&view, y, &row);
        expose_row(radiance, scene->width, scale, (float)scene->noise, plx_hash(key + (uint64_t)y), plx_row(ret_image, y));
    }
    return 0;
}
