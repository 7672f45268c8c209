/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw buffers to grey. Each row is read into a line of samples as deep as the format, and the line is then scaled: 8-bit grey
 * takes the top 8 bits, 16-bit grey is the same number moved up to full scale, so that the one is always the other >> 8.
 */
#include "core/base/image.h"

/* LINE gets the eye's samples of row Y, each of the format's bits. */
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
    int bits = plx_format_layout(raw->format)->bits;
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
    read_line *read = plx_format_layout(raw->format)->words ? read_words : read_grey;
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
    [PLX_FORMAT_BAYER12] = read_bayer,
};

void plx_raw_grey_row(const struct plx_raw *raw, const struct plx_image *grey, int y)
{
    const int bits = plx_format_layout(raw->format)->bits;
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
