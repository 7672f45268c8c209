/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/motion_scene.h"

#include <math.h>

#include "oracle/test_image.h"

#define OCTAVES 8
#define LARGEST_M 2.0 /* cells of the coarsest octave */
#define MAX_DISPARITY 128

void motion_scene_init(struct motion_scene *scene, int width, int height)
{
    *scene = (struct motion_scene){.calibration = {.fx = 0.8 * width,
                                                   .fy = 0.8 * width,
                                                   .cx = 0.5 * (width - 1),
                                                   .cy = 0.5 * (height - 1),
                                                   .cx_right = 0.5 * (width - 1),
                                                   .baseline_m = 0.12},
                                   .light = 1,
                                   .contrast = 1,
                                   .noise = 1};
}

/* -1 .. 1 at a corner of the noise's grid. */
static double lattice(int64_t x, int64_t y, uint64_t seed)
{
    uint64_t state = (uint64_t)x * 0x9E3779B97F4A7C15u ^ (uint64_t)y * 0xC2B2AE3D27D4EB4Fu ^ seed;
    return (double)(random_next(&state) >> 11) / 4503599627370496.0 - 1;
}

/* Smooth noise with one value for each cell. */
static double value_noise(double s, double q, uint64_t seed)
{
    const double x = floor(s), y = floor(q), a = s - x, b = q - y;
    const double fx = a * a * (3 - 2 * a), fy = b * b * (3 - 2 * b);
    const int64_t i = (int64_t)x, j = (int64_t)y;
    return (1 - fy) * ((1 - fx) * lattice(i, j, seed) + fx * lattice(i + 1, j, seed)) +
           fy * ((1 - fx) * lattice(i, j + 1, seed) + fx * lattice(i + 1, j + 1, seed));
}

/* Grey level at (S, Q) metres; octaves finer than a pixel's FOOTPRINT fade out. */
static double texture(double s, double q, double footprint, uint64_t seed)
{
    double sum = 0;
    for (int octave = 0; octave < OCTAVES; octave++) {
        const double cell = LARGEST_M / (1 << octave), weight = fmin(1, fmax(0, cell / footprint / 2 - 1));
        if (weight > 0)
            sum += weight * value_noise(s / cell, q / cell, seed + (uint64_t)octave);
    }
    return 55 * sum;
}

struct hit {
    double along;     /* distance along the ray */
    double s, q, cos; /* place on the plane; cosine of the ray's angle to its normal */
    uint64_t seed;
};

static void meet(const double from[3], const double ray[3], int axis, double at, uint64_t seed, struct hit *hit)
{
    const double along = (at - from[axis]) / ray[axis];
    if (!(along > 0.05 && along < hit->along))
        return;
    const int s = axis == 0 ? 2 : 0, q = axis == 1 ? 2 : 1;
    const double length = sqrt(ray[0] * ray[0] + ray[1] * ray[1] + ray[2] * ray[2]);
    *hit = (struct hit){along, from[s] + along * ray[s], from[q] + along * ray[q], fabs(ray[axis]) / length, seed};
}

static void meet_box(const double from[3], const double ray[3], const struct motion_scene_box *box, double time_s,
                     uint64_t seed, struct hit *hit)
{
    const double left = box->x + box->vx * time_s;
    struct hit front = *hit;
    meet(from, ray, 2, box->z, seed, &front);
    if (front.along < hit->along && front.s >= left && front.s <= left + box->width && front.q >= box->y &&
        front.q <= box->y + box->height) {
        *hit = front;
        hit->s -= left; /* the texture moves with the box */
    }
}

void motion_scene_render(const struct motion_scene *scene, const struct plx_pose *start_from_now, double time_s,
                         uint64_t *state, const struct plx_image *left, const struct plx_image *disparity)
{
    const struct plx_calibration_info *c = &scene->calibration;
    const double *from = start_from_now->translation, *r = start_from_now->rotation;
    for (int y = 0; y < left->height; y++)
        for (int x = 0; x < left->width; x++) {
            const double u = (x - c->cx) / c->fx, v = (y - c->cy) / c->fy;
            const double ray[3] = {r[0] * u + r[1] * v + r[2], r[3] * u + r[4] * v + r[5], r[6] * u + r[7] * v + r[8]};
            struct hit hit = {.along = 1e9};
            meet(from, ray, 0, -MOTION_SCENE_WALL_M, 100, &hit);
            meet(from, ray, 0, MOTION_SCENE_WALL_M, 200, &hit);
            meet(from, ray, 1, MOTION_SCENE_GROUND_M, 300, &hit);
            meet(from, ray, 2, MOTION_SCENE_END_M, 400, &hit);
            for (int i = 0; i < scene->boxes; i++)
                meet_box(from, ray, &scene->box[i], time_s, 500 + 100 * (uint64_t)i, &hit);
            const double footprint = hit.along / c->fx / fmax(hit.cos, 0.05);
            const double grey = 120 + scene->contrast * texture(hit.s, hit.q, footprint, hit.seed);
            const double seen = scene->light * grey + scene->noise * random_normal(state);
            ((uint8_t *)plx_row(left, y))[x] = (uint8_t)fmin(255, fmax(0, seen + 0.5));
            const double d = c->fx * c->baseline_m / hit.along + scene->disparity_noise * random_normal(state);
            const bool hole = d >= MAX_DISPARITY || d < 0 || random_below(state, 1000) < 1000 * scene->holes;
            ((uint16_t *)plx_row(disparity, y))[x] = hole ? PLX_DISPARITY_INVALID : (uint16_t)lround(16 * d);
        }
}
