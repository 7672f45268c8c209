/* SPDX-License-Identifier: Apache-2.0 */
/* From the path of a column to its stixels and its scan (core/stixels.h), by a warp: a lane looks at every 32nd cell. */
#ifndef PLX_GPU_OBSTACLES_COLUMNS_PIECES_CUH
#define PLX_GPU_OBSTACLES_COLUMNS_PIECES_CUH

#include "gpu/device/reduce.cuh"

#include "core/stixels.h"

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
static __device__ __forceinline__ int plx_warp_median(const struct plx_column &column, const struct plx_piece &piece,
                                                      int support)
{
    int low = PLX_CELL_LIMIT, high = -PLX_CELL_LIMIT;

    for (int y = piece.top + (int)threadIdx.x % 32; y <= piece.foot; y += 32) {
        const int value = column.value[y];
        const bool counts = plx_cell_supports(&column, y);
        low = counts && value < low ? value : low;
        high = counts && value > high ? value : high;
    }
    low = (int)plx_warp_min((uint32_t)(low + PLX_CELL_LIMIT)) - PLX_CELL_LIMIT;
    high = (int)plx_warp_max((uint32_t)(high + PLX_CELL_LIMIT)) - PLX_CELL_LIMIT;
    while (low < high) {
        const int middle = (low + high) >> 1;
        const bool more = plx_count_rows(piece, [&](int y) {
                              return plx_cell_supports(&column, y) && column.value[y] <= middle;
                          }) > support / 2;
        high = more ? middle : high;
        low = more ? low : middle + 1;
    }
    return low;
}

/* plx_piece_near: lane i finds the i-th nearest value, the largest below the one before; of equals the lowest row is first. */
static __device__ __forceinline__ int plx_warp_near(const struct plx_column &column, const struct plx_piece &piece,
                                                    int otherwise)
{
    const int lane = threadIdx.x % 32;
    uint32_t key = 0xFFFFFFFFu, mine = 0;
    int count = 0;

    PLX_UNROLL(1)
    for (int i = 0; i < PLX_NEAREST_KEPT && key > 0; i++) {
        const uint32_t before = key;
        key = 0; /* none, as no value that counts is unknown */
        for (int y = piece.top + lane; y <= piece.foot; y += 32) {
            const uint32_t here = (uint32_t)(column.value[y] - PLX_CELL_UNKNOWN) << 16 | (uint32_t)y;
            if (here > key && here < before && plx_cell_blocks(&column, y))
                key = here;
        }
        key = plx_warp_max(key);
        mine = lane == i ? key : mine;
        count += key > 0;
    }
    const int value = (int)(mine >> 16) + PLX_CELL_UNKNOWN, third = __shfl_down_sync(PLX_ALL_LANES, value, 2);
    const uint32_t outliers = __ballot_sync(PLX_ALL_LANES, lane + 3 < count && 10 * third < 9 * value);
    const int leading = __ffs((int)~outliers) - 1;
    const int nearest = __shfl_sync(PLX_ALL_LANES, value, max(min(leading + 2, count - 1), 0));
    return count > 0 ? nearest : otherwise;
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

/* plx_column_free. A cell is too far from the last one below it where none of the PLX_FREE_GAP bits before its own is set. */
static __device__ __forceinline__ int plx_warp_free(const struct plx_column &column)
{
    const int lane = threadIdx.x % 32;
    uint32_t below = 0, least = PLX_SCAN_NOTHING_FREE; /* BELOW: the bits of the 32 cells below */
    bool started = false;

    for (int base = column.rows - 1; base >= 0; base -= 32) {
        const int row = base - lane;
        const uint32_t seen = row >= 0 ? (uint32_t)plx_seen_ground(&column, row) : PLX_SCAN_NOTHING_FREE;
        const uint32_t found = __ballot_sync(PLX_ALL_LANES, seen < PLX_SCAN_NOTHING_FREE);
        uint64_t near = ((uint64_t)found << 32 | below) << 1; /* then for 2, 4 and 8 cells */
        near |= near << 1;
        near |= near << 2;
        near |= near << 4;
        static_assert(PLX_FREE_GAP == 8, "the bits of so many cells");
        const uint32_t after_first = started ? PLX_ALL_LANES : found ? ~(found ^ (found - 1)) : 0;
        const uint32_t far = ~(uint32_t)(near >> 32) & after_first;
        const uint32_t reached = far ? (far & (0 - far)) - 1 : PLX_ALL_LANES;
        least = min(least, plx_warp_min(reached >> lane & 1 ? seen : PLX_SCAN_NOTHING_FREE));
        if (far)
            break;
        started = started || found;
        below = found;
    }
    return (int)least;
}

/* plx_column_publish */
static __device__ __forceinline__ void plx_warp_publish(const struct plx_column &column, struct plx_scan *ret_scan,
                                                        struct plx_stixel *ret_stixels)
{
    const int lane = threadIdx.x % 32;
    struct plx_stixel mine = {}, stixel;
    struct plx_piece piece;
    int count = 0, nearest = 0, row = column.rows - 1;

    PLX_UNROLL(1)
    while (plx_warp_piece_next(column, &row, &piece)) {
        const int support = plx_count_rows(piece, [&](int y) { return plx_cell_supports(&column, y); });
        bool holds = plx_piece_holds(&piece, support);
        if (holds) {
            const int d = plx_warp_median(column, piece, support), near = plx_warp_near(column, piece, d);
            holds = plx_piece_describe(&column, &piece, support, d, near, &stixel);
        }
        if (holds) {
            count = plx_warp_insert(stixel, count, &mine);
            nearest = plx_stixel_blocks(&stixel) ? max(nearest, (int)stixel.near_disparity) : nearest;
        }
    }
    if (lane < PLX_COLUMN_STIXELS)
        ret_stixels[lane] = mine;
    const int ground = plx_warp_free(column);
    if (lane == 0)
        *ret_scan = plx_column_scan(count, nearest, ground);
}

#endif
