/* SPDX-License-Identifier: Apache-2.0 */
/* From winners to disparities: uniqueness and subpixel position in the left view, and the right view. */
#include "cpu/sgm.h"

/* 64 times the share of a pixel at t = k / 64: round(64 (1 - t)(1 + 1 / (1 + t))). */
static int blend(int k)
{
    const int n = 2 * (64 - k) * (128 + k) + (64 + k);
    return n / (2 * (64 + k));
}

/* Shift of the winner, 1/16 px, from S below, at and above it; S below is larger than at the winner. */
static int subpixel(enum plx_subpixel kind, int below, int least, int above)
{
    const int down = below - least, up = above - least, curve = down + up;

    switch (kind) {
    case PLX_SUBPIXEL_PARABOLA:
        return ((below - above) * 16 + curve) / (2 * curve);
    case PLX_SUBPIXEL_BLEND:
        if (down > up)
            return (blend(up * 64 / down) + 8) >> 4;
        return -((blend(down * 64 / up) + 8) >> 4);
    default:
        return 0;
    }
}

void plx_winner_finish(const struct plx_match *match, const struct plx_winner_row *row, uint16_t *ret_left, uint16_t *ret_right)
{
    const int disparities = row->disparities, chunks = disparities / PLX_CHUNK, pitch = row->width + disparities;

    for (int x = 0; x < row->width; x++) {
        const int d = row->raw[x], s1 = row->s1[x], s2 = row->s2[x];
        int value = 16 * d;
        if (d > 0 && d < disparities - 1)
            value += subpixel(match->subpixel, row->below[x], s1, row->above[x]);
        if (match->uniqueness > 0 && s2 * match->uniqueness < s1 * 1000)
            value = PLX_DISPARITY_INVALID;
        ret_left[x] = (uint16_t)value;
    }
    for (int x = 0; x < row->width; x++) {
        const uint16_t *key = row->key + (row->width - 1 - x);
        int best = 0;
        for (int i = 1; i < chunks; i++)
            if (key[i * pitch] >> 5 < key[best * pitch] >> 5)
                best = i;
        ret_right[x] = (uint16_t)(best * PLX_CHUNK + (key[best * pitch] & (PLX_CHUNK - 1)));
    }
}
