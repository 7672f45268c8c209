/* SPDX-License-Identifier: Apache-2.0 */
/* Depth and points in metres of all pixels of a view. */
#include <parallax/client.h>

#include <math.h>
#include <stdbool.h>

#include "client/fetch.h"

#define MAX_VALUES (256 * PLX_DISPARITY_ONE) /* disparities of the largest search range, 256 px */

/* Z of each value of the disparity, so that pixels need no division; the last one, of all that is no disparity, is NAN. */
struct depths {
    float metres[MAX_VALUES + 1];
    uint32_t values;
    double fx, fy, cx, cy;
};

/* False if the view has no disparity. */
static bool find_depths(const struct plx_view *view, struct depths *ret)
{
    if (!view || !view->frame || !view->plane[PLX_PLANE_DISPARITY] || view->layout[PLX_PLANE_DISPARITY].width == 0)
        return false;
    const struct plx_calibration_info *c = &view->frame->calibration;
    const uint32_t range = plx_fetch32(&view->frame->disparities);
    ret->values = range < MAX_VALUES / PLX_DISPARITY_ONE ? range * PLX_DISPARITY_ONE : MAX_VALUES;
    ret->fx = plx_fetch_double(&c->fx);
    ret->fy = plx_fetch_double(&c->fy);
    ret->cx = plx_fetch_double(&c->cx);
    ret->cy = plx_fetch_double(&c->cy);
    const double shift = ret->cx - plx_fetch_double(&c->cx_right), scale = ret->fx * plx_fetch_double(&c->baseline_m);
    for (uint32_t i = 0; i < ret->values; i++) {
        const double z = scale / ((double)i / PLX_DISPARITY_ONE + view->min_disparity - shift);
        ret->metres[i] = z > 0 && isfinite((float)z) ? (float)z : NAN;
    }
    ret->metres[ret->values] = NAN;
    return true;
}

static const uint16_t *disparity_row(const struct plx_view *view, uint32_t y)
{
    const unsigned char *plane = view->plane[PLX_PLANE_DISPARITY];
    return (const void *)(plane + (uint64_t)y * view->layout[PLX_PLANE_DISPARITY].pitch);
}

static float depth_of(const struct depths *depths, uint16_t value)
{
    return depths->metres[value < depths->values ? value : depths->values];
}

/* Row Y of an image of the caller. */
static float *row_of(float *image, size_t pitch, uint32_t y)
{
    return (void *)((unsigned char *)image + y * pitch);
}

int plx_depth(const struct plx_view *view, float *ret_metres, size_t pitch)
{
    struct depths depths;
    if (!find_depths(view, &depths))
        return PLX_ERR_NOT_FOUND;
    const struct plx_plane *layout = &view->layout[PLX_PLANE_DISPARITY];
    if (!ret_metres || pitch % sizeof *ret_metres != 0 || pitch / sizeof *ret_metres < layout->width)
        return PLX_ERR_ARG;
    for (uint32_t y = 0; y < layout->height; y++) {
        const uint16_t *value = disparity_row(view, y);
        float *metres = row_of(ret_metres, pitch, y);
        for (uint32_t x = 0; x < layout->width; x++)
            metres[x] = depth_of(&depths, plx_fetch16(value + x));
    }
    return 0;
}

int plx_points(const struct plx_view *view, float *ret_xyz, size_t pitch)
{
    struct depths depths;
    if (!find_depths(view, &depths))
        return PLX_ERR_NOT_FOUND;
    const struct plx_plane *layout = &view->layout[PLX_PLANE_DISPARITY];
    if (!ret_xyz || pitch % sizeof *ret_xyz != 0 || pitch / (3 * sizeof *ret_xyz) < layout->width)
        return PLX_ERR_ARG;
    for (uint32_t y = 0; y < layout->height; y++) {
        const uint16_t *value = disparity_row(view, y);
        const float down = (float)((y - depths.cy) / depths.fy);
        const float step = (float)(1 / depths.fx), first = (float)(-depths.cx / depths.fx);
        float *point = row_of(ret_xyz, pitch, y);
        for (uint32_t x = 0; x < layout->width; x++, point += 3) {
            const float z = depth_of(&depths, plx_fetch16(value + x));
            point[0] = ((float)x * step + first) * z;
            point[1] = down * z;
            point[2] = z;
        }
    }
    return 0;
}
