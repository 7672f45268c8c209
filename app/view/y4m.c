/* SPDX-License-Identifier: Apache-2.0 */
#include "app/view/y4m.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "app/view/export.h"
#include "core/geometry/stereo.h"

#define VALUES (256 * PLX_DISPARITY_ONE) /* that a disparity can have */

void plx_y4m_header(int width, int height, enum plx_y4m_kind kind, double rate_hz, char ret_text[PLX_Y4M_HEADER_BYTES])
{
    static const char *const name[] = {[PLX_Y4M_GREY8] = "mono", [PLX_Y4M_GREY16] = "mono16", [PLX_Y4M_COLOUR] = "444"};
    const int64_t thousandths = rate_hz >= 0.001 && rate_hz < 1e6 ? (int64_t)llround(rate_hz * 1000) : 0;
    int64_t divisor = 1000; /* the greatest common one, by Euclid */

    for (int64_t rest = thousandths, next; rest > 0; divisor = rest, rest = next)
        next = divisor % rest;
    snprintf(ret_text, PLX_Y4M_HEADER_BYTES, "YUV4MPEG2 W%d H%d F%" PRId64 ":%" PRId64 " Ip A1:1 C%s XCOLORRANGE=FULL\n", width,
             height, thousandths ? thousandths / divisor : 0, thousandths ? 1000 / divisor : 0, name[kind]);
}

/* ITU-R BT.601 of full range, as JPEG has it. */
void plx_y4m_colour(const struct plx_image *rgb, uint8_t *ret_planes)
{
    const size_t pixels = (size_t)rgb->width * (size_t)rgb->height;
    for (int y = 0; y < rgb->height; y++) {
        const struct plx_rgb *row = plx_row(rgb, y);
        for (int x = 0; x < rgb->width; x++, ret_planes++) {
            const double luma = 0.299 * row[x].r + 0.587 * row[x].g + 0.114 * row[x].b;
            ret_planes[0] = (uint8_t)(luma + 0.5);
            ret_planes[pixels] = (uint8_t)fmin(128.5 + (row[x].b - luma) / 1.772, 255);
            ret_planes[2 * pixels] = (uint8_t)fmin(128.5 + (row[x].r - luma) / 1.402, 255);
        }
    }
}

/* VALUE[i]: the pixel of disparity i; all others are 0. */
static void look_up(const struct plx_view *view, const uint16_t value[VALUES], uint16_t *ret_pixels)
{
    const struct plx_plane *layout = &view->layout[PLX_PLANE_DISPARITY];
    const uint8_t *plane = view->plane[PLX_PLANE_DISPARITY];

    for (uint32_t y = 0; y < layout->height; y++) {
        const uint16_t *row = (const void *)(plane + (size_t)y * layout->pitch);
        for (uint32_t x = 0; x < layout->width; x++)
            *ret_pixels++ = row[x] < VALUES ? value[row[x]] : 0;
    }
}

void plx_y4m_disparity(const struct plx_view *view, uint16_t *ret_pixels)
{
    uint16_t value[VALUES];

    for (int i = 0; i < VALUES; i++)
        value[i] = plx_kitti_value((uint16_t)i, view->min_disparity);
    look_up(view, value, ret_pixels);
}

void plx_y4m_depth(const struct plx_view *view, uint16_t *ret_pixels)
{
    const struct plx_calibration_info *c = &view->frame->calibration;
    uint16_t value[VALUES];

    for (int i = 0; i < VALUES; i++) {
        const double disparity = plx_disparity_of_plane(c, view->min_disparity, i);
        const double depth_mm = round(plx_depth_scale_mm(c) / (PLX_DISPARITY_ONE * disparity));
        value[i] = depth_mm > 0 && depth_mm <= UINT16_MAX ? (uint16_t)depth_mm : 0;
    }
    look_up(view, value, ret_pixels);
}
