/* SPDX-License-Identifier: Apache-2.0 */
#include "core/track_sides.h"

#include <math.h>
#include <string.h>

#define MARGIN_PX 8.0 /* matching and opening leave so much between two surfaces, or widen the nearer one so much */
#define FRAMES 8      /* over which a reach is a mean */

static double depth_of(const struct plx_obstacle *obstacle)
{
    return (double)obstacle->position_m[2];
}

/* NEAR lies before all of FAR, also with its depth: walls along the way do not lie before what stands beside them. */
static bool is_before(const struct plx_obstacle *near, const struct plx_obstacle *far)
{
    const double depth = fmax(0, (double)near->extent_m[2]);
    return depth_of(near) > 0 && depth_of(near) + depth < depth_of(far);
}

/* A side is hidden if it borders the half of NEAR that faces FAR, over at least half of FAR's rows. To the left of NEAR the
 * right camera does not see as many columns of FAR as their disparities differ. */
static void cover_by(const struct plx_calibration_info *calibration, const struct plx_obstacle *near,
                     const struct plx_obstacle *far, struct plx_track_cover *cover)
{
    const int top = near->y > far->y ? near->y : far->y;
    const int near_end = near->y + near->height, far_end = far->y + far->height;
    const int rows = (near_end < far_end ? near_end : far_end) - top;
    const double shadow = calibration->fx * calibration->baseline_m * (1 / depth_of(near) - 1 / depth_of(far));
    const double left = near->x - shadow - MARGIN_PX, right = near->x + near->width + MARGIN_PX;
    const double middle = near->x + near->width / 2.0;

    if (rows <= 0 || far->x + far->width < left || far->x > right)
        return;
    cover->any = true;
    cover->hidden[PLX_TRACK_LEFT] |= 2 * rows >= far->height && far->x >= middle;
    cover->hidden[PLX_TRACK_RIGHT] |= 2 * rows >= far->height && far->x + far->width <= middle;
}

void plx_track_cover_find(const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle, int count,
                          struct plx_track_cover *ret_cover)
{
    memset(ret_cover, 0, (size_t)count * sizeof *ret_cover);
    for (int far = 0; far < count; far++)
        for (int near = 0; near < count && obstacle[far].width > 0; near++)
            if (obstacle[near].width > 0 && is_before(&obstacle[near], &obstacle[far]))
                cover_by(calibration, &obstacle[near], &obstacle[far], &ret_cover[far]);
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
