/* SPDX-License-Identifier: Apache-2.0 */
/* Every face shades every pixel in which it is the nearest so far, one pixel at a time. */
#include "tests/scene_plain.h"

#include <math.h>
#include <string.h>

#include "drivers/synthetic/raycast.h"
#include "drivers/synthetic/texture.h"

#define FULL_EXPOSURE_US 10000.0
#define NOISE_STEPS 4096
#define CONTRAST 0.65f
#define SKY_CONTRAST 0.35f
#define NEAREST_M 0.0625
#define SKY_ALBEDO 0.55f

/* Bilinear value at texel position (S, Q), |S|, |Q| < 2^50, in 1/65536 of a grey level. */
static int32_t sample(const uint8_t *tile, float s, float q)
{
    int64_t fixed_s = (int64_t)(s * 256.0f), fixed_q = (int64_t)(q * 256.0f);
    int32_t column = (int32_t)(fixed_s >> 8) & (PLX_TEXTURE_SIDE - 1), row = (int32_t)(fixed_q >> 8) & (PLX_TEXTURE_SIDE - 1);
    int32_t part_s = (int32_t)fixed_s & 255, part_q = (int32_t)fixed_q & 255;
    const uint8_t *upper = tile + row * PLX_TEXTURE_STRIDE + column, *lower = upper + PLX_TEXTURE_STRIDE;
    int32_t above = upper[0] * 256 + (upper[1] - upper[0]) * part_s;
    int32_t below = lower[0] * 256 + (lower[1] - lower[0]) * part_s;
    return above * 256 + (below - above) * part_q;
}

/* Texture around 1 at (S, Q) metres on FACE at DEPTH. The level is 2 log2(depth / NEAREST_M), log2 being taken as linear
 * between powers of two, which the bits of a float give at once. */
static float shade(const struct plx_ray_face *face, const uint8_t *tile, float s, float q, float depth)
{
    float scaled = depth * (float)(1.0 / NEAREST_M);
    int32_t bits;
    memcpy(&bits, &scaled, sizeof bits);
    int32_t position = bits - (127 << 23);
    position = position < 0 ? 0 : position;
    int level = position >> 22;
    level = level > PLX_RAY_LEVELS - 2 ? PLX_RAY_LEVELS - 2 : level;
    int32_t part = (position >> 14) & 255;

    s = (s - face->s_origin) * face->s_stretch;
    q = (q - face->q_origin) * face->q_stretch;
    float offset = face->shift + 37.0f * (float)level; /* each level shows another part of the tile */
    int32_t fine = sample(tile, s * face->s_density[level] + offset, q * face->q_density[level] + offset);
    int32_t coarse =
        sample(tile, s * face->s_density[level + 1] + (offset + 37.0f), q * face->q_density[level + 1] + (offset + 37.0f));
    int32_t value = (fine >> 8) * (256 - part) + (coarse >> 8) * part;
    return 1.0f + CONTRAST * ((float)value * (1.0f / (128.0f * 65536.0f)) - 1.0f);
}

/* The background is infinitely far: both eyes see the same in the same direction. */
static void cast_sky(const struct plx_ray_view *view, int y, const uint8_t *tile, const struct plx_ray_row *row)
{
    float u0 = (float)(1024.0 - view->cx), v = (float)(1024.0 + y - view->scene->calibration.cy);
    for (int x = 0; x < view->scene->width; x++) {
        float texture = (float)sample(tile, 0.8f * (u0 + (float)x), 0.8f * v) * (1.0f / (128.0f * 65536.0f)) - 1.0f;
        row->radiance[x] = SKY_ALBEDO * (1.0f + SKY_CONTRAST * texture);
        row->inverse_depth[x] = (float)(1.0 / PLX_RAY_FAR_M);
        row->hit[x] = PLX_HIT_SKY;
    }
}

static void cast_face(const struct plx_ray_view *view, const struct plx_ray_face *face, int y, const uint8_t *tile,
                      const struct plx_ray_row *row)
{
    const struct plx_calibration_info *info = &view->scene->calibration;
    float start[3], step[3]; /* the ray's direction in the ground frame, along the row */
    for (int axis = 0; axis < 3; axis++) {
        const double *r = view->rotation + 3 * axis;
        start[axis] = (float)(r[0] * -view->cx / info->fx + r[1] * (y - info->cy) / info->fy + r[2]);
        step[axis] = (float)(r[0] / info->fx);
    }
    double offset = face->plane - view->origin[face->axis] + face->slope * view->origin[2];
    float nearness = (float)((start[face->axis] - face->slope * start[2]) / offset);
    float nearness_step = (float)((step[face->axis] - face->slope * step[2]) / offset);
    float s_start = start[face->s_axis], s_step = step[face->s_axis], s_eye = (float)view->origin[face->s_axis];
    float q_start = start[face->q_axis], q_step = step[face->q_axis], q_eye = (float)view->origin[face->q_axis];

    for (int x = face->x0; x < face->x1; x++) {
        float column = (float)x;
        float inverse_depth = nearness + column * nearness_step;
        if (!(inverse_depth > row->inverse_depth[x]))
            continue;
        float depth = 1.0f / inverse_depth;
        float s = s_eye + depth * (s_start + column * s_step), q = q_eye + depth * (q_start + column * q_step);
        if (s < face->s_min || s > face->s_max || q < face->q_min || q > face->q_max)
            continue;
        row->inverse_depth[x] = inverse_depth;
        row->hit[x] = face->hit;
        row->radiance[x] = face->albedo * shade(face, tile, s, q, depth);
    }
}

static float normal_quantile[NOISE_STEPS];

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

void scene_plain(const struct plx_scene *scene, double time_s, uint32_t frame_index, enum plx_eye eye, uint32_t exposure_us,
                 double gain, uint8_t *ret_grey)
{
    static float radiance[PLX_MAX_SIDE], inverse_depth[PLX_MAX_SIDE];
    static uint8_t hit[PLX_MAX_SIDE];
    const struct plx_ray_row row = {radiance, inverse_depth, hit};
    const uint8_t *tile = plx_texture_tile();
    struct plx_ray_view view;
    float scale = (float)(255.0 * scene->light * exposure_us / FULL_EXPOSURE_US * gain);
    uint64_t key = plx_hash(plx_hash(scene->seed) + ((uint64_t)frame_index << 1 | (uint64_t)eye));

    make_normal();
    plx_ray_view_init(&view, scene, time_s, eye);
    for (int y = 0; y < scene->height; y++) {
        cast_sky(&view, y, tile, &row);
        for (int i = 0; i < view.face_count; i++)
            if (y >= view.face[i].y0 && y < view.face[i].y1)
                cast_face(&view, &view.face[i], y, tile, &row);
        expose_row(radiance, scene->width, scale, (float)scene->noise, plx_hash(key + (uint64_t)y),
                   ret_grey + (size_t)y * (size_t)scene->width);
    }
}
