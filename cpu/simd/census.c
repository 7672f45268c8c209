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

#define MAX_SAMPLES 64

/* What a sample compares: rows, moved by its columns. */
struct sample {
    const uint8_t *one, *other;
};

/* COUNT samples, at most 8, of the pixels from X, as one byte each. */
INLINE u8v census_byte(const struct sample *samples, int count, int x)
{
    u8v byte = all8(0);
    for (int i = 0; i < count; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): all COUNT samples are set */
        u8v greater = (u8v)(load8(samples[i].one + x) > load8(samples[i].other + x)); /* all ones or 0 */
        byte = byte + byte - greater;
    }
    return byte;
}

INLINE void census(const struct sample *samples, int count, int width, int word_bytes, uint8_t *ret_words)
{
    const int whole = count / 8, rest = count % 8; /* the first samples are the rest, and the highest byte */

    for (int x = 0; x < width; x += LANES8) {
        const u8v highest = census_byte(samples, rest, x);
        u8v bytes[8];
        uint8_t words[LANES8 * 8];

        UNROLL
        for (int k = 0; k < word_bytes; k++)
            bytes[k] = k < whole ? census_byte(samples + rest + 8 * (whole - 1 - k), 8, x) : k == whole ? highest : all8(0);
        if (x + LANES8 <= width) {
            store_words(ret_words + x * word_bytes, bytes, word_bytes);
        } else {
            store_words(words, bytes, word_bytes);
            memcpy(ret_words + x * word_bytes, words, (size_t)(width - x) * (size_t)word_bytes);
        }
    }
}

void PLX_KERNEL(census)(const struct plx_census_sample *samples, int count, const uint8_t *const *rows, int width, bool wide,
                        void *ret_words)
{
    struct sample moved[MAX_SAMPLES];

    for (int i = 0; i < count; i++) {
        moved[i].one = rows[samples[i].y] + samples[i].x;
        moved[i].other = rows[samples[i].other_y] + samples[i].other_x;
    }
    if (wide)
        census(moved, count, width, 8, ret_words);
    else
        census(moved, count, width, 4, ret_words);
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
