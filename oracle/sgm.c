/* SPDX-License-Identifier: Apache-2.0 */
/* Cost, aggregation and winner-takes-all over whole volumes, one path at a time. */
#include <stdio.h>
#include <stdlib.h>

#include "oracle/oracle.h"

static uint64_t word_at(const struct plx_features *features, int x, int y)
{
    if (features->census.type == PLX_U64)
        return ((const uint64_t *)plx_row(&features->census, y))[x];
    return ((const uint32_t *)plx_row(&features->census, y))[x];
}

static int popcount(uint64_t word)
{
    int bits = 0;
    for (; word; word &= word - 1)
        bits++;
    return bits;
}

static int capped(int value, int cap)
{
    return value < cap ? value : cap;
}

static int cost_at(const struct plx_features *left, const struct plx_features *right, const struct plx_match *match, int x,
                   int y, int q)
{
    const int width = left->census.width;
    const bool inside = q >= 0 && q < width;
    int cost = popcount(word_at(left, x, y) ^ (inside ? word_at(right, q, y) : 0));

    if (match->gradient_cap > 0) {
        const uint16_t *rows[PLX_EYES] = {plx_row(&left->gradient, y), plx_row(&right->gradient, y)};
        const int l = rows[PLX_LEFT][x], r = rows[PLX_RIGHT][q < 0 ? 0 : q >= width ? width - 1 : q];
        cost += capped(abs((l & 255) - (r & 255)), match->gradient_cap);
        cost += capped(abs((l >> 8) - (r >> 8)), match->gradient_cap_y);
    }
    return cost;
}

void oracle_cost(const struct plx_features *left, const struct plx_features *right, const struct plx_match *match,
                 uint8_t *ret_cost)
{
    for (int y = 0; y < left->census.height; y++)
        for (int x = 0; x < left->census.width; x++)
            for (int d = 0; d < match->disparities; d++)
                *ret_cost++ = (uint8_t)cost_at(left, right, match, x, y, x - d - match->min_disparity);
}

static int penalty(const struct plx_match *match, int step)
{
    if (match->p2_scale == 0)
        return match->p2;
    int p2 = match->p2 * match->p2_scale / (match->p2_scale + step);
    return p2 < match->p2_min ? match->p2_min : p2;
}

/* L at one pixel from L at its predecessor. */
static void step(const int *last, const uint8_t *cost, int disparities, int p1, int p2, int *ret_l)
{
    int least = last[0];
    for (int d = 1; d < disparities; d++)
        if (last[d] < least)
            least = last[d];
    for (int d = 0; d < disparities; d++) {
        int best = least + p2;
        if (last[d] < best)
            best = last[d];
        if (d > 0 && last[d - 1] + p1 < best)
            best = last[d - 1] + p1;
        if (d < disparities - 1 && last[d + 1] + p1 < best)
            best = last[d + 1] + p1;
        ret_l[d] = cost[d] + best - least;
    }
}

/* Follows the path in direction (dx, dy) from the border pixel (x, y) until it leaves the image. */
static void follow(const uint8_t *cost, const struct plx_image *grey, const struct plx_match *match, int x, int y, int dx,
                   int dy, uint16_t *sum)
{
    const int disparities = match->disparities, p1 = dx != 0 && dy != 0 ? match->p1_diagonal : match->p1_straight;
    int lines[2][256] = {{0}}, *last = lines[0], *l = lines[1];

    for (bool first = true; x >= 0 && x < grey->width && y >= 0 && y < grey->height; x += dx, y += dy, first = false) {
        const size_t at = ((size_t)y * (size_t)grey->width + (size_t)x) * (size_t)disparities;
        if (first) {
            for (int d = 0; d < disparities; d++)
                l[d] = cost[at + (size_t)d];
        } else {
            const uint8_t *row = plx_row(grey, y), *last_row = plx_row(grey, y - dy);
            step(last, cost + at, disparities, p1, penalty(match, abs(row[x] - last_row[x - dx])), l);
        }
        for (int d = 0; d < disparities; d++)
            sum[at + (size_t)d] = (uint16_t)(sum[at + (size_t)d] + l[d]);
        int *other = last;
        last = l;
        l = other;
    }
}

void oracle_aggregate(const uint8_t *cost, const struct plx_image *grey, const struct plx_match *match, uint16_t *ret_sum)
{
    static const int directions[8][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}};
    const size_t count = (size_t)grey->width * (size_t)grey->height * (size_t)match->disparities;

    for (size_t i = 0; i < count; i++)
        ret_sum[i] = 0;
    for (int path = 0; path < match->paths; path++) {
        const int dx = directions[path][0], dy = directions[path][1];
        for (int y = 0; y < grey->height; y++) {
            for (int x = 0; x < grey->width; x++) {
                bool start = x - dx < 0 || x - dx >= grey->width || y - dy < 0 || y - dy >= grey->height;
                if (start)
                    follow(cost, grey, match, x, y, dx, dy, ret_sum);
            }
        }
    }
}

/* The shift in 1/256 px for t = lo / hi in 64ths: round(64 (1 - t)(1 + 1 / (1 + t))). */
static int blend(int lo, int hi)
{
    int k = hi > 0 ? lo * 64 / hi : 64;
    return (2 * (64 - k) * (128 + k) + (64 + k)) / (2 * (64 + k));
}

static int subpixel(enum plx_subpixel kind, int d, int l, int c, int r)
{
    int k = l - 2 * c + r;
    if (kind == PLX_SUBPIXEL_PARABOLA && k > 0)
        return 16 * d + ((l - r) * 16 + k) / (2 * k);
    if (kind == PLX_SUBPIXEL_BLEND) {
        int a = l - c, b = r - c, shift = (blend(a < b ? a : b, a < b ? b : a) + 8) >> 4;
        return l > r ? 16 * d + shift : 16 * d - shift;
    }
    return 16 * d;
}

static void winner_left(const uint16_t *sum, const struct plx_match *match, const struct plx_candidates *candidates, int x,
                        int y)
{
    const int disparities = match->disparities;
    int best = 0, second = 0xFFFF;

    for (int d = 1; d < disparities; d++)
        if (sum[d] < sum[best])
            best = d;
    for (int d = 0; d < disparities; d++)
        if (abs(d - best) > 1 && sum[d] < second)
            second = sum[d];
    int value = 16 * best;
    if (best > 0 && best < disparities - 1)
        value = subpixel(match->subpixel, best, sum[best - 1], sum[best], sum[best + 1]);
    if (match->uniqueness > 0 && second * match->uniqueness < sum[best] * 1000)
        value = PLX_DISPARITY_INVALID;
    ((uint16_t *)plx_row(&candidates->left, y))[x] = (uint16_t)value;
    ((uint16_t *)plx_row(&candidates->raw, y))[x] = (uint16_t)best;
    ((uint16_t *)plx_row(&candidates->s1, y))[x] = sum[best];
    ((uint16_t *)plx_row(&candidates->s2, y))[x] = (uint16_t)second;
}

void oracle_winner(const uint16_t *sum, const struct plx_match *match, const struct plx_candidates *ret_candidates)
{
    const int width = ret_candidates->left.width, height = ret_candidates->left.height, disparities = match->disparities;

    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const uint16_t *here = sum + ((size_t)y * (size_t)width + (size_t)x) * (size_t)disparities;
            winner_left(here, match, ret_candidates, x, y);
            int best = 0;
            for (int d = 1; d < disparities && x + d < width; d++)
                if (here[d * disparities + d] < here[best * disparities + best])
                    best = d;
            ((uint16_t *)plx_row(&ret_candidates->right, y))[x] = (uint16_t)best;
        }
    }
}

void oracle_sgm(const struct plx_features *left, const struct plx_features *right, const struct plx_image *grey,
                const struct plx_match *match, const struct plx_candidates *ret_candidates)
{
    const size_t count = (size_t)grey->width * (size_t)grey->height * (size_t)match->disparities;
    uint8_t *cost = calloc(count, 1);
    uint16_t *sum = calloc(count, sizeof *sum);

    if (!cost || !sum) {
        fprintf(stderr, "no memory for an oracle's volumes\n");
        exit(1);
    }
    oracle_cost(left, right, match, cost);
    oracle_aggregate(cost, grey, match, sum);
    oracle_winner(sum, match, ret_candidates);
    free(sum);
    free(cost);
}
