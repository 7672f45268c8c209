/* SPDX-License-Identifier: Apache-2.0 */
/* Semi-global matching of a row: penalties, matching costs, aggregation paths and disparity candidates. */
#include <stdlib.h>

#include "cpu/simd/simd.h"

/* The table falls to its last value, so only what is larger is looked up. */
void PLX_KERNEL(penalties)(const uint8_t *p2, const uint8_t *row, const uint8_t *before, int dx, int width, uint8_t *ret_p2)
{
    const uint8_t least = p2[PLX_P2_STEPS - 1];
    const int end = width - (dx > 0);
    int x = dx < 0;

    ret_p2[0] = ret_p2[width - 1] = 0;
    if (p2[0] == least) {
        memset(ret_p2 + x, least, (size_t)(end - x));
        return;
    }
#ifdef lookup16
    for (; x + LANES8 <= end; x += LANES8) {
        const u8v step = distance8(load8(row + x), load8(before + x + dx));
        u8v here = all8(least);
        for (int k = 0; k < PLX_P2_STEPS && p2[k] > least; k += 16)
            here = max8(here, lookup16(p2 + k, step - (uint8_t)k));
        store8(ret_p2 + x, here);
    }
#endif
    for (; x < end; x++)
        ret_p2[x] = p2[abs(row[x] - before[x + dx])];
}

/* Cost of a pixel at all disparities: a vector of partners at once, byte by byte of the census word. The pixel's own bytes and
 * the rows' addresses are read once, because the compiler must think that a store of costs changes *ROW. */
INLINE void cost(const struct plx_sgm_row *row, int x, int count, uint8_t *ret_cost, int planes, bool gradients)
{
    const u8v caps[PLX_GRADIENTS] = {all8((uint8_t)row->gradient_cap), all8((uint8_t)row->gradient_cap_y)};
    const int disparities = row->disparities, last = row->width - 1;

    for (int i = 0; i < count; i++, x++) {
        const uint8_t *right[PLX_MAX_PLANES], *right_gradient[PLX_GRADIENTS];
        u8v left[PLX_MAX_PLANES], left_gradient[PLX_GRADIENTS];

        UNROLL
        for (int k = 0; k < planes; k++) {
            left[k] = all8(row->left[k][x]);
            right[k] = row->right[k] + last - x;
        }
        UNROLL
        for (int k = 0; k < PLX_GRADIENTS && gradients; k++) {
            left_gradient[k] = all8(row->left_gradient[k][x]);
            right_gradient[k] = row->right_gradient[k] + last - x;
        }
        for (int d = 0; d < disparities; d += LANES8) {
            u8v sum = all8(0);
            UNROLL
            for (int k = 0; k < planes; k++) {
                u8v differ = load8(right[k] + d) ^ left[k];
                /* NOLINTNEXTLINE(bugprone-branch-clone): the same only where the processor counts whole bytes */
                sum += planes == 2 && k == 1 ? popcount4(differ) : popcount8(differ);
            }
            UNROLL
            for (int k = 0; k < PLX_GRADIENTS && gradients; k++)
                sum += min8(distance8(load8(right_gradient[k] + d), left_gradient[k]), caps[k]);
            store8(ret_cost + d, sum);
        }
        ret_cost += disparities;
    }
}

/* Two bytes are 12 bits, four are 30 or 31, eight are 62. */
void PLX_KERNEL(cost)(const struct plx_sgm_row *row, int x, int count, uint8_t *ret_cost)
{
    switch (row->planes * 2 + (row->gradient_cap > 0)) {
    case 4:
        cost(row, x, count, ret_cost, 2, false);
        break;
    case 5:
        cost(row, x, count, ret_cost, 2, true);
        break;
    case 8:
        cost(row, x, count, ret_cost, 4, false);
        break;
    case 9:
        cost(row, x, count, ret_cost, 4, true);
        break;
    case 16:
        cost(row, x, count, ret_cost, 8, false);
        break;
    case 17:
        cost(row, x, count, ret_cost, 8, true);
        break;
    }
}

/*
 * One step of one path: from the state STATE of the predecessor to V = min(L, L(d +- 1) + P1, min L + P2) - min L, which is
 * L - C of this pixel and is added to SUM, and to this pixel's own state. Nothing overflows: V <= P2 <= 120, C <= 110.
 */
INLINE void step(const uint8_t *state, const u8v *cost, uint8_t p1, uint8_t p2, int vectors, u8v *sum, uint8_t *ret_state)
{
    const u8v most = all8(255), small = all8(p1), large = all8(p2);
    u8v n[256 / LANES8], l[256 / LANES8];

    for (int i = 0; i < vectors; i++)
        n[i] = load8(state + i * LANES8);
    u8v least = most;
    for (int i = 0; i < vectors; i++) {
        u8v near = min8(shift_up(n[i], i > 0 ? n[i - 1] : most), shift_down(n[i], i < vectors - 1 ? n[i + 1] : most));
        u8v v = min8(min8(n[i], adds8(near, small)), large);
        sum[i] += v;
        l[i] = v + cost[i];
        least = min8(least, l[i]);
    }
    least = least8(least);
    for (int i = 0; i < vectors; i++)
        store8(ret_state + i * LANES8, l[i] - least);
}

INLINE void store_pairs(const struct plx_sgm_row *row, const u8v *sum, int vectors, uint8_t *ret_sum)
{
    for (int v = 0; v < vectors; v++)
        if (row->streams)
            stream8(ret_sum + v * LANES8, sum[v]);
        else
            store8(ret_sum + v * LANES8, sum[v]);
}

INLINE void aggregate(const struct plx_sgm_row *row, int x, int count, const uint8_t *cost, uint8_t *ret_pairs, int vectors,
                      bool diagonal)
{
    const int disparities = vectors * LANES8;
    const int back = row->step, first = row->step > 0 ? 0 : count - 1;

    for (int k = 0; k < count; k++) {
        const int i = first + k * row->step, at = x + i;
        uint8_t *pairs = ret_pairs + (size_t)i * plx_pairs(row->paths, disparities);
        u8v c[256 / LANES8], sum[256 / LANES8];

        for (int v = 0; v < vectors; v++) {
            c[v] = load8(cost + i * disparities + v * LANES8);
            sum[v] = all8(0);
        }
        step(row->along, c, row->p1_straight, row->p2[PLX_ALONG][at], vectors, sum, row->along);
        step(row->last[PLX_STRAIGHT] + at * disparities, c, row->p1_straight, row->p2[PLX_STRAIGHT][at], vectors, sum,
             row->next[PLX_STRAIGHT] + at * disparities);
        store_pairs(row, sum, vectors, pairs);
        if (!diagonal)
            continue;
        for (int v = 0; v < vectors; v++)
            sum[v] = all8(0);
        step(row->last[PLX_BEHIND] + (at - back) * disparities, c, row->p1_diagonal, row->p2[PLX_BEHIND][at], vectors, sum,
             row->next[PLX_BEHIND] + at * disparities);
        step(row->last[PLX_AHEAD] + (at + back) * disparities, c, row->p1_diagonal, row->p2[PLX_AHEAD][at], vectors, sum,
             row->next[PLX_AHEAD] + at * disparities);
        store_pairs(row, sum, vectors, pairs + disparities);
    }
    if (row->streams)
        order_stream();
}

void PLX_KERNEL(aggregate)(const struct plx_sgm_row *row, int x, int count, const uint8_t *cost, uint8_t *ret_pairs)
{
    switch (row->disparities + row->paths) {
    case 64 + 4:
        aggregate(row, x, count, cost, ret_pairs, 64 / LANES8, false);
        break;
    case 64 + 8:
        aggregate(row, x, count, cost, ret_pairs, 64 / LANES8, true);
        break;
    case 128 + 4:
        aggregate(row, x, count, cost, ret_pairs, 128 / LANES8, false);
        break;
    case 128 + 8:
        aggregate(row, x, count, cost, ret_pairs, 128 / LANES8, true);
        break;
    case 256 + 4:
        aggregate(row, x, count, cost, ret_pairs, 256 / LANES8, false);
        break;
    case 256 + 8:
        aggregate(row, x, count, cost, ret_pairs, 256 / LANES8, true);
        break;
    }
}

/* Zeros but for three words in the middle: read from MIDDLE - d on, it hides d - 1, d and d + 1. */
#define MIDDLE 256
static const uint16_t hide[MIDDLE + 256 + 64] = {[MIDDLE - 1] = 0xFFFF, [MIDDLE] = 0xFFFF, [MIDDLE + 1] = 0xFFFF};

/* S = paths C + (L - C of all paths) */
INLINE u16v total(const uint8_t *cost, const uint8_t *a, const uint8_t *b, int disparities, int shift)
{
    u16v sum = (widen(cost) << shift) + widen(a) + widen(b);
    if (shift == 3)
        sum += widen(a + disparities) + widen(b + disparities);
    return sum;
}

INLINE void argmin(const struct plx_sgm_row *row, int x, int count, const uint8_t *cost, const uint8_t *pairs_a,
                   const uint8_t *pairs_b, int disparities, int shift)
{
    const int vectors = disparities / LANES16;
    const size_t key_pitch = (size_t)row->width + (size_t)disparities, key_row = (size_t)(disparities / PLX_CHUNK) * key_pitch;
    const u16v lane = ramp();

    for (int i = 0; i < count; i++, x++) {
        uint16_t s[256 + 2]; /* one more on each side */
        u16v sum[256 / LANES16], least = all16(0xFFFF);
        uint16_t *key = row->key + (size_t)(x % PLX_KEY_ROWS) * key_row + (row->width - 1 - x);

        s[0] = s[disparities + 1] = 0;
        UNROLL
        for (int v = 0; v < vectors; v++) {
            const int d = v * LANES16;
            sum[v] = total(cost + d, pairs_a + d, pairs_b + d, disparities, shift);
            store16(s + 1 + d, sum[v]);
            least = min16(least, sum[v]);
            if (v > 0 && d % PLX_CHUNK == 0)
                key += key_pitch + PLX_CHUNK;
            uint16_t *keys = key + d % PLX_CHUNK;
            store16(keys, min16(load16(keys), sum[v] << 5 | (lane + (uint16_t)(d % PLX_CHUNK))));
        }
        const unsigned s1 = least16(least);
        u16v where = all16(0xFFFF);
        UNROLL
        for (int v = 0; v < vectors; v++)
            where = min16(where, (lane + (uint16_t)(v * LANES16)) | ~(u16v)(sum[v] == all16((uint16_t)s1)));
        const unsigned best = least16(where);
        const uint16_t *hidden = hide + MIDDLE - best;
        u16v second = all16(0xFFFF);
        UNROLL
        for (int v = 0; v < vectors; v++)
            second = min16(second, sum[v] | load16(hidden + v * LANES16));

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

void PLX_KERNEL(argmin)(const struct plx_sgm_row *row, int x, int count, const uint8_t *cost, const uint8_t *pairs_a,
                        const uint8_t *pairs_b)
{
    switch (row->disparities + row->paths) {
    case 64 + 4:
        argmin(row, x, count, cost, pairs_a, pairs_b, 64, 2);
        break;
    case 64 + 8:
        argmin(row, x, count, cost, pairs_a, pairs_b, 64, 3);
        break;
    case 128 + 4:
        argmin(row, x, count, cost, pairs_a, pairs_b, 128, 2);
        break;
    case 128 + 8:
        argmin(row, x, count, cost, pairs_a, pairs_b, 128, 3);
        break;
    case 256 + 4:
        argmin(row, x, count, cost, pairs_a, pairs_b, 256, 2);
        break;
    case 256 + 8:
        argmin(row, x, count, cost, pairs_a, pairs_b, 256, 3);
        break;
    }
}
