/* SPDX-License-Identifier: Apache-2.0 */
/* The stages checksum and sharpness: sums over each picture, of which picture_check.h makes its judgement. The arithmetic is in
 * a subset of C that every backend compiles. */
#ifndef PLX_CORE_CHECKS_PICTURE_SUMS_H
#define PLX_CORE_CHECKS_PICTURE_SUMS_H

#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/both.h"
#include "core/base/image.h"

#define PLX_CHECKSUM_ROWS 16 /* at most so many of a tile are read, evenly spaced: enough pixels to contain noise */
#define PLX_CHECKSUM_TILES (PLX_HISTOGRAM_TILES * PLX_HISTOGRAM_TILES)
#define PLX_SHARPNESS_ROWS 16 /* one of so many rows is read, in their middle */
#define PLX_SHARPNESS_NEAR 2  /* pixels */
#define PLX_SHARPNESS_FAR 8

/* The bytes of each tile of an eye: of a packed format all, of a planar one the luma. */
struct plx_checksum_tiles {
    const uint8_t *data;
    size_t pitch;
    int begin[PLX_HISTOGRAM_TILES], end[PLX_HISTOGRAM_TILES]; /* bytes of a row, for each column of tiles */
    int top[PLX_HISTOGRAM_TILES + 1];                         /* first row of each row of tiles */
};

/* First row or column of tile INDEX, as in the histogram: pixel i of COUNT lies in tile i * PLX_HISTOGRAM_TILES / count. */
static inline int plx_checksum_start(int index, int count)
{
    return (index * count + PLX_HISTOGRAM_TILES - 1) / PLX_HISTOGRAM_TILES;
}

/* RAW has passed plx_raw_check. */
static inline struct plx_checksum_tiles plx_checksum_tiles_make(const struct plx_raw *raw)
{
    const struct plx_format_layout *layout = plx_format_layout(raw->format);
    struct plx_checksum_tiles tiles = {.data = (const uint8_t *)raw->data, .pitch = raw->pitch};

    for (int i = 0; i < PLX_HISTOGRAM_TILES; i++) {
        const int x0 = raw->eye_x + plx_checksum_start(i, raw->eye_width);
        const int x1 = raw->eye_x + plx_checksum_start(i + 1, raw->eye_width);
        tiles.begin[i] = x0 / layout->unit_pixels * layout->unit_bytes;
        tiles.end[i] = x1 > x0 ? (int)plx_raw_row_bytes(raw->format, x1) : tiles.begin[i]; /* else a narrow eye */
    }
    for (int i = 0; i <= PLX_HISTOGRAM_TILES; i++)
        tiles.top[i] = plx_checksum_start(i, raw->height);
    return tiles;
}

/* Every so many rows one is read, of the tiles in row TILE_Y of tiles. */
PLX_BOTH int plx_checksum_step(const struct plx_checksum_tiles *tiles, int tile_y)
{
    const int rows = tiles->top[tile_y + 1] - tiles->top[tile_y];
    return rows > PLX_CHECKSUM_ROWS ? (rows + PLX_CHECKSUM_ROWS - 1) / PLX_CHECKSUM_ROWS : 1;
}

/* What 4 bytes, word I of the tile's part of a row, add to the tile's checksum; ROW counts the rows that are read. Another word
 * adds another number, for each step can be undone, and so do other places. */
PLX_BOTH uint64_t plx_checksum_word(uint32_t word, int row, int i)
{
    uint64_t sum = ((uint64_t)((uint32_t)row << 20 | (uint32_t)i) << 32 | word) * UINT64_C(0x9E3779B97F4A7C15);
    sum = (sum ^ sum >> 32) * UINT64_C(0xBF58476D1CE4E5B9);
    return sum ^ sum >> 32;
}

/* Columns of the image that the stage sharpness writes for an image HEIGHT high. */
static inline int plx_sharpness_columns(int height)
{
    return (height + PLX_SHARPNESS_ROWS - 1) / PLX_SHARPNESS_ROWS;
}

/* True if RET_SUMS is U64 [1][64]. */
static inline bool plx_checksum_ok(const struct plx_image *ret_sums)
{
    return plx_image_ok(ret_sums, PLX_U64) && ret_sums->width == PLX_CHECKSUM_TILES && ret_sums->height == 1;
}

/* True if GREY is U8 and RET_STEPS, U32 [2][...], fits it. */
static inline bool plx_sharpness_ok(const struct plx_image *grey, const struct plx_image *ret_steps)
{
    return plx_image_ok(grey, PLX_U8) && plx_image_ok(ret_steps, PLX_U32) && ret_steps->height == 2 &&
           ret_steps->width == plx_sharpness_columns(grey->height);
}

#endif
