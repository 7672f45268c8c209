/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/image.h"

#include <stdlib.h>

enum colour { RED, GREEN, BLUE };

static unsigned byte_at(const struct plx_raw *raw, int y, int offset)
{
    return ((const uint8_t *)raw->data)[(size_t)y * raw->pitch + (size_t)offset];
}

static unsigned word_at(const struct plx_raw *raw, int x, int y, int bits)
{
    unsigned word = byte_at(raw, y, 2 * x) | byte_at(raw, y, 2 * x + 1) << 8;
    return raw->msb_aligned ? word >> (16 - bits) : word % (1u << bits);
}

static int depth(enum plx_format format)
{
    switch (format) {
    case PLX_FORMAT_Y10:
    case PLX_FORMAT_BAYER10:
        return 10;
    case PLX_FORMAT_Y12:
    case PLX_FORMAT_BAYER12:
        return 12;
    case PLX_FORMAT_Y16:
        return 16;
    default:
        return 8;
    }
}

static unsigned luma(const unsigned rgb[3])
{
    return (77 * rgb[RED] + 150 * rgb[GREEN] + 29 * rgb[BLUE] + 128) >> 8;
}

static enum colour colour_at(enum plx_bayer order, int x, int y)
{
    static const enum colour cell[][2][2] = {
        [PLX_BAYER_RGGB] = {{RED, GREEN}, {GREEN, BLUE}},
        [PLX_BAYER_BGGR] = {{BLUE, GREEN}, {GREEN, RED}},
        [PLX_BAYER_GRBG] = {{GREEN, RED}, {BLUE, GREEN}},
        [PLX_BAYER_GBRG] = {{GREEN, BLUE}, {RED, GREEN}},
    };
    return cell[order][y % 2][x % 2];
}

/* Each missing colour is the rounded mean of its samples among the eight neighbours, mirrored at the window's edges. */
static unsigned demosaic_luma(const struct plx_raw *raw, int x, int y)
{
    unsigned sum[3] = {0}, count[3] = {0}, rgb[3];
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            int nx = abs(x + dx), ny = abs(y + dy);
            nx = nx < raw->eye_width ? nx : 2 * (raw->eye_width - 1) - nx;
            ny = ny < raw->height ? ny : 2 * (raw->height - 1) - ny;
            nx += raw->eye_x;
            enum colour colour = colour_at(raw->bayer, nx, ny);
            sum[colour] += raw->format == PLX_FORMAT_BAYER8 ? byte_at(raw, ny, nx) : word_at(raw, nx, ny, depth(raw->format));
            count[colour]++;
        }
    }
    for (int colour = RED; colour <= BLUE; colour++)
        rgb[colour] = (sum[colour] + count[colour] / 2) / count[colour];
    enum colour own = colour_at(raw->bayer, raw->eye_x + x, y);
    rgb[own] = raw->format == PLX_FORMAT_BAYER8 ? byte_at(raw, y, raw->eye_x + x)
                                                : word_at(raw, raw->eye_x + x, y, depth(raw->format));
    return luma(rgb);
}

static unsigned grey_at(const struct plx_raw *raw, int x, int y)
{
    int column = raw->eye_x + x;
    switch (raw->format) {
    case PLX_FORMAT_Y10:
    case PLX_FORMAT_Y12:
    case PLX_FORMAT_Y16:
        return word_at(raw, column, y, depth(raw->format));
    case PLX_FORMAT_YUYV:
        return byte_at(raw, y, 2 * column);
    case PLX_FORMAT_UYVY:
        return byte_at(raw, y, 2 * column + 1);
    case PLX_FORMAT_RGB24:
        return luma(
            (const unsigned[3]){byte_at(raw, y, 3 * column), byte_at(raw, y, 3 * column + 1), byte_at(raw, y, 3 * column + 2)});
    case PLX_FORMAT_BGR24:
        return luma(
            (const unsigned[3]){byte_at(raw, y, 3 * column + 2), byte_at(raw, y, 3 * column + 1), byte_at(raw, y, 3 * column)});
    case PLX_FORMAT_BAYER8:
    case PLX_FORMAT_BAYER10:
    case PLX_FORMAT_BAYER12:
        return demosaic_luma(raw, x, y);
    default: /* luma first */
        return byte_at(raw, y, column);
    }
}

void oracle_convert(const struct plx_raw *raw, const struct plx_image *grey)
{
    int bits = depth(raw->format);
    for (int y = 0; y < grey->height; y++)
        for (int x = 0; x < grey->width; x++) {
            unsigned value = grey_at(raw, x, y);
            if (grey->type == PLX_U8)
                ((uint8_t *)plx_row(grey, y))[x] = (uint8_t)(value >> (bits - 8));
            else
                ((uint16_t *)plx_row(grey, y))[x] = (uint16_t)(value << (16 - bits));
        }
}
