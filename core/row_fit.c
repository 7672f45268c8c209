/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random sample consensus (Fischler, Bolles 1981) with samples that are the same each time: a plain offset from each one, a
 * plane through each of some triples. The best is refined by least squares over its inliers.
 */
#include "core/alignment.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define TRIPLES 96
#define REFINEMENTS 4
#define TOLERANCE 0.75      /* rows: offsets are whole rows where nothing finer is known */
#define KEYSTONE (1.0 / 24) /* and so much of the offset itself: that of a turned camera is not quite affine */
#define STEEPEST 0.1        /* rows a pixel: 6 degrees of roll, or a tenth of the size */
#define LEAST_SPREAD 0.1    /* of a triple: twice its area, in halves of the image */
#define TILT_GAIN 8         /* a tilted map needs an eighth of all offsets more than a level one */
/* Ridge regression: so many offsets at the borders that show no slope are added to a fit. */
#define TILTED_WEIGHT 0.1
#define LEVEL_WEIGHT 1.5 /* of a level one, for a few offsets that lie together show slopes that are not there */

double plx_row_fit_at(const struct plx_row_fit *fit, double x, double y)
{
    return fit->rows + fit->per_x * x + fit->per_y * y;
}

static bool agrees(const struct plx_row_fit *fit, const struct plx_row_offset *offset)
{
    return fabs(plx_row_fit_at(fit, offset->x, offset->y) - offset->rows) <= TOLERANCE + KEYSTONE * fabs(offset->rows);
}

/* The better of BEST and the map with these numbers. */
static void compare(const struct plx_row_offset *offset, int count, struct plx_row_fit fit, struct plx_row_fit *best)
{
    fit.inliers = 0;
    for (int i = 0; i < count; i++)
        fit.inliers += agrees(&fit, &offset[i]);
    if (fit.inliers > best->inliers)
        *best = fit;
}

/* The plane through three offsets; false if they lie too near to each other, or to one line, or the plane is too steep. */
static bool through(const struct plx_row_offset *p, const struct plx_row_offset *q, const struct plx_row_offset *r,
                    double least_area, struct plx_row_fit *ret_fit)
{
    const double qx = q->x - p->x, qy = q->y - p->y, rx = r->x - p->x, ry = r->y - p->y;
    const double area = qx * ry - rx * qy;

    if (fabs(area) < least_area)
        return false;
    const double per_x = ((q->rows - p->rows) * ry - (r->rows - p->rows) * qy) / area;
    const double per_y = (qx * (r->rows - p->rows) - rx * (q->rows - p->rows)) / area;
    if (fabs(per_x) > STEEPEST || fabs(per_y) > STEEPEST)
        return false;
    *ret_fit = (struct plx_row_fit){.rows = p->rows - per_x * p->x - per_y * p->y, .per_x = per_x, .per_y = per_y};
    return true;
}

/* Least squares over the offsets that agree with FIT. */
static struct plx_row_fit refine(const struct plx_row_offset *offset, int count, struct plx_row_fit fit, double weight,
                                 double half_width, double half_height)
{
    double n = 0, u = 0, v = 0, uu = weight, uv = 0, vv = weight, r = 0, ru = 0, rv = 0;

    for (int i = 0; i < count; i++) {
        if (!agrees(&fit, &offset[i]))
            continue;
        const double x = offset[i].x / half_width, y = offset[i].y / half_height, rows = offset[i].rows;
        n += 1, u += x, v += y, uu += x * x, uv += x * y, vv += y * y, r += rows, ru += rows * x, rv += rows * y;
    }
    /* about the mean: two equations for the slopes */
    const double sxx = uu - u * u / n, sxy = uv - u * v / n, syy = vv - v * v / n;
    const double sxr = ru - u * r / n, syr = rv - v * r / n, det = sxx * syy - sxy * sxy;
    const double along = (sxr * syy - syr * sxy) / det, down = (syr * sxx - sxr * sxy) / det;
    return (struct plx_row_fit){
        .rows = (r - along * u - down * v) / n, .per_x = along / half_width, .per_y = down / half_height};
}

/* The best plane through three of the offsets. */
static struct plx_row_fit best_tilted(const struct plx_row_offset *offset, int count, double least_area)
{
    struct plx_row_fit best = {0}, fit;
    uint32_t random = 1;

    for (int i = 0; i < TRIPLES && count >= 3; i++) {
        const struct plx_row_offset *corner[3];
        for (int k = 0; k < 3; k++) {
            random = random * 1664525u + 1013904223u; /* Numerical Recipes' generator */
            corner[k] = &offset[(uint64_t)random * (uint32_t)count >> 32];
        }
        if (through(corner[0], corner[1], corner[2], least_area, &fit))
            compare(offset, count, fit, &best);
    }
    return best;
}

struct plx_row_fit plx_row_fit(const struct plx_row_offset *offset, int count, double half_width, double half_height)
{
    struct plx_row_fit best = {0};

    for (int i = 0; i < count; i++) {
        const double other = offset[(i + count / 2) % count].rows; /* while half of them is from before something changed */
        compare(offset, count, (struct plx_row_fit){.rows = offset[i].rows}, &best);
        compare(offset, count, (struct plx_row_fit){.rows = (offset[i].rows + other) / 2}, &best);
    }
    const struct plx_row_fit tilted = best_tilted(offset, count, LEAST_SPREAD * half_width * half_height);
    const bool is_tilted = tilted.inliers > best.inliers + count / TILT_GAIN;
    if (is_tilted)
        best = tilted;
    for (int i = 0; i < REFINEMENTS && best.inliers > 0; i++) {
        const double weight = is_tilted ? TILTED_WEIGHT : LEVEL_WEIGHT;
        const struct plx_row_fit fit = refine(offset, count, best, weight, half_width, half_height);
        best.inliers = 0;
        compare(offset, count, fit, &best);
    }
    return best;
}
