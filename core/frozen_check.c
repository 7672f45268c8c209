/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frozen_check.h"

#include <string.h>

#include "core/image.h"

#define TILE_ROWS 16 /* that are looked at, evenly spaced: enough pixels for noise to show */
#define SHADOW 8     /* luma below this, and from HIGHLIGHT on, may be clipped */
#define HIGHLIGHT 248

/* First row or column of tile INDEX, as in the histogram: pixel i of COUNT lies in tile i * PLX_ZONES / count. */
static int tile_start(int index, int count)
{
    return (index * count + PLX_ZONES - 1) / PLX_ZONES;
}

static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return sum ^ sum >> 32;
}

static uint64_t sum_bytes(uint64_t sum, const uint8_t *bytes, size_t count)
{
    uint64_t word;

    for (; count >= sizeof word; bytes += sizeof word, count -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        sum = mix(sum, word);
    }
    word = 0;
    memcpy(&word, bytes, count);
    return mix(sum, word);
}

/* Checksum of the raw bytes of one tile: of a packed format all of them, of a planar one the luma. */
static uint64_t sum_tile(const struct plx_raw *raw, int tile_x, int tile_y)
{
    const int y0 = tile_start(tile_y, raw->height), y1 = tile_start(tile_y + 1, raw->height);
    const int step = (y1 - y0 + TILE_ROWS - 1) / TILE_ROWS;
    const struct plx_format_layout *layout = plx_format_layout(raw->format);
    const int x0 = raw->eye_x + tile_start(tile_x, raw->eye_width);
    const size_t first = (size_t)(x0 / layout->unit_pixels) * (size_t)layout->unit_bytes;
    const size_t end = plx_raw_row_bytes(raw->format, raw->eye_x + tile_start(tile_x + 1, raw->eye_width));
    uint64_t sum = 0;

    for (int y = y0; y < y1; y += step)
        sum = sum_bytes(sum, (const uint8_t *)raw->data + (size_t)y * raw->pitch + first, end - first);
    return sum;
}

/* Whether at least half of the zone's pixels are far enough from black and white for noise to show. */
static bool shows_noise(const uint32_t *bins)
{
    uint32_t inside = 0, outside = 0;

    for (int level = 0; level < PLX_HISTOGRAM_BINS; level++)
        *(level >= SHADOW && level < HIGHLIGHT ? &inside : &outside) += bins[level];
    return inside > 0 && inside >= outside;
}

bool plx_frozen_check_update(struct plx_frozen_check *check, const struct plx_raw *raw, const struct plx_image *bins)
{
    int judged = 0, same = 0;
    bool part = false;

    for (int tile = 0; tile < PLX_FROZEN_CHECK_TILES; tile++) {
        const uint64_t sum = sum_tile(raw, tile % PLX_ZONES, tile / PLX_ZONES);
        const bool live = shows_noise(plx_row(bins, 1 + tile));
        const bool again = live && check->known && sum == check->sum[tile];
        check->repeats[tile] = !again ? 0 : check->repeats[tile] < UINT8_MAX ? check->repeats[tile] + 1 : UINT8_MAX;
        check->sum[tile] = sum;
        judged += live;
        same += again;
        part = part || check->repeats[tile] >= PLX_FROZEN_CHECK_REPEATS;
    }
    check->known = true;
    return part || (judged > 0 && same == judged);
}
