/* SPDX-License-Identifier: Apache-2.0 */
/* Confidence of a row of pixels. */
#include <parallax/frame.h>

#include "cpu/simd/local.h"

/*
 * Both float quotients, correctly rounded, are cut down to the same integers as the exact ones: numerators are below 2^24, and
 * quotients below 512 are rounded by less than the 1 / denominator that an exact one keeps from the next integer.
 */
INLINE uint8_t value(int agree, int s1, int s2, int scale, bool holds)
{
    const int peak = s2 > 0 ? (int)((float)((s2 - s1) * 256) / (float)s2) : 0;
    const int sum = 4 * agree + peak / 4 + (holds ? 16 : 0);
    const int all = (int)((float)(sum * 256) / (float)(s1 * scale + 128));
    return (uint8_t)(all < 255 ? all : 255);
}

void PLX_KERNEL(confidence)(const uint16_t *const *rows, const uint16_t *checked, const uint16_t *s1, int s1_scale,
                            const uint16_t *s2, int width, uint8_t *ret_row)
{
    for (int x = 0; x < width; x += LANES16) {
        const u16v near = load16(rows[0] + x) - 1; /* d - 1, d and d + 1 agree */
        const int count = width - x < LANES16 ? width - x : LANES16;
        uint16_t agree[LANES16];
        u16v sum = all16(0);

        for (int dy = -2; dy <= 2; dy++)
            for (int dx = -4; dx <= 4; dx += 2)
                sum -= (u16v)(load16(rows[dy] + x + dx) - near <= 2); /* true is all ones */
        store16(agree, sum);
        for (int i = 0; i < count; i++)
            ret_row[x + i] = value(agree[i], s1[x + i], s2[x + i], s1_scale, checked[x + i] != PLX_DISPARITY_INVALID);
    }
}
