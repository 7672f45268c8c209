/* SPDX-License-Identifier: Apache-2.0 */
/* A warp of a strip, or beside it: its rows. */
#ifndef PLX_GPU_SGM_BAND_WALKER_CUH
#define PLX_GPU_SGM_BAND_WALKER_CUH

#include "gpu/sgm_band_place.cuh"

/* SECOND: of the second half of its sweep. */
template <class S, bool VARYING, bool SECOND> struct band_walker : band_place<S> {
    typedef band_keys<S::D> KEYS;
    typedef band_place<S> place;
    using place::a, place::dx, place::exists, place::first, place::g, place::lane, place::last, place::load, place::mirrored,
        place::own, place::rows, place::rows_needed, place::save, place::sweep, place::warp, place::x;
    static constexpr int COLS = S::COLS, THREADS = S::THREADS;

    const plx_neighbours<THREADS> beside;
    uint32_t ring, edges, give, take; /* addresses: costs; L between warps, what this one leaves and what it finds */
    uint32_t straight[COLS][8], left[COLS][8], right[COLS][8]; /* L; beside the strip only LEFT, of the path that leads there */
    uint32_t into_left[8], into_right[8];                      /* L of the columns before the first and behind the last */
    uint32_t words[COLS];                                      /* penalties of the next row */
    const uint4 *fetched;
    uint4 *sums; /* fetched too, or left */
    int fetch_step;
    uint32_t others, keys;  /* addresses: of the strip, what others have added up; keys of the first column, */
    int least, keys_of_row; /* and how far from there to their least, and to the next row */

    __device__ __forceinline__ band_walker(const band_args &args, uint32_t shared, int number)
        : place(args, number), beside(lane)
    {
        ring = shared + warp * S::RING_BYTES + lane * 16;
        edges = shared + (2 * S::BESIDE + a.own) * S::RING_BYTES;
        give = own ? (first ? edge(true, warp - 1) : edge(false, warp + 1)) : edge(mirrored, warp + dx);
        take = own ? edge(last, warp) : edge(mirrored, warp);
        plx_keep(give), plx_keep(take), plx_keep(first), plx_keep(last);

        fetch_step = (sweep ? -1 : 1) * a.width * THREADS;
        fetched = a.cost + ((int64_t)a.y[sweep] * a.width + x) * THREADS + g;
        sums = a.sums + ((int64_t)a.y[sweep] * a.width + x) * 2 * THREADS + g;
        if (SECOND) {
            const band_memory<S> memory(a.own, true);
            others = shared + memory.others + place::of_strip * S::OTHERS * S::RING_BYTES + lane * 16;
            keys = shared + memory.keys + ((x - (int)blockIdx.x * a.own * S::COLUMNS) * KEYS::pitch + KEYS::word(8 * g)) * 4;
            least = (KEYS::words + g - KEYS::word(8 * g)) * 4;
            keys_of_row = memory.keys_of_row;
        }
    }

    /* Chunk I of column C in row ROW of what others have added up. */
    __device__ __forceinline__ uint32_t other(int row, int c, int i) const
    {
        return others + ((row & (S::AHEAD - 1)) * S::OTHERS * COLS + c * S::OTHERS + i) * WARP * 16;
    }

    /* Costs of row ROW into its place of the ring; beside the picture they are 0, and so is then every L that comes from there.
     */
    __device__ __forceinline__ void fetch(int row)
    {
        if (row < rows) {
#pragma unroll
            for (int c = 0; c < COLS; c++) {
                const bool there = exists(x + c * dx);
                plx_copy_16_ahead_if(ring + (row & (S::AHEAD - 1)) * S::ROW_BYTES + c * WARP * 16, fetched + c * dx * THREADS,
                                     there);
                if (!SECOND || !own)
                    continue;
                plx_copy_16_ahead_if(other(row, c, 0), sums + c * 2 * THREADS, there);
                plx_copy_16_ahead_if(other(row, c, 1), sums + (c * 2 + 1) * THREADS, there);
                plx_copy_16_ahead_if(other(row, c, 2), fetched + (a.rows_of - a.cost) + c * THREADS, there);
            }
            fetched += fetch_step;
            if (SECOND)
                sums += 2 * fetch_step;
        }
        plx_close_copies();
    }

    __device__ __forceinline__ void look_up(int row)
    {
        if (!VARYING)
            return;
        const uint32_t *at = a.penalty[sweep] + (int64_t)(a.y[sweep] + (sweep ? -row : row)) * a.width;
#pragma unroll
        for (int c = 0; c < COLS; c++)
            words[c] = row < rows ? __ldg(at + plx_clamp(x + c * dx, 0, a.width - 1)) : 0;
    }

    __device__ __forceinline__ uint32_t p2(uint32_t word, int orientation) const
    {
        return VARYING ? __byte_perm(word, 0, 0x4040 | orientation | orientation << 8) : a.p2;
    }
    /* Of paths from the left and from the right: down, they fall and rise; up, they rise and fall. */
    __device__ __forceinline__ uint32_t p2_left(uint32_t word) const
    {
        return p2(word, sweep ? PLX_RISING : PLX_FALLING);
    }
    __device__ __forceinline__ uint32_t p2_right(uint32_t word) const
    {
        return p2(word, sweep ? PLX_FALLING : PLX_RISING);
    }

    /* Where the L of the column before warp READER's first one, or of that behind its last one, passes from warp to warp. */
    __device__ __forceinline__ uint32_t edge(bool behind, int reader) const
    {
        const int warps = 2 * S::BESIDE + a.own;
        return edges + (behind * warps + reader) * S::EDGE_BYTES + g * 16;
    }

    __device__ __forceinline__ uint32_t parity(int row) const
    {
        return (row & 1) * (2 * S::BESIDE + a.own) * 2 * S::EDGE_BYTES;
    }

    __device__ __forceinline__ void publish(int condition, uint32_t to, const uint32_t l[8]) const
    {
        plx_store_shared_16_if(condition, to, make_uint4(l[0], l[1], l[2], l[3]));
        plx_store_shared_16_if(condition, to + THREADS * 16, make_uint4(l[4], l[5], l[6], l[7]));
    }

    __device__ __forceinline__ void receive(int condition, uint32_t from, uint32_t l[8]) const
    {
        plx_load_shared_16_if(condition, from, l);
        plx_load_shared_16_if(condition, from + THREADS * 16, l + 4);
    }

    __device__ __forceinline__ void start(void)
    {
#pragma unroll
        for (int i = 0; i < S::AHEAD - 1; i++)
            fetch(i);
        look_up(0);
        plx_follow();
        if (own) {
#pragma unroll
            for (int c = 0; c < COLS; c++) {
                load(STRAIGHT, x + c, straight[c]);
                load(FROM_LEFT, x + c, left[c]);
                load(FROM_RIGHT, x + c, right[c]);
            }
            load(FROM_LEFT, x - 1, into_left);
            load(FROM_RIGHT, x + COLS, into_right);
        } else {
            const int path = mirrored ? FROM_RIGHT : FROM_LEFT;
#pragma unroll
            for (int c = 0; c < COLS; c++)
                load(path, x + c * dx, left[c]);
            load(path, x - dx, into_left);
        }
    }

    __device__ __forceinline__ uint4 costs_of(int row, int c) const
    {
        return plx_load_shared_16(ring + (row & (S::AHEAD - 1)) * S::ROW_BYTES + c * WARP * 16);
    }

    __device__ __forceinline__ void advance(const uint32_t from[8], uint32_t m, const uint32_t cost[8], uint32_t p1,
                                            uint32_t p2, uint32_t ret_l[8]) const
    {
        plx_advance<THREADS, false>(from, m, cost, p1, p2, beside, ret_l);
    }

    /* S of column C, whose other paths are there, as keys for who finds the winners. */
    __device__ __forceinline__ void leave_keys(int row, int c, uint32_t sum[8]) const
    {
        const uint32_t to = keys + (row & 1) * keys_of_row + c * KEYS::pitch * 4;
        const uint4 low = plx_load_shared_16(other(row, c, 0)), high = plx_load_shared_16(other(row, c, 1));
        uint32_t pair[8];

        plx_unpack(plx_load_shared_16(other(row, c, 2)), pair);
        sum[0] += low.x + pair[0], sum[1] += low.y + pair[1], sum[2] += low.z + pair[2], sum[3] += low.w + pair[3];
        sum[4] += high.x + pair[4], sum[5] += high.y + pair[5], sum[6] += high.z + pair[6], sum[7] += high.w + pair[7];
        plx_make_keys(sum, g);
        plx_store_shared_16_if(exists(x + c), to, make_uint4(sum[0], sum[1], sum[2], sum[3]));
        plx_store_shared_16_if(exists(x + c), to + 16, make_uint4(sum[4], sum[5], sum[6], sum[7]));
        plx_store_shared_4_if(exists(x + c), to + least, plx_least_of_8(sum));
    }

    /* A row of the strip: three paths, and their sums with one more C: so the two sweeps together have all eight of it, for
     * rows are summed up without. */
    __device__ __forceinline__ void step_own(int row)
    {
        uint32_t from[PATHS * COLS][8], m[PATHS * COLS];

        plx_await_copies<S::AHEAD - 2>();
        fetch(row + S::AHEAD - 1);
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            plx_copy_8(from[PATHS * c + STRAIGHT], straight[c]);
            plx_copy_8(from[PATHS * c + FROM_LEFT], c == 0 ? into_left : left[c - 1]);
            plx_copy_8(from[PATHS * c + FROM_RIGHT], c == COLS - 1 ? into_right : right[c + 1]);
        }
        plx_least_of_each<THREADS>(from, m);
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            const uint32_t *of = m + PATHS * c;
            uint32_t cost[8];

            plx_unpack(costs_of(row, c), cost);
            advance(from[PATHS * c + FROM_LEFT], of[FROM_LEFT], cost, a.p1_diagonal, p2_left(words[c]), left[c]);
            advance(from[PATHS * c + FROM_RIGHT], of[FROM_RIGHT], cost, a.p1_diagonal, p2_right(words[c]), right[c]);
            advance(from[PATHS * c], of[STRAIGHT], cost, a.p1_straight, p2(words[c], PLX_VERTICAL), straight[c]);
            const uint32_t excess = of[STRAIGHT] + of[FROM_LEFT] + of[FROM_RIGHT];
#pragma unroll
            for (int i = 0; i < 8; i++)
                cost[i] += straight[c][i] + left[c][i] + right[c][i] - excess;
            if (SECOND)
                leave_keys(row, c, cost);
            else if (exists(x + c)) {
                plx_store_16(sums + c * 2 * THREADS, make_uint4(cost[0], cost[1], cost[2], cost[3]));
                plx_store_16(sums + (c * 2 + 1) * THREADS, make_uint4(cost[4], cost[5], cost[6], cost[7]));
            }
        }
        look_up(row + 1);
        publish(last, give + parity(row), left[COLS - 1]);
        publish(first, give + parity(row), right[0]);
        if (!SECOND)
            sums += 2 * fetch_step;
    }

    /* A row beside it: the path that leads there. */
    __device__ __forceinline__ void step_beside(int row)
    {
        uint32_t from[COLS][8], m[COLS];

        plx_await_copies<S::AHEAD - 2>();
        fetch(row + S::AHEAD - 1);
#pragma unroll
        for (int c = 0; c < COLS; c++)
            plx_copy_8(from[c], c == 0 ? into_left : left[c - 1]);
        plx_least_of_each<THREADS>(from, m);
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            uint32_t cost[8];
            plx_unpack(costs_of(row, c), cost);
            advance(from[c], m[c], cost, a.p1_diagonal, mirrored ? p2_right(words[c]) : p2_left(words[c]), left[c]);
        }
        look_up(row + 1);
        publish(last, give + parity(row), left[COLS - 1]);
    }

    /* What the next row needs from the columns beside. Two places for it in turn, so one barrier a row is enough. The outermost
     * columns get anything. */
    __device__ __forceinline__ void exchange(int row)
    {
        const uint32_t at = take + parity(row);
#pragma unroll
        for (int i = 0; i < 8; i++)
            into_left[i] = __shfl_up_sync(PLX_ALL_LANES, left[COLS - 1][i], THREADS);
        if (own) {
#pragma unroll
            for (int i = 0; i < 8; i++)
                into_right[i] = __shfl_down_sync(PLX_ALL_LANES, right[0][i], THREADS);
        }
        band_barrier();
        receive(first, at, into_left);
        if (own)
            receive(last, at, into_right);
    }

    __device__ __forceinline__ void walk(void)
    {
        start();
        for (int row = 0; row < rows; row++) {
            if (own)
                step_own(row);
            else if (row < rows_needed)
                step_beside(row);
            if (SECOND || row + 1 < rows) /* then who finds winners waits too */
                exchange(row);
        }
        if (!own)
            return;
        uint32_t all[PATHS * COLS][8], m[PATHS * COLS];
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            plx_copy_8(all[PATHS * c], straight[c]);
            plx_copy_8(all[PATHS * c + FROM_LEFT], left[c]);
            plx_copy_8(all[PATHS * c + FROM_RIGHT], right[c]);
        }
        plx_least_of_each<THREADS>(all, m);
#pragma unroll
        for (int c = 0; c < COLS; c++)
#pragma unroll
            for (int path = 0; path < PATHS; path++)
                save(path, x + c, all[PATHS * c + path], m[PATHS * c + path]);
    }
};

#endif
