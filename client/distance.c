/* SPDX-License-Identifier: Apache-2.0 */
/* Distances, and how sure they are: by the confidence of their pixels and the errors that were measured for it. */
#include <parallax/client.h>

#include <math.h>
#include <stdbool.h>

#include "client/fetch.h"
#include "core/base/median.h"

#define SAMPLES 32    /* most rows of a stixel that are looked at */
#define REACH_PX 1.0F /* pixels of a surface differ less from its disparity */

static const unsigned char *row_of(const struct plx_view *view, enum plx_plane_id id, uint32_t y)
{
    return (const unsigned char *)view->plane[id] + (uint64_t)y * view->layout[id].pitch;
}

static bool has_disparity(const struct plx_view *view)
{
    return view && view->frame && view->plane[PLX_PLANE_DISPARITY];
}

static bool has_confidence(const struct plx_view *view)
{
    const struct plx_plane *disparity = &view->layout[PLX_PLANE_DISPARITY], *confidence = &view->layout[PLX_PLANE_CONFIDENCE];
    return view->plane[PLX_PLANE_CONFIDENCE] && confidence->width == disparity->width &&
           confidence->height == disparity->height;
}

/* DISPARITY, px above infinity, whose pixels have this CONFIDENCE; 0: not known. */
static int set_distance(const struct plx_view *view, double disparity, int confidence, struct plx_distance *ret_distance)
{
    const struct plx_calibration_info *c = &view->frame->calibration;
    const struct plx_error_info *errors = &view->frame->errors;
    const double z = plx_fetch_double(&c->fx) * plx_fetch_double(&c->baseline_m) / disparity;
    const float sigma = plx_fetch_float(&errors->sigma_px[confidence]), bound = plx_fetch_float(&errors->bound_px[confidence]);
    if (!(z > 0) || !isfinite(z))
        return PLX_ERR_NOT_FOUND;
    ret_distance->distance_m = (float)z;
    ret_distance->sigma_m = sigma > 0 ? (float)(z / disparity * (double)sigma) : NAN;
    ret_distance->bound_m = bound > 0 ? (float)(z / disparity * (double)bound) : NAN;
    return 0;
}

static double infinity_px(const struct plx_view *view)
{
    const struct plx_calibration_info *c = &view->frame->calibration;
    return plx_fetch_double(&c->cx) - plx_fetch_double(&c->cx_right);
}

int plx_pixel_distance(const struct plx_view *view, uint32_t x, uint32_t y, struct plx_distance *ret_distance)
{
    const float disparity = plx_disparity_px(view, x, y);
    if (!ret_distance)
        return PLX_ERR_ARG;
    if (isnan(disparity))
        return PLX_ERR_NOT_FOUND;
    const int confidence = has_confidence(view) ? plx_fetch8(row_of(view, PLX_PLANE_CONFIDENCE, y) + x) : 0;
    return set_distance(view, (double)disparity - infinity_px(view), confidence, ret_distance);
}

/* The median confidence of the pixels of STIXEL in column COLUMN whose disparity is about DISPARITY, px above infinity; 0. */
static int confidence_near(const struct plx_view *view, const struct plx_stixel *stixel, uint32_t column, float disparity)
{
    const struct plx_plane *layout = &view->layout[PLX_PLANE_DISPARITY];
    const uint32_t y0 = plx_fetch16(&stixel->y0), y1 = plx_fetch16(&stixel->y1);
    const uint64_t first = (uint64_t)column * PLX_COLUMN_WIDTH, end = first + PLX_COLUMN_WIDTH;
    const float base = (float)(infinity_px(view) - view->min_disparity) + disparity;
    int count[PLX_CONFIDENCES] = {0}, all = 0;
    if (!has_confidence(view) || y1 < y0)
        return 0;
    for (uint32_t y = y0; y <= y1 && y < layout->height; y += 1 + (y1 - y0) / SAMPLES) {
        const unsigned char *row = row_of(view, PLX_PLANE_DISPARITY, y), *sure = row_of(view, PLX_PLANE_CONFIDENCE, y);
        for (uint64_t x = first; x < end && x < layout->width; x++) {
            const float value = (float)plx_fetch16(row + x * sizeof(uint16_t)) / PLX_DISPARITY_ONE;
            if (!(fabsf(value - base) <= REACH_PX))
                continue;
            count[plx_fetch8(sure + x)]++;
            all++;
        }
    }
    return plx_counted_median(count, all);
}

static const struct plx_stixel *stixel_at(const struct plx_view *view, uint32_t column, uint32_t number)
{
    const struct plx_plane *layout = &view->layout[PLX_PLANE_STIXELS];
    if (!view->plane[PLX_PLANE_STIXELS] || column >= layout->height || number >= PLX_COLUMN_STIXELS || number >= layout->width)
        return NULL;
    return (const struct plx_stixel *)(const void *)row_of(view, PLX_PLANE_STIXELS, column) + number;
}

int plx_stixel_distance(const struct plx_view *view, uint32_t column, uint32_t number, struct plx_distance *ret_distance)
{
    const struct plx_stixel *stixel = has_disparity(view) ? stixel_at(view, column, number) : NULL;
    const float disparity = stixel ? (float)plx_fetch16(&stixel->disparity) / PLX_DISPARITY_ONE : 0;
    if (!ret_distance)
        return PLX_ERR_ARG;
    if (!(disparity > 0))
        return PLX_ERR_NOT_FOUND;
    return set_distance(view, (double)disparity, confidence_near(view, stixel, column, disparity), ret_distance);
}

int plx_scan_distance(const struct plx_view *view, uint32_t column, struct plx_distance *ret_distance)
{
    const struct plx_scan *scan = has_disparity(view) ? view->plane[PLX_PLANE_SCAN] : NULL;
    const uint16_t nearest =
        scan && column < view->layout[PLX_PLANE_SCAN].width ? plx_fetch16(&scan[column].nearest) : (uint16_t)0;
    const float disparity = (float)nearest / PLX_DISPARITY_ONE;
    int confidence = 0;
    if (!ret_distance)
        return PLX_ERR_ARG;
    if (nearest == 0)
        return PLX_ERR_NOT_FOUND;
    for (uint32_t i = 0; i < PLX_COLUMN_STIXELS && confidence == 0; i++) {
        const struct plx_stixel *stixel = stixel_at(view, column, i);
        if (stixel && plx_fetch16(&stixel->near_disparity) == nearest)
            confidence = confidence_near(view, stixel, column, disparity);
    }
    return set_distance(view, (double)disparity, confidence, ret_distance);
}
