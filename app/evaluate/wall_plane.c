/* SPDX-License-Identifier: Apache-2.0 */
#include "app/evaluate/wall_plane.h"

#include <math.h>
#include <string.h>

#include "core/base/median.h"
#include "core/geometry/cholesky.h"

#define BLOCK 16
#define ROUNDS 8
#define BINS_PER_PX 32
#define MIN_SCALE_PX 0.25
#define SCALE_SIGMAS 3.0
#define SIGMAS_PER_MEDIAN 1.4826 /* absolute residuals of a normal distribution */
#define MIN_PIVOT 1e-9

int wall_half(const struct plx_box *region, int x, int y)
{
    const int side = (region->width < region->height ? region->width : region->height) / 4;
    const int block = side < 1 ? 1 : side > BLOCK ? BLOCK : side;
    return (x / block + y / block) & 1;
}

/* The known pixels of HALF, thinned out evenly where there are many. */
static void collect(struct wall_fit *fit, const struct plx_image *disparity, int half)
{
    const struct plx_box box = {.width = disparity->width, .height = disparity->height};
    const int step = 1 + (int)sqrt((double)box.width * box.height / WALL_SAMPLES);

    fit->count = 0;
    for (int y = 0; y < box.height; y += step) {
        const uint16_t *row = plx_row(disparity, y);
        for (int x = 0; x < box.width && fit->count < WALL_SAMPLES; x += step)
            if (row[x] != PLX_DISPARITY_INVALID && wall_half(&box, x, y) == half)
                fit->sample[fit->count++] = (struct wall_sample){(uint16_t)x, (uint16_t)y, row[x]};
    }
}

static double residual_of(const struct wall_sample *sample, const struct plx_wall_plane *plane)
{
    return (double)sample->value / PLX_DISPARITY_ONE - wall_plane_at(plane, sample->x, sample->y);
}

/* Least squares with weights that fall with the residual from PLANE, in SCALE; SIDE keeps the numbers near 1. */
static bool solve(const struct wall_fit *fit, double side, double scale, struct plx_wall_plane *plane)
{
    double a[9] = {0}, b[3] = {0};

    for (int n = 0; n < fit->count; n++) {
        const struct wall_sample *sample = &fit->sample[n];
        const double off = residual_of(sample, plane) / scale, near = 1 / (1 + off * off), weight = near * near;
        const double p[3] = {1, sample->x / side, sample->y / side};
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j <= i; j++)
                a[3 * i + j] += weight * p[i] * p[j];
            b[i] += weight * p[i] * sample->value / PLX_DISPARITY_ONE;
        }
    }
    if (!plx_cholesky_decompose(a, 3, MIN_PIVOT, a))
        return false;
    plx_cholesky_solve(a, 3, b, b);
    *plane = (struct plx_wall_plane){b[1] / side, b[2] / side, b[0]};
    return true;
}

/* Beyond this, px, a residual hardly counts. */
static double scale_of(struct wall_fit *fit, const struct plx_wall_plane *plane)
{
    memset(fit->bin, 0, sizeof fit->bin);
    for (int n = 0; n < fit->count; n++) {
        const double bin = fabs(residual_of(&fit->sample[n], plane)) * BINS_PER_PX;
        fit->bin[bin < WALL_SCALE_BINS - 1 ? (int)bin : WALL_SCALE_BINS - 1]++;
    }
    const int median = plx_counted_median(fit->bin, fit->count);
    return fmax(MIN_SCALE_PX, SCALE_SIGMAS * SIGMAS_PER_MEDIAN * (median + 0.5) / BINS_PER_PX);
}

bool wall_fit_half(struct wall_fit *fit, const struct plx_image *disparity, int half, struct plx_wall_plane *ret_plane)
{
    const double side = fmax(disparity->width, disparity->height);
    struct plx_wall_plane plane = {0};

    collect(fit, disparity, half);
    if (!solve(fit, side, INFINITY, &plane)) /* all weights are 1 */
        return false;
    for (int round = 1; round < ROUNDS; round++)
        if (!solve(fit, side, scale_of(fit, &plane), &plane))
            return false;
    *ret_plane = plane;
    return true;
}
