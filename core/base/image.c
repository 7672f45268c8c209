/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/image.h"

#include <parallax/error.h>

#include "core/base/text.h"

bool plx_image_ok(const struct plx_image *image, enum plx_type type)
{
    return image && image->data && image->type == type && image->width >= 1 && image->width <= PLX_MAX_SIDE &&
           image->height >= 1 && image->height <= PLX_MAX_SIDE && image->pitch >= (size_t)image->width * (size_t)type &&
           image->pitch % (size_t)type == 0;
}

bool plx_same_size(const struct plx_image *a, const struct plx_image *b)
{
    return a->width == b->width && a->height == b->height;
}

/* --- raw buffers ---------------------------------------------------------------------------------------------------- */

static const struct plx_format_layout layouts[PLX_FORMAT_COUNT] = {
    [PLX_FORMAT_GREY] = {"GREY", 8, 1, 1, .words = false},
    [PLX_FORMAT_Y10] = {"Y10", 10, 1, 2, .words = true},
    [PLX_FORMAT_Y12] = {"Y12", 12, 1, 2, .words = true},
    [PLX_FORMAT_Y16] = {"Y16", 16, 1, 2, .words = true},
    [PLX_FORMAT_YUYV] = {"YUYV", 8, 2, 4, .words = false},
    [PLX_FORMAT_UYVY] = {"UYVY", 8, 2, 4, .words = false},
    [PLX_FORMAT_NV12] = {"NV12", 8, 2, 2, .chroma_plane = true},
    [PLX_FORMAT_NV21] = {"NV21", 8, 2, 2, .chroma_plane = true},
    [PLX_FORMAT_RGB24] = {"RGB24", 8, 1, 3, .words = false},
    [PLX_FORMAT_BGR24] = {"BGR24", 8, 1, 3, .words = false},
    [PLX_FORMAT_BAYER8] = {"8-bit Bayer", 8, 1, 1, .bayer = true},
    [PLX_FORMAT_BAYER10] = {"10-bit Bayer", 10, 1, 2, .words = true, .bayer = true},
    [PLX_FORMAT_BAYER12] = {"12-bit Bayer", 12, 1, 2, .words = true, .bayer = true},
};

const struct plx_format_layout *plx_format_layout(enum plx_format format)
{
    return (unsigned)format < PLX_FORMAT_COUNT ? &layouts[format] : NULL;
}

size_t plx_raw_row_bytes(enum plx_format format, int width)
{
    const struct plx_format_layout *layout = &layouts[format];
    return (size_t)((width + layout->unit_pixels - 1) / layout->unit_pixels) * (size_t)layout->unit_bytes;
}

static int check_window(const struct plx_raw *raw, const struct plx_format_layout *layout, struct plx_error_message *message)
{
    if (raw->width < 1 || raw->width > PLX_MAX_SIDE || raw->height < 1 || raw->height > PLX_MAX_SIDE)
        return plx_fail(message, PLX_ERR_RANGE, "raw image is %dx%d pixels, expected 1..%d per side", raw->width, raw->height,
                        PLX_MAX_SIDE);
    if (raw->eye_x < 0 || raw->eye_width < 1 || raw->eye_x > raw->width - raw->eye_width)
        return plx_fail(message, PLX_ERR_RANGE,
                        "eye window of %d columns from column %d lies outside the raw image of %d columns", raw->eye_width,
                        raw->eye_x, raw->width);
    if (layout->bayer && (raw->eye_width < 2 || raw->height < 2))
        return plx_fail(message, PLX_ERR_RANGE,
                        "%s image of %dx%d pixels per eye, expected at least 2x2: it has no whole colour cell", layout->name,
                        raw->eye_width, raw->height);
    if (layout->bayer && (unsigned)raw->bayer > PLX_BAYER_GBRG)
        return plx_fail(message, PLX_ERR_ARG, "Bayer order %d is unknown", (int)raw->bayer);
    return 0;
}

int plx_raw_check(const struct plx_raw *raw, struct plx_error_message *message)
{
    if (!raw || !raw->data)
        return plx_fail(message, PLX_ERR_ARG, "raw image without data");
    const struct plx_format_layout *layout = plx_format_layout(raw->format);
    if (!layout)
        return plx_fail(message, PLX_ERR_ARG, "pixel format %d is unknown", (int)raw->format);
    int result = check_window(raw, layout, message);
    if (result < 0)
        return result;

    size_t row = plx_raw_row_bytes(raw->format, raw->width);
    size_t rows = (size_t)raw->height + (layout->chroma_plane ? ((size_t)raw->height + 1) / 2 : 0);
    if (raw->pitch < row)
        return plx_fail(message, PLX_ERR_RANGE, "pitch of %zu bytes is less than a row of %d %s pixels, %zu bytes", raw->pitch,
                        raw->width, layout->name, row);
    if (layout->words && (raw->pitch % 2 != 0 || (uintptr_t)raw->data % 2 != 0))
        return plx_fail(message, PLX_ERR_RANGE, "%s needs an even pitch and address, got a pitch of %zu bytes", layout->name,
                        raw->pitch);
    /* as a division, so that no product overflows */
    if (raw->bytes < row || (raw->bytes - row) / raw->pitch < rows - 1)
        return plx_fail(message, PLX_ERR_FORMAT,
                        "buffer of %zu bytes is too short for %dx%d %s pixels with a pitch of %zu bytes", raw->bytes,
                        raw->width, raw->height, layout->name, raw->pitch);
    return 0;
}
