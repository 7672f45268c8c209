/* SPDX-License-Identifier: Apache-2.0 */
/* The tracker of flow.h as source that is compiled more than once: flow.c has it for any machine, the CPU backend for each
 * instruction set. The loops have no branches, so that they are vectorized. */
#ifndef PLX_CORE_MOTION_FLOW_TRACK_H
#define PLX_CORE_MOTION_FLOW_TRACK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/motion/flow_step.h"
#include "core/motion/pyramid.h"

#define WINDOW PLX_FLOW_WINDOW
#define PATCH (WINDOW + 2) /* with a border for the gradients */
#define STRIDE 16          /* pixels in memory of a row: whole vectors; values beyond the window have no weight */
#define ONE PLX_FLOW_ONE

_Static_assert(STRIDE + 1 <= PLX_PYRAMID_PADDING, "sample reads whole rows of STRIDE");

/* The window in the key image at one level. */
struct window {
    int16_t value[WINDOW * STRIDE], gx[WINDOW * STRIDE], gy[WINDOW * STRIDE]; /* grey levels x 32; gradients per 2 px */
    struct plx_flow_tensor tensor;
};

/* A row sampled FX / 128 px to the right of PIXEL, with PLX_FLOW_VALUE_BITS bits of fraction. */
static void sample_row(const uint8_t *pixel, int fx, int16_t ret[STRIDE])
{
    const int16_t right = (int16_t)fx, left = (int16_t)(ONE - fx);
    for (int i = 0; i < STRIDE; i++)
        ret[i] = (int16_t)((int16_t)(pixel[i] * left + pixel[i + 1] * right + 2) >> (7 - PLX_FLOW_VALUE_BITS));
}

/* Samples SIZE rows of STRIDE pixels, of which the first SIZE are used; (X, Y) is the upper left one in 1/128 px. False if one
 * of those lies outside. */
static bool sample(const struct plx_image *image, int x, int y, int size, int16_t *ret)
{
    const int x0 = x / ONE, y0 = y / ONE;
    if (!plx_flow_inside(x, y, size, image->width, image->height))
        return false;
    const int fx = x % ONE;
    const int16_t fy = (int16_t)(y % ONE * 256);
    int16_t row[2][STRIDE];
    sample_row((const uint8_t *)plx_row(image, y0) + x0, fx, row[0]);
    for (int j = 0; j < size; j++) {
        const int16_t *upper = row[j % 2], *lower = row[(j + 1) % 2];
        sample_row((const uint8_t *)plx_row(image, y0 + j + 1) + x0, fx, row[(j + 1) % 2]);
        for (int i = 0; i < STRIDE; i++) {
            const int16_t twice = (int16_t)(2 * (lower[i] - upper[i]));
            ret[j * STRIDE + i] = (int16_t)(upper[i] + ((twice * fy) >> 16));
        }
    }
    return true;
}

static void fill_tensor(struct window *window)
{
    int64_t xx = 0, xy = 0, yy = 0;
    int32_t x = 0, y = 0;
    for (int j = 0; j < WINDOW; j++) { /* sums of a row fit into 32 bits */
        const int16_t *gx = &window->gx[j * STRIDE], *gy = &window->gy[j * STRIDE];
        int32_t row_xx = 0, row_xy = 0, row_yy = 0, row_x = 0, row_y = 0;
        for (int i = 0; i < STRIDE; i++) {
            row_xx += gx[i] * gx[i];
            row_xy += gx[i] * gy[i];
            row_yy += gy[i] * gy[i];
            row_x += gx[i];
            row_y += gy[i];
        }
        xx += row_xx;
        xy += row_xy;
        yy += row_yy;
        x += row_x;
        y += row_y;
    }
    window->tensor = plx_flow_tensor_of(xx, xy, yy, x, y);
}

/* False if the window leaves the image or has no texture. */
static bool take_window(const struct plx_image *key, const double centre[2], struct window *ret)
{
    int16_t patch[PATCH * STRIDE];
    if (!sample(key, plx_flow_corner(centre[0], PATCH), plx_flow_corner(centre[1], PATCH), PATCH, patch))
        return false;
    memset(ret, 0, sizeof *ret);
    for (int j = 0; j < WINDOW; j++) {
        const int16_t *row = &patch[(j + 1) * STRIDE + 1];
        for (int i = 0; i < WINDOW; i++) {
            ret->value[j * STRIDE + i] = row[i];
            ret->gx[j * STRIDE + i] = (int16_t)(row[i + 1] - row[i - 1]);
            ret->gy[j * STRIDE + i] = (int16_t)(row[i + STRIDE] - row[i - STRIDE]);
        }
    }
    fill_tensor(ret);
    return ret->tensor.inverse > 0;
}

/* One Gauss-Newton step, in pixels, of the window against SEEN, with the means of both subtracted. */
static void gauss_newton_step(const struct window *window, const int16_t *seen, double ret_step[2])
{
    static const int16_t in_window[STRIDE] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    int64_t bx = 0, by = 0;
    int32_t sum = 0;
    for (int j = 0; j < WINDOW; j++) { /* sums of a row fit into 32 bits */
        const int16_t *value = &window->value[j * STRIDE], *gx = &window->gx[j * STRIDE], *gy = &window->gy[j * STRIDE];
        int32_t row_x = 0, row_y = 0, row = 0;
        for (int i = 0; i < STRIDE; i++) {
            const int16_t difference = (int16_t)(seen[j * STRIDE + i] - value[i]);
            row_x += gx[i] * difference;
            row_y += gy[i] * difference;
            row += in_window[i] * difference;
        }
        bx += row_x;
        by += row_y;
        sum += row;
    }
    plx_flow_step(&window->tensor, bx, by, sum, ret_step);
}

static bool looks_alike(const struct window *window, const int16_t *seen)
{
    int32_t sum = 0, absolute = 0;
    for (int j = 0; j < WINDOW; j++)
        for (int i = j * STRIDE; i < j * STRIDE + WINDOW; i++)
            sum += seen[i] - window->value[i];
    const int32_t mean = sum / PLX_FLOW_PIXELS;
    for (int j = 0; j < WINDOW; j++)
        for (int i = j * STRIDE; i < j * STRIDE + WINDOW; i++)
            absolute += abs(seen[i] - window->value[i] - mean);
    return absolute <= PLX_FLOW_PIXELS * (PLX_FLOW_MAX_DIFFERENCE << PLX_FLOW_VALUE_BITS);
}

/* Moves AT, a pixel of this level, by Gauss-Newton steps. False if the window leaves the image; at the FINEST level also if
 * it looks different or the steps do not become small. */
static bool follow(const struct window *window, const struct plx_image *now, double at[2], bool finest)
{
    const double stop = finest ? PLX_FLOW_STOP_PX : PLX_FLOW_STOP_COARSE_PX;
    int16_t seen[WINDOW * STRIDE];
    double squared = 0;
    for (int step = 0; step < PLX_FLOW_MAX_STEPS; step++) {
        const int x = plx_flow_corner(at[0], WINDOW), y = plx_flow_corner(at[1], WINDOW);
        double move[2];
        if (!sample(now, x, y, WINDOW, seen))
            return false;
        gauss_newton_step(window, seen, move);
        squared = move[0] * move[0] + move[1] * move[1];
        if (!(squared < WINDOW * WINDOW))
            return false;
        at[0] = plx_flow_middle(x, WINDOW) + move[0]; /* the step starts at the sampled position */
        at[1] = plx_flow_middle(y, WINDOW) + move[1];
        if (squared < stop * stop)
            break;
    }
    return !finest || (squared < 1 && looks_alike(window, seen));
}

/* plx_flow_track. */
static inline bool track_point(const struct plx_pyramid *key, const struct plx_pyramid *now, int levels, const double from[2],
                               double ret_to[2])
{
    double to[2] = {ret_to[0], ret_to[1]};
    for (int n = (levels < key->levels ? levels : key->levels) - 1; n >= 0; n--) {
        const double centre[2] = {plx_flow_at_level(from[0], n), plx_flow_at_level(from[1], n)};
        double at[2] = {plx_flow_at_level(to[0], n), plx_flow_at_level(to[1], n)};
        struct window window;
        const bool found = take_window(&key->level[n], centre, &window) && follow(&window, &now->level[n], at, n == 0);
        if (!found && n == 0)
            return false;
        for (int i = 0; found && i < 2; i++) /* a coarse level on which tracking fails is skipped */
            to[i] = plx_flow_from_level(at[i], n);
    }
    ret_to[0] = to[0];
    ret_to[1] = to[1];
    return true;
}

#undef WINDOW
#undef PATCH
#undef STRIDE
#undef ONE

#endif
