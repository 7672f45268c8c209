/* SPDX-License-Identifier: Apache-2.0 */
/* Winner-takes-all: S of a pixel at all disparities, its least, its second, and its vote in the right view. */
#include "cpu/simd/local.h"

#define MAX_VECTORS (256 / LANES16)

/* Zeros but for three words in the middle: read from MIDDLE - d on, it hides d - 1, d and d + 1. */
#define MIDDLE 256
static const uint16_t hide[MIDDLE + 256 + 64] = {[MIDDLE - 1] = 0xFFFF, [MIDDLE] = 0xFFFF, [MIDDLE + 1] = 0xFFFF};

INLINE u16v ramp(void)
{
    u16v v = {0};
    for (int i = 0; i < LANES16; i++)
        v[i] = (uint16_t)i;
    return v;
}

/* S = paths C + (L - C of all paths) */
INLINE u16v total(const uint8_t *cost, const uint8_t *a, const uint8_t *b, int disparities, int shift)
{
    u16v sum = (widen(cost) << shift) + widen(a) + widen(b);
    if (shift == 3)
        sum += widen(a + disparities) + widen(b + disparities);
    return sum;
}

INLINE void winner(const struct plx_winner_row *row, int x, int count, const uint8_t *cost, const uint8_t *pairs_a,
                   const uint8_t *pairs_b, int disparities, int shift)
{
    const int vectors = disparities / LANES16;
    const size_t key_pitch = (size_t)row->width + (size_t)disparities, ballot = (size_t)(disparities / PLX_CHUNK) * key_pitch;
    const u16v lane = ramp();

    for (int i = 0; i < count; i++, x++) {
        uint16_t s[256 + 2] = {0}; /* one more on each side */
        u16v sum[MAX_VECTORS], least = all16(0xFFFF);
        uint16_t *key = row->key + (size_t)(x % PLX_VOTE_ROWS) * ballot + (row->width - 1 - x);

        for (int v = 0; v < vectors; v++) {
            const int d = v * LANES16;
            sum[v] = total(cost + d, pairs_a + d, pairs_b + d, disparities, shift);
            store16(s + 1 + d, sum[v]);
            least = min16(least, sum[v]);
            uint16_t *votes = key + (size_t)(d / PLX_CHUNK) * key_pitch + d;
            store16(votes, min16(load16(votes), sum[v] << 5 | (lane + (uint16_t)(d % PLX_CHUNK))));
        }
        const unsigned s1 = least16(least);
        u16v where = all16(0xFFFF);
        for (int v = 0; v < vectors; v++)
            where = min16(where, (lane + (uint16_t)(v * LANES16)) | ~(u16v)(sum[v] == all16((uint16_t)s1)));
        const unsigned best = least16(where);
        u16v second = all16(0xFFFF);
        for (int v = 0; v < vectors; v++)
            second = min16(second, sum[v] | load16(hide + MIDDLE - best + v * LANES16));

        row->raw[x] = (uint16_t)best;
        row->s1[x] = (uint16_t)s1;
        row->s2[x] = (uint16_t)least16(second);
        row->below[x] = s[best];
        row->above[x] = s[best + 2];
        cost += disparities;
        pairs_a += disparities << (shift - 2);
        pairs_b += disparities << (shift - 2);
    }
}

void PLX_KERNEL(winner)(const struct plx_winner_row *row, int x, int count, const uint8_t *cost, const uint8_t *pairs_a,
                        const uint8_t *pairs_b)
{
    switch (row->disparities + row->paths) {
    case 64 + 4:
        winner(row, x, count, cost, pairs_a, pairs_b, 64, 2);
        break;
    case 64 + 8:
        winner(row, x, count, cost, pairs_a, pairs_b, 64, 3);
        break;
    case 128 + 4:
        winner(row, x, count, cost, pairs_a, pairs_b, 128, 2);
        break;
    case 128 + 8:
        winner(row, x, count, cost, pairs_a, pairs_b, 128, 3);
        break;
    case 256 + 4:
        winner(row, x, count, cost, pairs_a, pairs_b, 256, 2);
        break;
    case 256 + 8:
        winner(row, x, count, cost, pairs_a, pairs_b, 256, 3);
        break;
    }
}
