/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/motion.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 5
#define CELL 8
#define MARGIN 5
#define SIDE 12 /* the window of the tracker */

int oracle_pyramid(const struct plx_image *left, int n, int x, int y)
{
    if (n == 0)
        return ((const uint8_t *)plx_row(left, y))[x];
    return (oracle_pyramid(left, n - 1, 2 * x, 2 * y) + oracle_pyramid(left, n - 1, 2 * x + 1, 2 * y) +
            oracle_pyramid(left, n - 1, 2 * x, 2 * y + 1) + oracle_pyramid(left, n - 1, 2 * x + 1, 2 * y + 1) + 2) /
           4;
}

/* --- corners ------------------------------------------------------------------------------------------------------ */

struct cell {
    float strength, disparity;
    uint16_t x, y;
    uint32_t zero;
};

static float strength(const struct plx_image *left, int x, int y)
{
    int a = 0, b = 0, c = 0;
    for (int v = y - 2; v <= y + 2; v++)
        for (int u = x - 2; u <= x + 2; u++) {
            const int gx = oracle_pyramid(left, 1, u + 1, v) - oracle_pyramid(left, 1, u - 1, v);
            const int gy = oracle_pyramid(left, 1, u, v + 1) - oracle_pyramid(left, 1, u, v - 1);
            a += gx * gx;
            b += gx * gy;
            c += gy * gy;
        }
    const float d = (float)(a - c), e = (float)(2 * b), dd = d * d, ee = e * e, root = sqrtf(dd + ee);
    return ((float)(a + c) - root) * 0.5F;
}

void oracle_corners(const struct plx_image *left, const struct plx_image *ret_cells)
{
    const int width = left->width / 2, height = left->height / 2;
    for (int i = 0; i < ret_cells->width * ret_cells->height; i++) {
        const int column = i % ret_cells->width, row = i / ret_cells->width;
        float best = 400;
        struct cell cell = {0};
        for (int k = 0; k < CELL * CELL; k++) {
            const int x = column * CELL + k % CELL, y = row * CELL + k / CELL;
            if (x < MARGIN || y < MARGIN || x >= width - MARGIN || y >= height - MARGIN || !(strength(left, x, y) > best))
                continue;
            best = strength(left, x, y);
            cell = (struct cell){.strength = best, .x = (uint16_t)x, .y = (uint16_t)y};
        }
        ((struct cell *)plx_row(ret_cells, row))[column] = cell;
    }
}

static int disparity_of(const struct plx_image *disparity, int x, int y)
{
    return ((const uint16_t *)plx_row(disparity, y))[x];
}

double oracle_disparity(const struct plx_image *disparity, double u, double v)
{
    const int x = (int)floor(fmin(fmax(u, -1), 1e6)), y = (int)floor(fmin(fmax(v, -1), 1e6));
    int least = 0xFFFF, most = 0;
    if (!(u >= 0 && v >= 0 && u < disparity->width - 1 && v < disparity->height - 1))
        return -1;
    for (int k = 0; k < 4; k++) {
        const int value = disparity_of(disparity, x + k % 2, y + k / 2);
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    if (most == 0xFFFF || most - least > 24)
        return -1;
    const double fx = u - x, fy = v - y;
    double row[2];
    for (int k = 0; k < 2; k++)
        row[k] = (1 - fx) * disparity_of(disparity, x, y + k) + fx * disparity_of(disparity, x + 1, y + k);
    return (1 - fy) * row[0] + fy * row[1];
}

static float corner_disparity(const struct plx_image *disparity, int x, int y)
{
    const double centre = oracle_disparity(disparity, 2 * x + 0.5, 2 * y + 0.5);
    for (int k = 0; k < 9; k++) {
        const int value = disparity_of(disparity, 2 * x + k % 3 * 4 - 4, 2 * y + k / 3 * 4 - 4);
        if (value == 0xFFFF || fabs(value - centre) > 24)
            return -1;
    }
    return (float)centre;
}

void oracle_corner_disparities(const struct plx_image *disparity, const struct plx_image *cells)
{
    for (int i = 0; i < cells->width * cells->height; i++) {
        struct cell *cell = (struct cell *)plx_row(cells, i / cells->width) + i % cells->width;
        if (cell->strength > 0)
            cell->disparity = corner_disparity(disparity, cell->x, cell->y);
    }
}

/* --- flow --------------------------------------------------------------------------------------------------------- */

/* A level of an image. */
struct level {
    const struct plx_image *image;
    int n;
};

/* Bilinear in steps of 1/128 px, times 32: along the row first, each result rounded as docs/stages.md says. */
static int sample(struct level level, int x, int y)
{
    const int fx = x % 128, fy = y % 128, u = x / 128, v = y / 128;
    int row[2];
    for (int i = 0; i < 2; i++)
        row[i] = (oracle_pyramid(level.image, level.n, u, v + i) * (128 - fx) +
                  oracle_pyramid(level.image, level.n, u + 1, v + i) * fx + 2) /
                 4;
    return row[0] + (int)floor((row[1] - row[0]) * fy / 128.0);
}

/* Whether SIZE pixels from (X, Y), 1/128 px, lie in the level. */
static bool is_inside(struct level level, int x, int y, int size)
{
    return x >= 0 && y >= 0 && x / 128 + size < level.image->width >> level.n &&
           y / 128 + size < level.image->height >> level.n;
}

static int upper_left(double middle, int size)
{
    const double corner = middle - (size - 1) / 2.0;
    return corner < 0 || !(corner < 8192) ? -1 : (int)floor(corner * 128 + 0.5);
}

struct window {
    int64_t value[SIDE][SIDE], gx[SIDE][SIDE], gy[SIDE][SIDE], sum_x, sum_y;
    double xx, xy, yy, inverse;
};

static bool take_window(struct level key, const double centre[2], struct window *ret)
{
    const int x = upper_left(centre[0], SIDE + 2), y = upper_left(centre[1], SIDE + 2);
    int64_t xx = 0, xy = 0, yy = 0;
    if (!is_inside(key, x, y, SIDE + 2))
        return false;
    ret->sum_x = ret->sum_y = 0;
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++) {
            const int u = x + 128 * (i + 1), v = y + 128 * (j + 1);
            const int64_t gx = sample(key, u + 128, v) - sample(key, u - 128, v);
            const int64_t gy = sample(key, u, v + 128) - sample(key, u, v - 128);
            ret->value[j][i] = sample(key, u, v);
            ret->gx[j][i] = gx;
            ret->gy[j][i] = gy;
            xx += gx * gx;
            xy += gx * gy;
            yy += gy * gy;
            ret->sum_x += gx;
            ret->sum_y += gy;
        }
    ret->xx = (double)(SIDE * SIDE * xx - ret->sum_x * ret->sum_x);
    ret->xy = (double)(SIDE * SIDE * xy - ret->sum_x * ret->sum_y);
    ret->yy = (double)(SIDE * SIDE * yy - ret->sum_y * ret->sum_y);
    const double determinant = ret->xx * ret->yy - ret->xy * ret->xy;
    ret->inverse = 1 / determinant;
    return determinant > 0;
}

/* Sums of what is seen at (X, Y) less the window, alone and times the gradients. */
static void compare(const struct window *window, struct level now, int x, int y, int64_t ret[3])
{
    ret[0] = ret[1] = ret[2] = 0;
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++) {
            const int64_t difference = sample(now, x + 128 * i, y + 128 * j) - window->value[j][i];
            ret[0] += difference;
            ret[1] += window->gx[j][i] * difference;
            ret[2] += window->gy[j][i] * difference;
        }
}

static bool looks_alike(const struct window *window, struct level now, int x, int y)
{
    int64_t sums[3], absolute = 0;
    compare(window, now, x, y, sums);
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++)
            absolute += llabs(sample(now, x + 128 * i, y + 128 * j) - window->value[j][i] - sums[0] / (SIDE * SIDE));
    return absolute <= SIDE * SIDE * 20 * 32;
}

static bool follow(const struct window *w, struct level now, double at[2])
{
    const double stop = now.n == 0 ? 0.01 : 0.04;
    double squared = 0;
    int x = 0, y = 0;
    for (int step = 0; step < 8; step++) {
        int64_t sums[3];
        x = upper_left(at[0], SIDE);
        y = upper_left(at[1], SIDE);
        if (!is_inside(now, x, y, SIDE))
            return false;
        compare(w, now, x, y, sums);
        const double bx = (double)(SIDE * SIDE * sums[1] - sums[0] * w->sum_x);
        const double by = (double)(SIDE * SIDE * sums[2] - sums[0] * w->sum_y);
        const double dx = -2 * (w->yy * bx - w->xy * by) * w->inverse, dy = -2 * (w->xx * by - w->xy * bx) * w->inverse;
        squared = dx * dx + dy * dy;
        if (!(squared < SIDE * SIDE))
            return false;
        at[0] = x / 128.0 + (SIDE - 1) / 2.0 + dx;
        at[1] = y / 128.0 + (SIDE - 1) / 2.0 + dy;
        if (squared < stop * stop)
            break;
    }
    return now.n > 0 || (squared < 1 && looks_alike(w, now, x, y));
}

bool oracle_flow(const struct plx_image *key, const struct plx_image *now, int levels, const double from[2], double ret_to[2])
{
    double to[2] = {ret_to[0], ret_to[1]};
    for (int n = (levels < LEVELS ? levels : LEVELS) - 1; n >= 0; n--) {
        const struct level then = {key, n}, here = {now, n};
        const double scale = 1 << n, centre[2] = {(from[0] + 0.5) / scale - 0.5, (from[1] + 0.5) / scale - 0.5};
        double at[2] = {(to[0] + 0.5) / scale - 0.5, (to[1] + 0.5) / scale - 0.5};
        struct window window;
        if (key->width >> n == 0 || key->height >> n == 0)
            continue;
        if (take_window(then, centre, &window) && follow(&window, here, at)) {
            to[0] = (at[0] + 0.5) * scale - 0.5;
            to[1] = (at[1] + 0.5) * scale - 0.5;
        } else if (n == 0) {
            return false;
        }
    }
    memcpy(ret_to, to, sizeof to);
    return true;
}
