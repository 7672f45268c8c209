/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tracks/sides.h"

#include <math.h>
#include <string.h>

#include "core/geometry/stereo.h"

#define MARGIN_PX 8.0 /* matching and opening leave so much between two surfaces, or widen the nearer one so much */
#define APART_M 2.0   /* parts of one hedge are less far apart in depth: they do not pass before each other */
#define FRAMES 8      /* over which a reach is a mean */

static double depth_of(const struct plx_obstacle *obstacle)
{
    return (double)obstacle->position_m[2];
}

/* A box and its depth; without a box, it neither covers nor is covered. */
struct block {
    int left, right, top, bottom; /* right and bottom are the first column and row beyond it */
    double near_m, far_m, disparity;
};

static struct block block_of(const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle)
{
    const double z = depth_of(obstacle), depth = fmax(0, (double)obstacle->extent_m[2]);
    if (obstacle->width <= 0 || !(z > 0))
        return (struct block){0};
    return (struct block){.left = obstacle->x,
                          .right = obstacle->x + obstacle->width,
                          .top = obstacle->y,
                          .bottom = obstacle->y + obstacle->height,
                          .near_m = z,
                          .far_m = z + depth,
                          .disparity = plx_disparity_of_depth(calibration, z)};
}

/* NEAR lies before all of FAR, also with its depth: walls along the road do not lie before what stands beside them. Both share
 * rows, and columns as well, or border each other: to the left of NEAR the right camera does not see as many columns of FAR as
 * their disparities differ. */
static bool covers(const struct block *near, const struct block *far)
{
    return near->far_m + APART_M < far->near_m && near->top < far->bottom && far->top < near->bottom &&
           far->left <= near->right + MARGIN_PX && far->right >= near->left - (near->disparity - far->disparity) - MARGIN_PX;
}

/* A side is hidden if it borders the half of NEAR that faces FAR, over at least half of FAR's rows. */
static void add_cover(const struct block *near, const struct block *far, struct plx_track_cover *cover)
{
    const int top = near->top > far->top ? near->top : far->top;
    const int bottom = near->bottom < far->bottom ? near->bottom : far->bottom;
    const bool high = 2 * (bottom - top) >= far->bottom - far->top;

    cover->any = true;
    cover->hidden[PLX_TRACK_LEFT] |= high && 2 * far->left >= near->left + near->right;
    cover->hidden[PLX_TRACK_RIGHT] |= high && 2 * far->right <= near->left + near->right;
}

void plx_track_cover_find(const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle, int count,
                          struct plx_track_cover *ret_cover)
{
    struct block block[PLX_MAX_OBSTACLES];

    memset(ret_cover, 0, (size_t)count * sizeof *ret_cover);
    for (int i = 0; i < count; i++)
        block[i] = block_of(calibration, &obstacle[i]);
    for (int far = 0; far < count; far++)
        for (int near = 0; near < count; near++)
            if (covers(&block[near], &block[far]))
                add_cover(&block[near], &block[far], &ret_cover[far]);
}

bool plx_track_cover_hides(const struct plx_track_cover *cover)
{
    return cover->hidden[PLX_TRACK_LEFT] || cover->hidden[PLX_TRACK_RIGHT];
}

static double sign_of(int side)
{
    return side == PLX_TRACK_LEFT ? -1 : 1;
}

static double side_x(const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle, int side)
{
    const int column = side == PLX_TRACK_LEFT ? obstacle->x : obstacle->x + obstacle->width;
    return (column - calibration->cx) / calibration->fx * depth_of(obstacle);
}

void plx_track_sides_begin(struct plx_track_sides *sides, const struct plx_calibration_info *calibration,
                           const struct plx_obstacle *obstacle, const struct plx_track_cover *cover)
{
    memset(sides, 0, sizeof *sides);
    plx_track_sides_update(sides, calibration, obstacle, cover, (double)obstacle->position_m[0]);
}

bool plx_track_sides_locate(const struct plx_track_sides *sides, const struct plx_calibration_info *calibration,
                            const struct plx_obstacle *obstacle, const struct plx_track_cover *cover, double *ret_x)
{
    double sum = 0;
    int seen = 0;

    for (int i = 0; i < PLX_TRACK_SIDES && cover->any; i++) {
        if (cover->hidden[i] || !sides->known[i])
            continue;
        sum += side_x(calibration, obstacle, i) - sign_of(i) * sides->reach_m[i];
        seen++;
    }
    *ret_x = seen > 0 ? sum / seen : (double)obstacle->position_m[0];
    return seen > 0 || !cover->any;
}

bool plx_track_sides_differ(const struct plx_track_sides *sides, const struct plx_calibration_info *calibration,
                            const struct plx_obstacle *obstacle, const struct plx_track_cover *cover, double tolerance_m)
{
    double x;

    if (!plx_track_sides_locate(sides, calibration, obstacle, cover, &x))
        return false;
    for (int i = 0; i < PLX_TRACK_SIDES; i++) {
        const double by_side = side_x(calibration, obstacle, i) - sign_of(i) * sides->reach_m[i];
        if (!cover->hidden[i] && sides->known[i] && fabs(by_side - x) > tolerance_m)
            return true;
    }
    return false;
}

void plx_track_sides_update(struct plx_track_sides *sides, const struct plx_calibration_info *calibration,
                            const struct plx_obstacle *obstacle, const struct plx_track_cover *cover, double x)
{
    for (int i = 0; i < PLX_TRACK_SIDES; i++) {
        const double reach = sign_of(i) * (side_x(calibration, obstacle, i) - x);
        if (cover->hidden[i])
            continue;
        if (!sides->known[i])
            sides->reach_m[i] = reach;
        else if (!cover->any)
            sides->reach_m[i] += (reach - sides->reach_m[i]) / FRAMES;
        sides->known[i] = true;
    }
}
