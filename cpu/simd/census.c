/* SPDX-License-Identifier: Apache-2.0 */
/* Census words, and the smoothing and gradient that may go with them, of a row of pixels. */
#include "cpu/simd/simd.h"

void PLX_KERNEL(smooth)(const uint8_t *above, const uint8_t *row, const uint8_t *below, int width, uint8_t *ret_row)
{
    for (int x = 0; x < width; x++)
        ret_row[x] = (uint8_t)((4 * row[x] + above[x] + below[x] + row[x - 1] + row[x + 1] + 4) >> 3);
}

void PLX_KERNEL(gradient)(const uint8_t *above, const uint8_t *row, const uint8_t *below, int width, uint8_t *ret_row)
{
    for (int x = 0; x < width; x++) {
        int sum = 2 * (row[x + 1] - row[x - 1]) + (above[x + 1] - above[x - 1]) + (below[x + 1] - below[x - 1]);
        int value = 128 + (sum >> 1);
        value = value < 0 ? 0 : value;
        ret_row[x] = (uint8_t)(value > 255 ? 255 : value);
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
