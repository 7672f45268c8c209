/* SPDX-License-Identifier: Apache-2.0 */
/* Census words of a row of pixels, with smoothing and gradient; then their bytes, in the order in which costs read them. */
#include "cpu/simd/simd.h"

void PLX_KERNEL(smooth)(const uint8_t *above, const uint8_t *row, const uint8_t *below, int width, uint8_t *ret_row)
{
    for (int x = 0; x < width; x++)
        ret_row[x] = (uint8_t)((4 * row[x] + above[x] + below[x] + row[x - 1] + row[x + 1] + 4) >> 3);
}

/* 128 + SUM / 2, cut off to a byte */
INLINE int gradient(int sum)
{
    const int value = 128 + (sum >> 1), positive = value < 0 ? 0 : value;
    return positive > 255 ? 255 : positive;
}

void PLX_KERNEL(gradients)(const uint8_t *above, const uint8_t *row, const uint8_t *below, int width, uint16_t *ret_row)
{
    for (int x = 0; x < width; x++) {
        int sum = 2 * (row[x + 1] - row[x - 1]) + (above[x + 1] - above[x - 1]) + (below[x + 1] - below[x - 1]);
        int sum_y = 2 * (below[x] - above[x]) + (below[x - 1] - above[x - 1]) + (below[x + 1] - above[x + 1]);
        ret_row[x] = (uint16_t)(gradient(sum) | gradient(sum_y) << 8);
    }
}

/* COUNT samples, at most 8, of the pixels from X, as one byte each. */
INLINE u8v census_byte(const struct plx_census_sample *samples, int count, const uint8_t *const *rows, int x)
{
    u8v byte = all8(0);
    for (int i = 0; i < count; i++) {
        const struct plx_census_sample *at = &samples[i];
        u8v greater = (u8v)(load8(rows[at->y] + x + at->x) > load8(rows[at->other_y] + x + at->other_x)); /* all ones or 0 */
        byte = byte + byte - greater;
    }
    return byte;
}

void PLX_KERNEL(census)(const struct plx_census_sample *samples, int count, const uint8_t *const *rows, int width, bool wide,
                        void *ret_words)
{
    for (int x = 0; x < width; x += LANES8) {
        const int lanes = width - x < LANES8 ? width - x : LANES8;
        uint64_t words[LANES8] = {0};

        for (int done = 0, bits; done < count; done += bits) {
            uint8_t bytes[LANES8];
            bits = (count - done) % 8 > 0 ? (count - done) % 8 : 8;
            store8(bytes, census_byte(samples + done, bits, rows, x));
            for (int i = 0; i < LANES8; i++)
                words[i] = words[i] << bits | bytes[i];
        }
        if (wide)
            memcpy((uint64_t *)ret_words + x, words, (size_t)lanes * sizeof *words);
        for (int i = 0; i < lanes && !wide; i++)
            ((uint32_t *)ret_words)[x + i] = (uint32_t)words[i];
    }
}

void PLX_KERNEL(split)(const void *words, int width, int word_bytes, int planes, uint8_t *const *ret_planes)
{
    const uint16_t *words_2 = words;
    const uint32_t *words_4 = words;
    const uint64_t *words_8 = words;

    for (int k = 0; k < planes; k++) {
        uint8_t *plane = ret_planes[k];
        for (int x = 0; x < width && word_bytes == 2; x++)
            plane[x] = (uint8_t)(words_2[x] >> 8 * k);
        for (int x = 0; x < width && word_bytes == 4; x++)
            plane[x] = (uint8_t)(words_4[x] >> 8 * k);
        for (int x = 0; x < width && word_bytes == 8; x++)
            plane[x] = (uint8_t)(words_8[x] >> 8 * k);
    }
}

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

void PLX_KERNEL(partners)(const struct plx_match *match, const uint8_t *src, int width, uint8_t before, uint8_t after,
                          uint8_t *ret_bytes)
{
    const int count = width + match->disparities - 1;
    const int last = width - 1 - match->min_disparity; /* column of the first, maybe outside */
    const int first_inside = clamp(last - (width - 1), 0, count), first_before = clamp(last + 1, first_inside, count);

    memset(ret_bytes, after, (size_t)first_inside);
    for (int i = first_inside; i < first_before; i++)
        ret_bytes[i] = src[last - i];
    memset(ret_bytes + first_before, before, (size_t)(count - first_before));
}
