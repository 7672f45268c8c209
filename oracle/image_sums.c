/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "oracle/image.h"

static uint64_t mix(uint64_t x)
{
    x *= UINT64_C(0x9E3779B97F4A7C15);
    x ^= x >> 32;
    x *= UINT64_C(0xBF58476D1CE4E5B9);
    return x ^ x >> 32;
}

/* First pixel of tile TILE among COUNT, and how many it has. */
static int find_tile(int tile, int count, int *ret_first)
{
    int pixels = 0;
    for (int i = count - 1; i >= 0; i--)
        if (i * 8 / count == tile) {
            *ret_first = i;
            pixels++;
        }
    return pixels;
}

static uint64_t sum_row(const uint8_t *bytes, int count, int row)
{
    uint64_t sum = 0;
    for (int i = 0; 4 * i < count; i++) {
        uint64_t word = 0;
        for (int k = 0; k < 4 && 4 * i + k < count; k++)
            word += (uint64_t)bytes[4 * i + k] << 8 * k;
        sum += mix((((uint64_t)row << 20) + (uint64_t)i) * (UINT64_C(1) << 32) + word);
    }
    return sum;
}

void oracle_checksum(const struct plx_raw *raw, const struct plx_image *ret_sums)
{
    const struct plx_format_layout *layout = plx_format_layout(raw->format);

    for (int tile = 0; tile < 64; tile++) {
        int x = 0, y = 0;
        const int width = find_tile(tile % 8, raw->eye_width, &x), height = find_tile(tile / 8, raw->height, &y);
        const int step = height <= 16 ? 1 : (height + 15) / 16, left = raw->eye_x + x;
        const int first = left / layout->unit_pixels, last = (left + width - 1) / layout->unit_pixels;
        uint64_t sum = 0;
        for (int row = 0; width > 0 && row * step < height; row++)
            sum += sum_row((const uint8_t *)raw->data + (size_t)(y + row * step) * raw->pitch + first * layout->unit_bytes,
                           (last - first + 1) * layout->unit_bytes, row);
        ((uint64_t *)ret_sums->data)[tile] = sum;
    }
}

static uint32_t sum_steps(const struct plx_image *grey, int y, int distance)
{
    uint32_t sum = 0;
    for (int x = 0; y < grey->height && x < grey->width - 8; x++) {
        const uint8_t *row = plx_row(grey, y);
        sum += (uint32_t)abs(row[x + distance] - row[x]);
    }
    return sum;
}

void oracle_sharpness(const struct plx_image *grey, const struct plx_image *ret_steps)
{
    for (int i = 0; i < ret_steps->width; i++) {
        ((uint32_t *)plx_row(ret_steps, 0))[i] = sum_steps(grey, 16 * i + 8, 2);
        ((uint32_t *)plx_row(ret_steps, 1))[i] = sum_steps(grey, 16 * i + 8, 8);
    }
}
