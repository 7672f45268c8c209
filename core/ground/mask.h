/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of the mask, the pixels that stand above the ground: as core/ground/fit.h, compiled by every backend. */
#ifndef PLX_CORE_GROUND_MASK_H
#define PLX_CORE_GROUND_MASK_H

#include "core/ground/ground.h"

#define PLX_VEIL_REACH 3  /* pixels */
#define PLX_VEIL_SLOPE 60 /* by so many times its distance over the focal length a veil recedes within twice that */

/* Matching and median draw a ramp, a veil, from the edge of a near thing to what lies behind it. True if a pixel of disparity D
 * lies on one; LEFT, RIGHT: the disparities PLX_VEIL_REACH pixels to either side. No surface recedes as steeply but a wall seen
 * edge on. */
PLX_BOTH bool plx_is_veil(const struct plx_mask_params *params, int left, int d, int right)
{
    const int64_t step = left > right ? left - right : right - left;
    return left != PLX_DISPARITY_INVALID && right != PLX_DISPARITY_INVALID &&
           step * params->focal_px > (int64_t)PLX_VEIL_SLOPE * (d - params->infinity);
}

/* True for a pixel of the mask: pixel (x, y) of ROW, WIDTH disparities. Height of a point over the ground: camera height times
 * (d - ground) / (d - infinity). */
PLX_BOTH bool plx_is_obstacle(const struct plx_ground *ground, const struct plx_mask_params *params, const uint16_t *row,
                              int width, int x, int y)
{
    const int d = row[x];
    if (d == PLX_DISPARITY_INVALID || d > params->near_disparity || d < params->far_disparity || d <= params->infinity)
        return false;
    if (x >= PLX_VEIL_REACH && x + PLX_VEIL_REACH < width &&
        plx_is_veil(params, row[x - PLX_VEIL_REACH], d, row[x + PLX_VEIL_REACH]))
        return false;
    if (!ground->valid)
        return !params->ground_needed;
    const int64_t above = ((int64_t)d << 16) - (ground->a * x + ground->b * y + ground->c);
    const double height = (double)above * (double)ground->camera_height_um;
    const double depth = (double)((int64_t)(d - params->infinity) << 16);
    return height >= depth * (double)params->min_height_um && height <= depth * (double)params->max_height_um;
}

#endif
