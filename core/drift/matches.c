/* SPDX-License-Identifier: Apache-2.0 */
#include "core/drift/matches.h"

#include <math.h>

#include "core/base/random.h"
#include "core/geometry/calibration.h"
#include "core/geometry/stereo.h"
#include "core/motion/corners.h"
#include "core/motion/flow.h"

#define COLUMNS 8 /* cells side by side */
#define ROWS 6
#define MARGIN 20             /* px from the border: the window, and what is read beyond it */
#define TRIES 6               /* places in a cell; the one with most texture counts */
#define MIN_TEXTURE 64        /* mean squared gradient, grey levels per 2 px, in the weakest direction */
#define MAX_ROUND_TRIP_PX 0.2 /* between a point and where the way there and back ends */
#define MAX_ROWS 4.0          /* px from where it is expected: farther is another place */
#define MAX_COLUMNS 1.5
#define SLOPE_REACH 5 /* px: the disparity there shows how a surface leans */
#define PATCH 32      /* px: a window, and room for its way */

struct pair {
    const struct plx_image *disparity;
    int min_disparity;
    const struct plx_calibration_info *calibration;
    struct plx_row_numbers expected;
    struct plx_pyramid left; /* one level, a view */
    struct plx_image right;
};

/* One level, without what lies so near the border that rows are read beyond it. */
static struct plx_pyramid view(const struct plx_image *image)
{
    struct plx_pyramid pyramid = {.levels = 1};
    pyramid.level[0] = *image;
    pyramid.level[0].height--;
    return pyramid;
}

/* The smaller eigenvalue of the mean structure tensor of a window around (X, Y). */
static double texture_at(const struct plx_image *image, int x, int y)
{
    const int half = PLX_FLOW_WINDOW / 2;
    int64_t xx = 0, xy = 0, yy = 0;
    for (int v = y - half; v < y + half; v++) {
        const uint8_t *above = plx_row(image, v - 1), *row = plx_row(image, v), *below = plx_row(image, v + 1);
        for (int u = x - half; u < x + half; u++) {
            const int dx = row[u + 1] - row[u - 1], dy = below[u] - above[u];
            xx += dx * dx;
            xy += dx * dy;
            yy += dy * dy;
        }
    }
    const double a = (double)xx, b = (double)xy, c = (double)yy;
    return (0.5 * (a + c) - sqrt(0.25 * (a - c) * (a - c) + b * b)) / (PLX_FLOW_WINDOW * PLX_FLOW_WINDOW);
}

/* Chooses a point of the left image in CELL that has texture and a disparity on a smooth surface. */
static bool choose(const struct pair *pair, int cell, uint32_t *state, double ret_point[2], double *ret_disparity)
{
    const struct plx_image *left = &pair->left.level[0];
    const int width = left->width - 2 * MARGIN, height = left->height - 2 * MARGIN;
    const int x0 = MARGIN + width * (cell % COLUMNS) / COLUMNS, y0 = MARGIN + height * (cell / COLUMNS) / ROWS;
    double best = MIN_TEXTURE;
    bool found = false;

    for (int i = 0; i < TRIES; i++) {
        const int x = x0 + (int)(plx_random_next(state) % (uint32_t)(width / COLUMNS)),
                  y = y0 + (int)(plx_random_next(state) % (uint32_t)(height / ROWS));
        const double texture = texture_at(left, x, y), disparity = plx_disparity_between(pair->disparity, x, y);
        if (texture < best || disparity < 0)
            continue;
        best = texture;
        found = true;
        ret_point[0] = x;
        ret_point[1] = y;
        *ret_disparity = disparity / PLX_DISPARITY_ONE + pair->min_disparity;
    }
    return found;
}

static bool is_near(const double a[2], const double b[2])
{
    const double u = a[0] - b[0], v = a[1] - b[1];
    return u * u + v * v <= MAX_ROUND_TRIP_PX * MAX_ROUND_TRIP_PX;
}

/* Change of the disparity per px to the right and down of POINT. False where it is not known around it. */
static bool slopes_at(const struct pair *pair, const double point[2], double ret_slope[2])
{
    for (int i = 0; i < 2; i++) {
        const double u = i == 0 ? SLOPE_REACH : 0, v = i == 0 ? 0 : SLOPE_REACH;
        const double before = plx_disparity_between(pair->disparity, point[0] - u, point[1] - v),
                     after = plx_disparity_between(pair->disparity, point[0] + u, point[1] + v);
        if (before < 0 || after < 0)
            return false;
        ret_slope[i] = (after - before) / (2 * SLOPE_REACH * PLX_DISPARITY_ONE);
    }
    return true;
}

/* The right image around its pixel CENTRE as the left camera would see a surface whose disparity has SLOPE: without the shear
 * between both, which would draw a match along the texture. The centre of RET is at PATCH / 2. False if it leaves the image.
 */
static bool straighten(const struct plx_image *right, const double centre[2], const double slope[2], uint8_t ret[PATCH][PATCH])
{
    const int y0 = (int)floor(centre[1]) - PATCH / 2;
    const double fy = centre[1] - floor(centre[1]);
    if (y0 < 0 || y0 + PATCH >= right->height)
        return false;
    for (int j = 0; j < PATCH; j++) {
        const uint8_t *upper = plx_row(right, y0 + j), *lower = plx_row(right, y0 + j + 1);
        for (int i = 0; i < PATCH; i++) {
            const double across = i - PATCH / 2, down = j - PATCH / 2;
            const double x = centre[0] + across - slope[0] * across - slope[1] * down;
            const int x0 = (int)x; /* floor(x) of what is not negative */
            if (x < 0 || x0 + 1 >= right->width)
                return false;
            const double fx = x - x0;
            const double above = upper[x0] + fx * (upper[x0 + 1] - upper[x0]),
                         below = lower[x0] + fx * (lower[x0 + 1] - lower[x0]);
            ret[j][i] = (uint8_t)(above + fy * (below - above) + 0.5);
        }
    }
    return true;
}

/* Follows POINT to the right image and back. */
static bool follow(const struct pair *pair, const double point[2], double disparity, struct plx_row_match *ret)
{
    const struct plx_calibration_info *c = pair->calibration;
    const double u = point[0] - disparity;
    const double off = plx_row_numbers_at(&pair->expected, c->fy, (u - c->cx_right) / c->fx, (point[1] - c->cy) / c->fy);
    const double centre[2] = {u, point[1] + off}, middle = PATCH / 2;
    double slope[2], there[2] = {middle, middle}, back[2] = {point[0], point[1]};
    uint8_t patch[PATCH + 1][PATCH] = {{0}}; /* a row more: whole vectors are read */
    const struct plx_pyramid straight = {.level[0] = {patch, PATCH, PATCH, PATCH, PLX_U8}, .levels = 1};

    if (!slopes_at(pair, point, slope) || !straighten(&pair->right, centre, slope, patch) ||
        !plx_flow_track(&pair->left, &straight, 1, point, there) || fabs(there[0] - middle) > MAX_COLUMNS ||
        fabs(there[1] - middle) > MAX_ROWS || !plx_flow_track(&straight, &pair->left, 1, there, back) || !is_near(back, point))
        return false;
    ret->x = (float)((u - c->cx_right) / c->fx);
    ret->y = (float)((centre[1] - c->cy) / c->fy);
    ret->rows = (float)(off + there[1] - middle);
    ret->z_m = (float)(plx_focal_baseline(c) / (disparity - plx_disparity_shift(c))); /* below 0: a disparity beyond infinity */
    return true;
}

int plx_row_matches_find(const struct plx_image *left, const struct plx_image *right, const struct plx_image *disparity,
                         int min_disparity, const struct plx_calibration_info *calibration, uint32_t place, int places,
                         const struct plx_drift_info *expected, struct plx_row_match ret[PLX_PLACES_MAX])
{
    const struct plx_row_numbers rows = plx_row_numbers_of_drift(expected);
    const struct pair pair = {disparity, min_disparity, calibration, rows, view(left), *right};
    int count = 0;

    if (left->width < 2 * MARGIN + COLUMNS * PLX_FLOW_WINDOW || left->height < 2 * MARGIN + ROWS * PLX_FLOW_WINDOW)
        return 0;
    for (uint32_t number = place; number < place + (uint32_t)places; number++) {
        const int cell = (int)(number * 29 % (COLUMNS * ROWS)); /* 29 and 48 have no common factor */
        uint32_t state = number * 2654435761u + 1;
        double point[2], at = 0;
        if (!choose(&pair, cell, &state, point, &at) || !follow(&pair, point, at, &ret[count]))
            continue;
        ret[count].odd = (cell % COLUMNS + cell / COLUMNS + (int)(number / (COLUMNS * ROWS))) % 2 != 0;
        count++;
    }
    return count;
}
