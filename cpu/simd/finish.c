/* SPDX-License-Identifier: Apache-2.0 */
/* From candidates to disparities: uniqueness and subpixel position in the left view, and the right view. */
#include <parallax/frame.h>

#include "cpu/simd/local.h"

/*
 * Shift of the winner, 1/16 px, from S below, at and above it. Here a float quotient, correctly rounded, is cut down to the
 * same integer as the exact one: it lies below 9, and an exact one that is no integer is at least 1 / 16320 away from the next.
 */
INLINE int parabola(int below, int least, int above)
{
    const int curve = below - 2 * least + above;
    return (int)((float)((below - above) * 16 + curve) / (float)(2 * curve));
}

/*
 * The shift towards the lower neighbour is (lut[64 lo / hi] + 8) >> 4, where lut falls from 128 to 0. So it is the number of
 * limits that 64 lo / hi stays below, and no division is needed: 64 lo / hi < limit exactly if 64 lo < limit hi.
 */
INLINE int blend(int below, int least, int above)
{
    static const int limit[8] = {60, 49, 40, 31, 23, 16, 9, 3};
    const int down = below - least, up = above - least, lo = down < up ? down : up, hi = down < up ? up : down;
    int shift = 0;
    for (int i = 0; i < 8; i++)
        shift += 64 * lo < limit[i] * hi;
    return below > above ? shift : -shift;
}

INLINE void left(const struct plx_match *match, const struct plx_winner_row *row, enum plx_subpixel kind, uint16_t *ret_left)
{
    const uint16_t *raw = row->raw, *s1 = row->s1, *s2 = row->s2, *below = row->below, *above = row->above;
    const int last = row->disparities - 1, uniqueness = match->uniqueness > 0 ? match->uniqueness : 65535;

    for (int x = 0; x < row->width; x++) {
        const int d = raw[x];
        int shift = 0;
        if (kind == PLX_SUBPIXEL_PARABOLA)
            shift = parabola(below[x], s1[x], above[x]);
        if (kind == PLX_SUBPIXEL_BLEND)
            shift = blend(below[x], s1[x], above[x]);
        const int value = PLX_DISPARITY_ONE * d + (d > 0 && d < last ? shift : 0);
        ret_left[x] = (uint16_t)(s2[x] * uniqueness < s1[x] * 1000 ? (int)PLX_DISPARITY_INVALID : value);
    }
}

/* The vote with the least S, the earlier chunk among equals. Each key is S << 5 | d & 31. */
INLINE void right(const struct plx_winner_row *row, uint16_t *ret_right)
{
    const int chunks = row->disparities / PLX_CHUNK, pitch = row->width + row->disparities, ballot = chunks * pitch;

    for (int x = 0; x < row->width; x++) {
        const uint16_t *key = row->key + (row->width - 1 - x);
        int least = 0xFFFF, best = 0;
        for (int i = 0; i < chunks; i++) {
            int vote = key[i * pitch];
            for (int k = 1; k < PLX_VOTE_ROWS; k++)
                vote = key[i * pitch + k * ballot] < vote ? key[i * pitch + k * ballot] : vote;
            best = vote >> 5 < least >> 5 ? i * PLX_CHUNK + (vote & (PLX_CHUNK - 1)) : best;
            least = vote >> 5 < least >> 5 ? vote : least;
        }
        ret_right[x] = (uint16_t)best;
    }
}

void PLX_KERNEL(finish)(const struct plx_match *match, const struct plx_winner_row *row, uint16_t *ret_left,
                        uint16_t *ret_right)
{
    switch (match->subpixel) {
    case PLX_SUBPIXEL_NONE:
        left(match, row, PLX_SUBPIXEL_NONE, ret_left);
        break;
    case PLX_SUBPIXEL_PARABOLA:
        left(match, row, PLX_SUBPIXEL_PARABOLA, ret_left);
        break;
    case PLX_SUBPIXEL_BLEND:
        left(match, row, PLX_SUBPIXEL_BLEND, ret_left);
        break;
    }
    right(row, ret_right);
}
