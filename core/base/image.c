/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/image.h"

#include <parallax/error.h>

#include "core/base/text.h"

bool plx_image_ok(const struct plx_image *image, enum plx_type type)
{
    return image && image->data && image->type == type && image->width >= 1 && image->width <= PLX_MAX_SIDE &&
           image->height >= 1 && image->height <= PLX_MAX_SIDE && image->pitch >= (size_t)image->width * (size_t)type &&
           (type == PLX_RGB || image->pitch % (size_t)type == 0);
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
    [PLX_FORMAT_YUYV] = {"YUYV", 8, 2, 4, .yuv = true},
    [PLX_FORMAT_UYVY] = {"UYVY", 8, 2, 4, .yuv = true},
    [PLX_FORMAT_NV12] = {"NV12", 8, 2, 2, .yuv = true, .extra_rows = 1},
    [PLX_FORMAT_NV21] = {"NV21", 8, 2, 2, .yuv = true, .extra_rows = 1},
    [PLX_FORMAT_NV16] = {"NV16", 8, 2, 2, .yuv = true, .extra_rows = 2},
    [PLX_FORMAT_RGB24] = {"RGB24", 8, 1, 3, .words = false},
    [PLX_FORMAT_BGR24] = {"BGR24", 8, 1, 3, .words = false},
    [PLX_FORMAT_BAYER8] = {"8-bit Bayer", 8, 1, 1, .bayer = true},
    [PLX_FORMAT_BAYER10] = {"10-bit Bayer", 10, 1, 2, .words = true, .bayer = true},
    [PLX_FORMAT_BAYER12] = {"12-bit Bayer", 12, 1, 2, .words = true, .bayer = true},
    [PLX_FORMAT_GREY_RGB] = {"GREY with RGB", 8, 1, 1, .extra_rows = 6},
};

const struct plx_format_layout *plx_format_layout(enum plx_format format)
{
    return (unsigned)format < PLX_FORMAT_COUNT ? &layouts[format] : NULL;
}

struct plx_raw plx_raw_of_grey(const struct plx_image *grey)
{
    return (struct plx_raw){.data = grey->data,
                            .bytes = grey->pitch * (size_t)grey->height,
                            .width = grey->width,
                            .height = grey->height,
                            .pitch = grey->pitch,
                            .format = grey->type == PLX_U16 ? PLX_FORMAT_Y16 : PLX_FORMAT_GREY,
                            .eye_width = grey->width};
}

size_t plx_raw_rows(enum plx_format format, int height)
{
    return (size_t)height + ((size_t)height * (size_t)layouts[format].extra_rows + 1) / 2;
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
    const size_t rows = plx_raw_rows(raw->format, raw->height);
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

/* --- raw buffers to grey ------------------------------------------------------------------------------------------ */

/*
 * Each row is read into a line of samples as deep as the format, and the line is then scaled: 8-bit grey takes the top 8 bits,
 * 16-bit grey is the same number moved up to full scale, so that the one is always the other >> 8.
 */

/* LINE gets the eye's samples of row Y, each of the format's bits. The format was checked (plx_raw_check). */
typedef void read_line(const struct plx_raw *raw, int y, uint16_t *line);

static const uint8_t *raw_row(const struct plx_raw *raw, int y)
{
    return (const uint8_t *)raw->data + (size_t)y * raw->pitch;
}

static void read_grey(const struct plx_raw *raw, int y, uint16_t *line)
{
    const uint8_t *in = raw_row(raw, y) + raw->eye_x;
    for (int x = 0; x < raw->eye_width; x++)
        line[x] = in[x];
}

static void read_yuyv(const struct plx_raw *raw, int y, uint16_t *line)
{
    const uint8_t *in = raw_row(raw, y) + (size_t)raw->eye_x * 2;
    for (int x = 0; x < raw->eye_width; x++)
        line[x] = in[2 * x];
}

static void read_uyvy(const struct plx_raw *raw, int y, uint16_t *line)
{
    const uint8_t *in = raw_row(raw, y) + (size_t)raw->eye_x * 2;
    for (int x = 0; x < raw->eye_width; x++)
        line[x] = in[2 * x + 1];
}

static void read_words(const struct plx_raw *raw, int y, uint16_t *line)
{
    const uint16_t *in = (const uint16_t *)(const void *)raw_row(raw, y) + raw->eye_x;
    int bits = layouts[raw->format].bits;
    int shift = raw->msb_aligned ? 16 - bits : 0;
    unsigned mask = (1u << bits) - 1;
    for (int x = 0; x < raw->eye_width; x++)
        line[x] = (uint16_t)(((unsigned)in[x] >> shift) & mask);
}

static unsigned luma(unsigned red, unsigned green, unsigned blue)
{
    return (77 * red + 150 * green + 29 * blue + 128) >> 8;
}

static void read_rgb(const struct plx_raw *raw, int y, uint16_t *line)
{
    const uint8_t *in = raw_row(raw, y) + (size_t)raw->eye_x * 3;
    for (int x = 0; x < raw->eye_width; x++)
        line[x] = (uint16_t)luma(in[3 * x], in[3 * x + 1], in[3 * x + 2]);
}

static void read_bgr(const struct plx_raw *raw, int y, uint16_t *line)
{
    const uint8_t *in = raw_row(raw, y) + (size_t)raw->eye_x * 3;
    for (int x = 0; x < raw->eye_width; x++)
        line[x] = (uint16_t)luma(in[3 * x + 2], in[3 * x + 1], in[3 * x]);
}

/* Index I of 0..COUNT-1, mirrored about the edge samples so that it keeps its colour. */
static int mirror(int i, int count)
{
    return i < 0 ? -i : i >= count ? 2 * (count - 1) - i : i;
}

/* One row of mosaic samples with one mirrored sample at each end: line[0..width-1] are the eye's. */
static void read_mosaic(const struct plx_raw *raw, int y, uint16_t *line)
{
    read_line *read = layouts[raw->format].words ? read_words : read_grey;
    read(raw, mirror(y, raw->height), line);
    line[-1] = line[1]; /* NOLINT(clang-analyzer-core.uninitialized.Assign): a mosaic has two columns or more */
    line[raw->eye_width] = line[raw->eye_width - 2];
}

/*
 * Bilinear demosaic and luma in one. A row holds green and one of red and blue, OWN; the weight of the other is OTHER. At a
 * pixel of the row's own colour green is the mean of the cross and the other colour that of the diagonals; at a green pixel
 * the own colour lies left and right, the other above and below.
 */
static void read_bayer(const struct plx_raw *raw, int y, uint16_t *line)
{
    uint16_t samples[3][PLX_MAX_SIDE + 2];
    for (int i = 0; i < 3; i++)
        read_mosaic(raw, y + i - 1, samples[i] + 1);
    const uint16_t *above = samples[0] + 1, *row = samples[1] + 1, *below = samples[2] + 1;

    bool first_row_red = raw->bayer == PLX_BAYER_RGGB || raw->bayer == PLX_BAYER_GRBG;
    bool first_green = raw->bayer == PLX_BAYER_GRBG || raw->bayer == PLX_BAYER_GBRG;
    bool red_row = first_row_red == (y % 2 == 0);
    unsigned own = red_row ? 77 : 29, other = red_row ? 29 : 77;
    int green = (raw->eye_x + y + (first_green ? 0 : 1)) & 1; /* parity of the window's green columns in this row */

    for (int x = 0; x < raw->eye_width; x++) {
        unsigned centre = row[x], across = (unsigned)row[x - 1] + row[x + 1], along = (unsigned)above[x] + below[x];
        unsigned diagonal = (unsigned)above[x - 1] + above[x + 1] + below[x - 1] + below[x + 1];
        unsigned at_green = 150 * centre + own * ((across + 1) >> 1) + other * ((along + 1) >> 1);
        unsigned at_colour = own * centre + 150 * ((across + along + 2) >> 2) + other * ((diagonal + 2) >> 2);
        line[x] = (uint16_t)((((x & 1) == green ? at_green : at_colour) + 128) >> 8);
    }
}

static read_line *const readers[PLX_FORMAT_COUNT] = {
    [PLX_FORMAT_GREY] = read_grey,     [PLX_FORMAT_Y10] = read_words,    [PLX_FORMAT_Y12] = read_words,
    [PLX_FORMAT_Y16] = read_words,     [PLX_FORMAT_YUYV] = read_yuyv,    [PLX_FORMAT_UYVY] = read_uyvy,
    [PLX_FORMAT_NV12] = read_grey,     [PLX_FORMAT_NV21] = read_grey,    [PLX_FORMAT_RGB24] = read_rgb,
    [PLX_FORMAT_BGR24] = read_bgr,     [PLX_FORMAT_BAYER8] = read_bayer, [PLX_FORMAT_BAYER10] = read_bayer,
    [PLX_FORMAT_BAYER12] = read_bayer, [PLX_FORMAT_NV16] = read_grey,    [PLX_FORMAT_GREY_RGB] = read_grey,
};

void plx_raw_grey_row(const struct plx_raw *raw, const struct plx_image *grey, int y)
{
    const int bits = layouts[raw->format].bits;
    uint16_t line[PLX_MAX_SIDE];

    readers[raw->format](raw, y, line);
    if (grey->type == PLX_U8) {
        uint8_t *out = plx_row(grey, y);
        for (int x = 0; x < grey->width; x++)
            out[x] = (uint8_t)(line[x] >> (bits - 8));
    } else {
        uint16_t *out = plx_row(grey, y);
        for (int x = 0; x < grey->width; x++)
            out[x] = (uint16_t)(line[x] << (16 - bits));
    }
}
