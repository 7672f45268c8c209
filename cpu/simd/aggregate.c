/* SPDX-License-Identifier: Apache-2.0 */
/* One sweep's paths over a block of pixels, all disparities of a pixel in the lanes of one or more vectors. */
#include "cpu/simd/local.h"

#define MAX_VECTORS (256 / LANES8)

/*
 * One step of one path: from the state STATE of the predecessor to V = min(L, L(d +- 1) + P1, min L + P2) - min L, which is
 * L - C of this pixel and is added to SUM, and to this pixel's own state. Nothing overflows: V <= P2 <= 120, C <= 94.
 */
INLINE void step(const uint8_t *state, const u8v *cost, uint8_t p1, uint8_t p2, int vectors, u8v *sum, uint8_t *ret_state)
{
    const u8v most = all8(255), small = all8(p1), large = all8(p2);
    u8v n[MAX_VECTORS], l[MAX_VECTORS];

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

INLINE void aggregate(const struct plx_sweep_row *row, int x, int count, const uint8_t *cost, uint8_t *ret_pairs, int vectors,
                      bool diagonal)
{
    const int disparities = vectors * LANES8;
    const int back = row->step, first = row->step > 0 ? 0 : count - 1;

    for (int k = 0; k < count; k++) {
        const int i = first + k * row->step, at = x + i;
        uint8_t *pairs = ret_pairs + (size_t)i * plx_pairs(row->paths, disparities);
        u8v c[MAX_VECTORS], sum[MAX_VECTORS];

        for (int v = 0; v < vectors; v++) {
            c[v] = load8(cost + i * disparities + v * LANES8);
            sum[v] = all8(0);
        }
        step(row->along, c, row->p1_straight, row->p2[PLX_ALONG][at], vectors, sum, row->along);
        step(row->last[PLX_STRAIGHT] + at * disparities, c, row->p1_straight, row->p2[PLX_STRAIGHT][at], vectors, sum,
             row->next[PLX_STRAIGHT] + at * disparities);
        for (int v = 0; v < vectors; v++)
            store8(pairs + v * LANES8, sum[v]);
        if (!diagonal)
            continue;
        for (int v = 0; v < vectors; v++)
            sum[v] = all8(0);
        step(row->last[PLX_BEHIND] + (at - back) * disparities, c, row->p1_diagonal, row->p2[PLX_BEHIND][at], vectors, sum,
             row->next[PLX_BEHIND] + at * disparities);
        step(row->last[PLX_AHEAD] + (at + back) * disparities, c, row->p1_diagonal, row->p2[PLX_AHEAD][at], vectors, sum,
             row->next[PLX_AHEAD] + at * disparities);
        for (int v = 0; v < vectors; v++)
            store8(pairs + disparities + v * LANES8, sum[v]);
    }
}

void PLX_KERNEL(aggregate)(const struct plx_sweep_row *row, int x, int count, const uint8_t *cost, uint8_t *ret_pairs)
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
