/* SPDX-License-Identifier: Apache-2.0 */
#include "core/motion/flow.h"

#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#define WINDOW PLX_FLOW_WINDOW
#define PIXELS (WINDOW * WINDOW)
#define PATCH (WINDOW + 2) /* with a border for the gradients */
#define STRIDE 16          /* samples from row to row in memory: whole vectors; values beyond the window have no weight */
#define ONE 128            /* bilinear factors: 7 bits */
#define VALUE_BITS 5       /* bits for the fraction of a sample */
#define MAX_STEPS 8
#define STOP_PX 0.01        /* a smaller step is the last */
#define STOP_COARSE_PX 0.04 /* likewise at coarse levels, which the next level refines */
#define MAX_DIFFERENCE 20   /* grey levels, mean of absolute values */

_Static_assert(STRIDE + 1 <= PLX_PYRAMID_PADDING, "sample reads whole rows of STRIDE");

/* --- the pyramid -------------------------------------------------------------------------------------------------- */

int plx_pyramid_create(int width, int height, struct plx_pyramid *ret_pyramid)
{
    size_t bytes = PLX_PYRAMID_PADDING;
    for (int n = 0; n < PLX_PYRAMID_LEVELS; n++)
        bytes += (size_t)(width >> n) * (size_t)(height >> n);
    void *memory = calloc(1, bytes);
    if (!memory)
        return PLX_ERR_NOMEM;
    *ret_pyramid = (struct plx_pyramid){.memory = memory};
    return 0;
}

void plx_pyramid_destroy(struct plx_pyramid *pyramid)
{
    free(pyramid->memory);
    *pyramid = (struct plx_pyramid){.levels = 0};
}

/* DST has half the size of SRC; the last column or row of an odd size is left out. */
static void halve(const struct plx_image *src, const struct plx_image *dst)
{
    for (int y = 0; y < dst->height; y++) {
        const uint8_t *upper = plx_row(src, 2 * y), *lower = plx_row(src, 2 * y + 1);
        uint8_t *row = plx_row(dst, y);
        for (int x = 0; x < dst->width; x++)
            row[x] = (uint8_t)((upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1] + 2) >> 2);
    }
}

void plx_pyramid_build(struct plx_pyramid *pyramid, const struct plx_image *picture)
{
    uint8_t *next = pyramid->memory;
    pyramid->levels = 0;
    for (int n = 0; n < PLX_PYRAMID_LEVELS; n++) {
        struct plx_image *level = &pyramid->level[n];
        const int width = picture->width >> n, height = picture->height >> n;
        if (width == 0 || height == 0)
            return;
        *level = (struct plx_image){next, width, height, (size_t)width, PLX_U8};
        for (int y = 0; n == 0 && y < height; y++)
            memcpy(plx_row(level, y), plx_row(picture, y), (size_t)width);
        if (n > 0)
            halve(&pyramid->level[n - 1], level);
        next += (size_t)width * (size_t)height;
        pyramid->levels = n + 1;
    }
}

/* --- the flow of a point ------------------------------------------------------------------------------------------ */

/* The window in the key picture at one level. */
struct window {
    int16_t value[WINDOW * STRIDE], gx[WINDOW * STRIDE], gy[WINDOW * STRIDE]; /* grey levels x 32; gradients per 2 px */
    int32_t sum_x, sum_y;
    double xx, xy, yy, inverse; /* structure tensor of the gradients less their means, times PIXELS; 1 / determinant */
};

/* A row sampled FX / 128 px to the right of PIXEL, with VALUE_BITS bits of fraction. */
static void sample_row(const uint8_t *pixel, int fx, int16_t ret[STRIDE])
{
    const int16_t right = (int16_t)fx, left = (int16_t)(ONE - fx);
    for (int i = 0; i < STRIDE; i++)
        ret[i] = (int16_t)((int16_t)(pixel[i] * left + pixel[i + 1] * right + 2) >> (7 - VALUE_BITS));
}

/* Samples SIZE rows of STRIDE pixels, of which the first SIZE are used; (X, Y) is the upper left one in 1/128 px. False if one
 * of those lies outside. */
static bool sample(const struct plx_image *image, int x, int y, int size, int16_t *ret)
{
    const int x0 = x / ONE, y0 = y / ONE;
    if (x < 0 || y < 0 || x0 + size >= image->width || y0 + size >= image->height)
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

/* Upper left pixel, in 1/128 px, of the window of SIZE pixels around POSITION; negative if that is far outside. */
static int corner_of(double position, int size)
{
    const double corner = position - 0.5 * (size - 1);
    return corner >= 0 && corner < PLX_MAX_SIDE ? (int)(corner * ONE + 0.5) : -1;
}

/* Fills the structure tensor from the gradients. False if it is singular: there is texture in at most one direction. */
static bool fill_tensor(struct window *window)
{
    int64_t xx = 0, xy = 0, yy = 0;
    window->sum_x = window->sum_y = 0;
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
        window->sum_x += row_x;
        window->sum_y += row_y;
    }
    window->xx = (double)(PIXELS * xx - (int64_t)window->sum_x * window->sum_x);
    window->xy = (double)(PIXELS * xy - (int64_t)window->sum_x * window->sum_y);
    window->yy = (double)(PIXELS * yy - (int64_t)window->sum_y * window->sum_y);
    const double determinant = window->xx * window->yy - window->xy * window->xy;
    window->inverse = determinant > 0 ? 1 / determinant : 0;
    return determinant > 0;
}

/* False if the window leaves the picture or has no texture. */
static bool take_window(const struct plx_image *key, const double centre[2], struct window *ret)
{
    int16_t patch[PATCH * STRIDE];
    if (!sample(key, corner_of(centre[0], PATCH), corner_of(centre[1], PATCH), PATCH, patch))
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
    return fill_tensor(ret);
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
    const double x = (double)(PIXELS * bx - (int64_t)sum * window->sum_x);
    const double y = (double)(PIXELS * by - (int64_t)sum * window->sum_y);
    ret_step[0] = -2 * (window->yy * x - window->xy * y) * window->inverse; /* gradients are per 2 px */
    ret_step[1] = -2 * (window->xx * y - window->xy * x) * window->inverse;
}

static bool looks_alike(const struct window *window, const int16_t *seen)
{
    int32_t sum = 0, absolute = 0;
    for (int j = 0; j < WINDOW; j++)
        for (int i = j * STRIDE; i < j * STRIDE + WINDOW; i++)
            sum += seen[i] - window->value[i];
    const int32_t mean = sum / PIXELS;
    for (int j = 0; j < WINDOW; j++)
        for (int i = j * STRIDE; i < j * STRIDE + WINDOW; i++)
            absolute += abs(seen[i] - window->value[i] - mean);
    return absolute <= PIXELS * (MAX_DIFFERENCE << VALUE_BITS);
}

/* Moves AT, a pixel of this level, by Gauss-Newton steps. False if the window leaves the picture; at the FINEST level also if
 * it looks different or the steps do not become small. */
static bool follow(const struct window *window, const struct plx_image *now, double at[2], bool finest)
{
    const double stop = finest ? STOP_PX : STOP_COARSE_PX;
    int16_t seen[WINDOW * STRIDE];
    double squared = 0;
    for (int step = 0; step < MAX_STEPS; step++) {
        const int x = corner_of(at[0], WINDOW), y = corner_of(at[1], WINDOW);
        double move[2];
        if (!sample(now, x, y, WINDOW, seen))
            return false;
        gauss_newton_step(window, seen, move);
        squared = move[0] * move[0] + move[1] * move[1];
        if (!(squared < WINDOW * WINDOW))
            return false;
        at[0] = (double)x / ONE + 0.5 * (WINDOW - 1) + move[0]; /* the step starts at the sampled position */
        at[1] = (double)y / ONE + 0.5 * (WINDOW - 1) + move[1];
        if (squared < stop * stop)
            break;
    }
    return !finest || (squared < 1 && looks_alike(window, seen));
}

/* From coordinate P at full size to level N, and back. */
static double at_level(double p, int n)
{
    return (p + 0.5) / (1 << n) - 0.5;
}

static double from_level(double p, int n)
{
    return (p + 0.5) * (1 << n) - 0.5;
}

bool plx_flow_track(const struct plx_pyramid *key, const struct plx_pyramid *now, int levels, const double from[2],
                    double ret_to[2])
{
    double to[2] = {ret_to[0], ret_to[1]};
    for (int n = (levels < key->levels ? levels : key->levels) - 1; n >= 0; n--) {
        const double centre[2] = {at_level(from[0], n), at_level(from[1], n)};
        double at[2] = {at_level(to[0], n), at_level(to[1], n)};
        struct window window;
        const bool found = take_window(&key->level[n], centre, &window) && follow(&window, &now->level[n], at, n == 0);
        if (!found && n == 0)
            return false;
        for (int i = 0; found && i < 2; i++) /* a coarse level on which tracking fails is skipped */
            to[i] = from_level(at[i], n);
    }
    ret_to[0] = to[0];
    ret_to[1] = to[1];
    return true;
}
