/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path through a column of cells (core/ground/columns.h), by a warp. Each lane holds N neighbouring states of things, two
 * in a register, and lanes 0 .. 12 a state of ground each. Costs are P - M times 4: the low bits of the four sums of a state
 * then say which was the least, in the order of the rule, and are all that tracing back needs.
 *
 * A place names a state by where its bits lie: the lane times 32, plus the first bit in the lane's word, plus PLX_PLACE_GROUND
 * for ground. Places are in the order of states.
 */
#ifndef PLX_GPU_OBSTACLES_COLUMNS_PATH_CUH
#define PLX_GPU_OBSTACLES_COLUMNS_PATH_CUH

#include "gpu/device/packed.cuh"
#include "gpu/device/reduce.cuh"

#include "core/ground/columns.h"

enum { PLX_PATH_STAY, PLX_PATH_LOWER, PLX_PATH_UPPER, PLX_PATH_FROM_MIN }; /* the predecessor, in the order of ties */
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
    int rows, at;               /* AT: of the lane's first state */
    const int16_t *value;       /* [rows], shared memory */
    const uint8_t *ground_cost; /* [rows][PLX_GROUND_PITCH], 4 times, shared memory */
    plx_path_word<N> *word;     /* [rows][32], device memory */
    uint16_t *state;            /* [rows], shared memory: first the place of each row's least state, then the path's states */
};

#define PLX_GROUND_PITCH 16
#define PLX_PLACE_GROUND 0x8000

/* From the bottom row up: the predecessors of all states, and the least state of each row. */
template <int N> static __device__ __forceinline__ void plx_follow_path(const plx_warp_path<N> &path)
{
    constexpr int words = N / 2;
    const int lane = threadIdx.x % 32;
    const bool first = lane == 0, last = lane == 31, on_ground = lane < PLX_PATH_GROUNDS;
    const uint32_t lower = plx_broadcast2(PLX_PATH_SUM(PLX_PATH_THING_STEP, PLX_PATH_LOWER)),
                   upper = plx_broadcast2(PLX_PATH_SUM(PLX_PATH_THING_STEP, PLX_PATH_UPPER)),
                   jump = plx_broadcast2(PLX_PATH_SUM(PLX_PATH_JUMP, PLX_PATH_FROM_MIN)),
                   never = plx_broadcast2(PLX_PATH_NEVER);
    const uint8_t *ground_cost = path.ground_cost + lane % PLX_GROUND_PITCH;
    uint32_t p[words] = {}, ground = on_ground ? 0 : PLX_PATH_NEVER;

    PLX_UNROLL(2)
    for (int y = path.rows - 1; y >= 0; y--) {
        const plx_vector<uint32_t, words> cost = path.table->look_up(path.value[y], path.at);
        const uint32_t below = __shfl_up_sync(PLX_ALL_LANES, p[words - 1], 1), above = __shfl_down_sync(PLX_ALL_LANES, p[0], 1);
        const uint32_t ground_below = __shfl_up_sync(PLX_ALL_LANES, ground, 1), /* lane 0's own, which is never less */
            ground_above = __shfl_down_sync(PLX_ALL_LANES, ground, 1);
        uint32_t before = first ? never : below, decisions = 0, least = PLX_PACKED_MAX;
#pragma unroll
        for (int i = 0; i < words; i++) {
            const uint32_t after = i + 1 < words ? p[i + 1] : last ? never : above;
            const uint32_t from_lower = __byte_perm(before, p[i], 0x5432), from_upper = __byte_perm(p[i], after, 0x5432);
            before = p[i];
            const uint32_t sum = plx_min2(plx_add_min(from_lower, lower, p[i]), plx_add_min(from_upper, upper, jump));
            const uint32_t from = sum & 0x00030003u;
            decisions += from << 4 * i;
            p[i] = sum - from + cost.at[i];
            least = plx_min2(least, (p[i] << 4) + ((4 * i + 2) << 16 | 4 * i)); /* P is below 512; then the place's bit */
        }
        least = min(least & 0xFFFF, least >> 16);
        const uint32_t ground_sum = min(min(ground, ground_below + PLX_PATH_SUM(PLX_PATH_GROUND_STEP, PLX_PATH_LOWER)),
                                        min(ground_above + PLX_PATH_SUM(PLX_PATH_GROUND_STEP, PLX_PATH_UPPER), jump & 0xFFFF));
        const uint32_t ground_from = ground_sum & 3;
        const uint32_t on = ground_sum - ground_from + ground_cost[PLX_GROUND_PITCH * y];
        const uint32_t key = least >> 4 << 16 | (least & 15) | 32 * lane;
        const uint32_t ground_key = on << 16 | PLX_PLACE_GROUND | 32 * lane | 2 * N;
        const uint32_t best = plx_warp_min(on_ground ? min(key, ground_key) : key);

        decisions = (decisions | decisions >> 14) & ((1u << (2 * N - 1) << 1) - 1);
        path.word[32 * y + lane] = (plx_path_word<N>)(decisions | ground_from << 2 * N);
#pragma unroll
        for (int i = 0; i < words; i++)
            p[i] -= (best >> 16) * 0x10001u;
        ground = on_ground ? on - (best >> 16) : PLX_PATH_NEVER;
        if (first)
            path.state[y] = (uint16_t)best;
    }
}

/* Place of the predecessor of PLACE in a row whose lanes have WORD; LEAST: place of the least state there. */
template <int N> static __device__ __forceinline__ int plx_place_before(uint32_t word, int place, int least)
{
    const int bit = place % 32, lane_down = 32 - 2 * (N - 1); /* from the first state of a lane to the last of the one before */
    const int down = bit == 2 * N ? 32 : bit == 0 ? lane_down : 2, up = bit == 2 * N ? 32 : bit == 2 * (N - 1) ? lane_down : 2;
    const uint32_t from = __shfl_sync(PLX_ALL_LANES, word, place >> 5) >> bit & 3;
    const int near = from == PLX_PATH_STAY ? place : from == PLX_PATH_LOWER ? place - down : place + up;
    return from == PLX_PATH_FROM_MIN ? least : near;
}

template <int N> static __device__ __forceinline__ int plx_state_of(int place)
{
    const int lane = place / 32 % 32, bit = place % 32;
    return place & PLX_PLACE_GROUND ? 32 * N + lane : N * lane + bit / 2;
}

/* From the top row down: replaces the places of the least states by the states of the path. AHEAD rows at a time, whose words
 * were asked for AHEAD rows earlier. */
template <int N> static __device__ __forceinline__ void plx_trace_path(const plx_warp_path<N> &path)
{
    constexpr int ahead = 8;
    const int lane = threadIdx.x % 32, last = path.rows - 1;
    uint32_t next[ahead];
    int place = path.state[0];

#pragma unroll
    for (int i = 0; i < ahead; i++)
        next[i] = path.word[32 * min(i, last) + lane];
    __syncwarp();
    if (lane == 0)
        path.state[0] = (uint16_t)plx_state_of<N>(place);
    PLX_UNROLL(1)
    for (int y = 1; y <= last; y += ahead) {
        uint32_t word[ahead];
        int least[ahead], mine = 0;
#pragma unroll
        for (int i = 0; i < ahead; i++) {
            word[i] = next[i];
            next[i] = path.word[32 * min(y - 1 + ahead + i, last) + lane];
            least[i] = path.state[min(y + i, last)];
        }
#pragma unroll
        for (int i = 0; i < ahead; i++) { /* below the last row: without meaning, and not stored */
            place = plx_place_before<N>(word[i], place, least[i]);
            mine = lane == i ? place : mine;
        }
        __syncwarp(); /* all have read the least states */
        if (lane < ahead && y + lane <= last)
            path.state[y + lane] = (uint16_t)plx_state_of<N>(mine);
    }
    __syncwarp();
}

#endif
