/* SPDX-License-Identifier: Apache-2.0 */
/* From the path of a column to its stixels and its scan (core/ground/stixels.h), by a warp: a lane looks at every 32nd cell. */
#ifndef PLX_GPU_OBSTACLES_COLUMNS_PIECES_CUH
#define PLX_GPU_OBSTACLES_COLUMNS_PIECES_CUH

#include "gpu/device/reduce.cuh"

#include "core/ground/stixels.h"

/* A column, and what its cells say of their pieces: their value above PLX_CELL_UNKNOWN, or 0. In shared memory. */
struct plx_warp_column {
    struct plx_column column;
    uint16_t *supporting; /* [rows], 0 where the cell does not support its piece */
    uint16_t *blocking;   /* [rows], 0 where plx_cell_blocks is false */
};

static __device__ __forceinline__ void plx_find_supports(const struct plx_warp_column &w)
{
    for (int y = threadIdx.x % 32; y < w.column.rows; y += 32) {
        const bool thing = !plx_on_ground(&w.column, y);
        const uint16_t value = (uint16_t)(w.column.value[y] - PLX_CELL_UNKNOWN);
        w.supporting[y] = thing && plx_cell_supports(&w.column, y) ? value : 0;
        w.blocking[y] = thing && plx_cell_blocks(&w.column, y) ? value : 0;
    }
    __syncwarp();
}

/* The largest row of FROM down to TO for which IS is true; TO - 1 if there is none. */
template <class Is> static __device__ __forceinline__ int plx_last_row(int from, int to, Is is)
{
    const int lane = threadIdx.x % 32;

    for (int base = from; base >= to; base -= 32) {
        const int row = base - lane;
        const uint32_t found = __ballot_sync(PLX_ALL_LANES, row >= to && is(row));
        if (found)
            return base - (__ffs((int)found) - 1);
    }
    return to - 1;
}

/* How many rows of PIECE there are for which IS is true. */
template <class Is> static __device__ __forceinline__ int plx_count_rows(const struct plx_piece &piece, Is is)
{
    int count = 0;

    for (int base = piece.top; base <= piece.foot; base += 32) {
        const int row = base + (int)threadIdx.x % 32;
        count += __popc(__ballot_sync(PLX_ALL_LANES, row <= piece.foot && is(row)));
    }
    return count;
}

/* plx_piece_next */
static __device__ __forceinline__ bool plx_warp_piece_next(const struct plx_column &column, int *row,
                                                           struct plx_piece *ret_piece)
{
    const int foot = plx_last_row(*row, 0, [&](int y) { return !plx_on_ground(&column, y); });
    if (foot < 0)
        return false;
    const int k = foot + 1 < column.rows && plx_on_ground(&column, foot + 1) ? plx_ground_k(&column, foot + 1) : 0;
    const int top =
        1 + plx_last_row(foot - 1, 0, [&](int y) {
            return plx_on_ground(&column, y) || !plx_states_connect(column.state[y], column.state[y + 1], column.state[foot]);
        });
    ret_piece->k = k;
    ret_piece->top = top;
    ret_piece->foot = plx_last_row(foot, top, [&](int y) { return !plx_is_behind_ground(&column, y, k); });
    *row = top - 1;
    return true;
}

/* plx_piece_median */
static __device__ __forceinline__ int plx_warp_median(const uint16_t *supporting, const struct plx_piece &piece, int support)
{
    uint32_t low = UINT16_MAX, high = 0;

    for (int y = piece.top + (int)threadIdx.x % 32; y <= piece.foot; y += 32) {
        const uint32_t value = supporting[y];
        low = value > 0 ? min(low, value) : low;
        high = max(high, value);
    }
    low = plx_warp_min(low);
    high = plx_warp_max(high);
    PLX_UNROLL(1)
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const int count = plx_count_rows(piece, [&](int y) { return supporting[y] > 0 && supporting[y] <= middle; });
        const bool more = count > support / 2;
        high = more ? middle : high;
        low = more ? low : middle + 1;
    }
    return (int)low + PLX_CELL_UNKNOWN;
}

/* plx_piece_near: finds the nearest values one after the other, each the largest below the one before, of equals the lowest row
 * first, until plx_nearest_pick has what it takes: the third of three that are near each other, or the last. */
static __device__ __forceinline__ int plx_warp_near(const uint16_t *blocking, const struct plx_piece &piece, int otherwise)
{
    uint32_t key = UINT32_MAX;
    int value = otherwise, second = 0, third = 0; /* the nearest so far, from behind */

    PLX_UNROLL(1)
    for (int i = 0; i < PLX_NEAREST_KEPT; i++) {
        const uint32_t before = key;
        key = 0;
        for (int y = piece.top + (int)threadIdx.x % 32; y <= piece.foot; y += 32) {
            const uint32_t here = (uint32_t)blocking[y] << 16 | (uint32_t)y;
            key = here < before && blocking[y] > 0 ? max(key, here) : key;
        }
        key = plx_warp_max(key);
        if (key == 0)
            break;
        third = second;
        second = value;
        value = (int)(key >> 16) + PLX_CELL_UNKNOWN;
        if (i >= 2 && 10 * value >= 9 * third)
            break;
    }
    return value;
}

/* plx_stixel_insert: lane i < COUNT holds stixel i. */
static __device__ __forceinline__ int plx_warp_insert(const struct plx_stixel &stixel, int count, struct plx_stixel *mine)
{
    const int lane = threadIdx.x % 32;
    const int at = __popc(__ballot_sync(PLX_ALL_LANES, lane < count && mine->near_disparity >= stixel.near_disparity));
    uint32_t moved[sizeof *mine / sizeof(uint32_t)];

    memcpy(moved, mine, sizeof moved);
#pragma unroll
    for (int i = 0; i < (int)(sizeof moved / sizeof moved[0]); i++)
        moved[i] = __shfl_up_sync(PLX_ALL_LANES, moved[i], 1);
    if (lane == at)
        *mine = stixel;
    else if (lane > at)
        memcpy(mine, moved, sizeof moved);
    return min(count + 1, PLX_COLUMN_STIXELS);
}

/* plx_column_begin */
static __device__ __forceinline__ int plx_warp_begin(const struct plx_column &column)
{
    const int lane = threadIdx.x % 32;
    for (int base = column.rows - 1; base >= 0; base -= 32) {
        const uint32_t reached = __ballot_sync(PLX_ALL_LANES, lane <= base && plx_reaches_ground(&column, base - lane));
        if (reached)
            return base + 1 - __ffs((int)reached);
    }
    return -1;
}

/* plx_column_free. A cell is too far from the last one below it where none of the PLX_FREE_GAP bits before its own is set. */
static __device__ __forceinline__ int plx_warp_free(const struct plx_column &column, int begin)
{
    const int lane = threadIdx.x % 32;
    uint32_t below = 0, least = PLX_SCAN_NOTHING_FREE; /* BELOW: the bits of the 32 cells below */
    bool started = false;

    for (int base = column.rows - 1; base >= 0; base -= 32) {
        const int row = base - lane;
        const uint32_t seen = row >= 0 ? (uint32_t)plx_seen_ground(&column, row) : PLX_SCAN_NOTHING_FREE;
        const uint32_t found = __ballot_sync(PLX_ALL_LANES, seen < PLX_SCAN_NOTHING_FREE);
        uint64_t near = ((uint64_t)found << 32 | below) << 1; /* then for 2, 4, 8 and 12 cells */
        near |= near << 1;
        near |= near << 2;
        near |= near << 4;
        near |= near << 4;
        static_assert(PLX_FREE_GAP == 12, "the bits of so many cells");
        const uint32_t after_first = started ? PLX_ALL_LANES : found ? ~(found ^ (found - 1)) : 0;
        const uint32_t far = ~(uint32_t)(near >> 32) & after_first;
        const uint32_t reached = far ? (far & (0 - far)) - 1 : PLX_ALL_LANES;
        least = min(least, plx_warp_min(reached >> lane & 1 ? seen : PLX_SCAN_NOTHING_FREE));
        if (far)
            break;
        started = started || found;
        below = found;
    }
    static_assert(PLX_NEAR_CELLS <= 32, "one for each lane");
    const int row = lane < PLX_NEAR_CELLS ? begin - lane : -1;
    const bool near = row >= 0 && plx_seen_ground(&column, row) < PLX_SCAN_NOTHING_FREE;
    return __popc(__ballot_sync(PLX_ALL_LANES, near)) >= PLX_NEAR_SEEN ? (int)least : PLX_SCAN_NOTHING_FREE;
}

/* plx_column_drop: each lane prepares a cell, and all follow the same search. */
static __device__ __forceinline__ int plx_warp_drop(const struct plx_column &column)
{
    const int lane = threadIdx.x % 32, least = column.params->min_drop_mm;
    struct plx_drop_search search = {-1, 0, 0};
    bool over = !plx_drops_are_looked_for(&column);

    for (int base = column.rows - 1; base >= 0 && !over; base -= 32) {
        const struct plx_drop_cell none = {0, 0, 0, 0}, mine = lane <= base ? plx_drop_cell_of(&column, base - lane) : none;
        const uint32_t heights = (uint32_t)mine.height << 16 | (uint32_t)mine.fall;
        const uint32_t needs = (uint32_t)mine.need << 1 | (uint32_t)mine.ground;
        PLX_UNROLL(1)
        for (int i = 0; i < 32 && i <= base && !over; i++) {
            const int both = (int)__shfl_sync(PLX_ALL_LANES, heights, i), rest = (int)__shfl_sync(PLX_ALL_LANES, needs, i);
            const struct plx_drop_cell cell = {both >> 16, both & 0xFFFF, rest >> 1, rest & 1};
            over = plx_drop_look(&search, &cell, base - i, least);
        }
    }
    return plx_drop_edge(&column, &search);
}

/* plx_column_publish */
static __device__ __forceinline__ void plx_warp_publish(const struct plx_warp_column &w, struct plx_scan *ret_scan,
                                                        struct plx_stixel *ret_stixels)
{
    const struct plx_column &column = w.column;
    const int lane = threadIdx.x % 32;
    struct plx_stixel mine = {}, stixel;
    struct plx_piece piece;
    const int begin = plx_warp_begin(column);
    int count = 0, nearest = 0, nearer = 0, row = column.rows - 1;
    bool near_thing = false;

    plx_find_supports(w);
    PLX_UNROLL(1)
    while (plx_warp_piece_next(column, &row, &piece)) {
        const int support = plx_count_rows(piece, [&](int y) { return w.supporting[y] > 0; });
        bool holds = plx_piece_holds(&piece, support);
        if (holds) {
            const int d = plx_warp_median(w.supporting, piece, support), near = plx_warp_near(w.blocking, piece, d);
            holds = plx_piece_describe(&column, &piece, support, d, near, &stixel);
        }
        if (!holds)
            continue;
        const int near = plx_stixel_blocks(&stixel) ? stixel.near_disparity : 0;
        nearer = max(nearer, near);
        if (plx_stixel_has_partner(&column, &stixel)) {
            nearest = max(nearest, near);
            near_thing = near_thing || plx_piece_is_near(&column, &piece, begin);
            count = plx_warp_insert(stixel, count, &mine);
        }
    }
    if (lane < PLX_COLUMN_STIXELS)
        ret_stixels[lane] = mine;
    const int ground = plx_warp_free(column, begin);
    const int drop = plx_warp_drop(column);
    if (lane == 0)
        *ret_scan = plx_column_scan(count, near_thing, nearest, nearer, ground, drop);
}

#endif
