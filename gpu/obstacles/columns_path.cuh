/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path through a column of cells (core/columns.h), by a warp. Each lane holds N neighbouring states of things, two in a
 * register, and lanes 0 .. 10 a state of ground. Costs are P - M times 4: the low bits of the four sums of a state then say
 * which was the least, in the order of the rule, and are all that tracing back needs.
 */
#ifndef PLX_GPU_OBSTACLES_COLUMNS_PATH_CUH
#define PLX_GPU_OBSTACLES_COLUMNS_PATH_CUH

#include "gpu/device/packed.cuh"
#include "gpu/device/reduce.cuh"

#include "core/columns.h"

enum { PLX_PATH_STAY, PLX_PATH_LOWER, PLX_PATH_UPPER, PLX_PATH_FROM_LEAST }; /* the predecessor, in the order of ties */
#define PLX_PATH_SUM(cost, from) (4 * (cost) + (from))
#define PLX_PATH_NEVER 0x4000 /* a cost that no predecessor has */

#define PLX_THING_REACH 52 /* 1/16 px: what is farther off costs PLX_PATH_WRONG */

/* What a row of N states leaves for tracing back, in each lane: 2 bits for each state of a thing, then 2 for that of ground. */
template <int N> using plx_path_word = typename std::conditional<N == 8, uint32_t, uint16_t>::type;

/* Costs of N things for each distance of the first one from the value, 4 times; the last entry is that of an unknown value. */
template <int N> struct plx_thing_table {
    static constexpr int unknown = 2 * PLX_THING_REACH + PLX_DISPARITY_ONE * (N - 1) + 1;
    alignas(2 * N) uint16_t cost[unknown + 1][N];

    /* All threads of the block call it. */
    __device__ void fill()
    {
        for (int i = threadIdx.x; i < (unknown + 1) * N; i += blockDim.x) {
            const int away = abs(i / N - PLX_THING_REACH - PLX_DISPARITY_ONE * (i % N));
            cost[i / N][i % N] =
                (uint16_t)(4 * (i / N == unknown ? PLX_THING_UNKNOWN : plx_path_cost(away, PLX_THING_TOLERANCE)));
        }
    }

    /* The entry of VALUE for N states whose first one lies at AT. */
    __device__ plx_vector<uint32_t, N / 2> look_up(int value, int at) const
    {
        const int away = plx_clamp(value - at + PLX_THING_REACH, 0, unknown - 1);
        return *(const plx_vector<uint32_t, N / 2> *)cost[value == PLX_CELL_UNKNOWN ? unknown : away];
    }
};

/* One column of ROWS cells, row 0 at the top. */
template <int N> struct plx_warp_path {
    const plx_thing_table<N> *table;
    int rows, at;             /* AT: of the lane's first state */
    int valid, factor;        /* of the ground: whether there is one, and of the lane's k: plx_ground_raised */
    const int16_t *value, *g; /* [rows], shared memory */
    plx_path_word<N> *word;   /* [rows][32], device memory */
    uint16_t *state;          /* [rows], shared memory: first the least state of each row, then that of the path */
};

/* 4 times plx_ground_cost, with FACTOR of the lane's k. */
template <int N> static __device__ __forceinline__ uint32_t plx_lane_ground_cost(const plx_warp_path<N> &path, int row)
{
    const int value = path.value[row], g = path.g[row], raised = g * path.factor >> 16;
    const int cost = value == PLX_CELL_UNKNOWN ? 0 : plx_path_cost(abs(value - raised), PLX_THING_TOLERANCE + (raised >> 6));
    return 4 * (!path.valid || g < PLX_GROUND_LEAST ? PLX_PATH_IMPOSSIBLE : cost);
}

/* From the bottom row up: the predecessors of all states, and the least state of each row. */
template <int N> static __device__ __forceinline__ void plx_follow_path(const plx_warp_path<N> &path)
{
    constexpr int words = N / 2;
    const int lane = threadIdx.x % 32;
    const bool first = lane == 0, last = lane == 31, on_ground = lane < PLX_PATH_GROUNDS;
    const uint32_t lower = plx_broadcast2(PLX_PATH_SUM(PLX_PATH_THING_STEP, PLX_PATH_LOWER)),
                   upper = plx_broadcast2(PLX_PATH_SUM(PLX_PATH_THING_STEP, PLX_PATH_UPPER)),
                   jump = plx_broadcast2(PLX_PATH_SUM(PLX_PATH_JUMP, PLX_PATH_FROM_LEAST)),
                   never = plx_broadcast2(PLX_PATH_NEVER);
    uint32_t p[words] = {}, ground = on_ground ? 0 : PLX_PATH_NEVER;

    PLX_UNROLL(2)
    for (int y = path.rows - 1; y >= 0; y--) {
        const plx_vector<uint32_t, words> cost = path.table->look_up(path.value[y], path.at);
        const uint32_t below = __shfl_up_sync(PLX_ALL_LANES, p[words - 1], 1), above = __shfl_down_sync(PLX_ALL_LANES, p[0], 1);
        uint32_t before = first ? never : below, decisions = 0, least = PLX_PACKED_MAX;
#pragma unroll
        for (int i = 0; i < words; i++) {
            const uint32_t after = i + 1 < words ? p[i + 1] : last ? never : above;
            const uint32_t from_lower = __byte_perm(before, p[i], 0x5432), from_upper = __byte_perm(p[i], after, 0x5432);
            before = p[i];
            const uint32_t sum = plx_min2(plx_add_min(from_lower, lower, p[i]), plx_add_min(from_upper, upper, jump));
            decisions |= (sum & 3 | sum >> 14 & 12) << 4 * i;
            p[i] = (sum & 0xFFFCFFFCu) + cost.at[i];
            least = plx_min2(least, (p[i] << 3) + (2 * i + 1 << 16 | 2 * i)); /* P is below 512, so the index fits below it */
        }
        least = min(least & 0xFFFF, least >> 16);

        const uint32_t ground_lower = __shfl_up_sync(PLX_ALL_LANES, ground, 1), /* lane 0's own, which is never less */
            ground_upper = __shfl_down_sync(PLX_ALL_LANES, ground, 1);
        const uint32_t ground_sum = min(min(ground, ground_lower + PLX_PATH_SUM(PLX_PATH_GROUND_STEP, PLX_PATH_LOWER)),
                                        min(ground_upper + PLX_PATH_SUM(PLX_PATH_GROUND_STEP, PLX_PATH_UPPER), jump & 0xFFFF));
        const uint32_t on = (ground_sum & ~3u) + plx_lane_ground_cost(path, y);
        path.word[32 * y + lane] = (plx_path_word<N>)(decisions | (ground_sum & 3) << 2 * N);

        const uint32_t thing_key = (least >> 3) << 16 | (N * lane + (least & 7));
        const uint32_t ground_key = on << 16 | (32 * N + lane);
        const uint32_t key = plx_warp_min(on_ground ? min(thing_key, ground_key) : thing_key), m = key >> 16;
#pragma unroll
        for (int i = 0; i < words; i++)
            p[i] -= plx_broadcast2(m);
        ground = on_ground ? on - m : PLX_PATH_NEVER;
        if (first)
            path.state[y] = (uint16_t)key;
    }
}

/* State of the row below, whose least state is LEAST, of a path that has STATE in the row of WORD. All lanes get it. */
template <int N> static __device__ __forceinline__ int plx_trace_step(uint32_t word, int state, int least)
{
    const bool thing = state < 32 * N;
    const int lane = thing ? state / N : state - 32 * N, shift = thing ? 2 * (state % N) : 2 * N;
    const uint32_t from = __shfl_sync(PLX_ALL_LANES, word, lane) >> shift & 3;
    return from == PLX_PATH_FROM_LEAST ? least : state + (from == PLX_PATH_UPPER) - (from == PLX_PATH_LOWER);
}

/* From the top row down: replaces the least states by those of the path. The words of AHEAD rows are on their way. */
template <int N> static __device__ __forceinline__ void plx_trace_path(const plx_warp_path<N> &path)
{
    constexpr int ahead = 8;
    const int lane = threadIdx.x % 32, last = path.rows - 1;
    uint32_t next[ahead];
    int state = path.state[0];

#pragma unroll
    for (int i = 0; i < ahead; i++)
        next[i] = path.word[32 * min(i, last) + lane];
    for (int y = 1; y <= last; y += ahead) {
        uint32_t word[ahead];
#pragma unroll
        for (int i = 0; i < ahead; i++) {
            word[i] = next[i];
            next[i] = path.word[32 * min(y - 1 + ahead + i, last) + lane];
        }
#pragma unroll
        for (int i = 0; i < ahead; i++)
            if (y + i <= last) {
                state = plx_trace_step<N>(word[i], state, path.state[y + i]);
                __syncwarp(); /* all have read the least state */
                if (lane == 0)
                    path.state[y + i] = (uint16_t)state;
            }
    }
    __syncwarp();
}

#endif
