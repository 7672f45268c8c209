/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregation in bands of rows. Two sweeps, downwards and upwards, visit each pixel once and make there the L of the three
 * paths that come from the row before: straight, from the left and from the right. A launch walks one band of each sweep; what
 * it hands to the next launch is L of its last row, a byte a disparity and path.
 *
 * A block has a strip of columns, and walks it without waiting for any other block: beside the strip it has warps for as many
 * columns as the band has rows, each of which makes only the one path that leads into the strip. What they lack themselves,
 * from beyond, makes one column more wrong in each row, and is not in the strip before the band ends.
 *
 * Within a block a path's L goes to the neighbouring column by registers, shuffles or, between warps, shared memory, with one
 * barrier a row.
 */
#ifndef PLX_GPU_SGM_BAND_CUH
#define PLX_GPU_SGM_BAND_CUH

#include "gpu/sgm.cuh"
#include "gpu/sgm_step.cuh"

#define WARP 32
#define SWEEPS 2

enum { STRAIGHT, FROM_LEFT, FROM_RIGHT, PATHS }; /* of a sweep */

struct band_args {
    const uint4 *cost;
    const uint32_t *penalty[SWEEPS]; /* [height][width] */
    const uint4 *before[SWEEPS];     /* [PATHS][width] L of the row before the band, */
    uint4 *after[SWEEPS];            /* and of its last one */
    uint4 *sums[SWEEPS];             /* of the band's first row: a pixel's 16-bit sums are two chunks a thread */
    int sums_step[SWEEPS];           /* chunks from row to row */
    int y[SWEEPS], rows[SWEEPS];     /* the first row, and how many */
    bool begins[SWEEPS];             /* there is no row before */
    int width;
    int own, beside;                       /* warps of the strip, and on each side of it */
    uint32_t p1_straight, p1_diagonal, p2; /* in both halves */
};

/* COLS: neighbouring columns of a thread. */
template <int DISPARITIES, int COLS_OF_THREAD, int ROWS_AHEAD> struct band_shape {
    static constexpr int D = DISPARITIES, COLS = COLS_OF_THREAD, THREADS = D / 16, GROUPS = WARP / THREADS;
    static constexpr int COLUMNS = GROUPS * COLS;  /* of a warp */
    static constexpr int ROWS = D == 256 ? 8 : 16; /* of a band */
    static constexpr int BESIDE = (ROWS - 1 + COLUMNS - 1) / COLUMNS, MOST_WARPS = D == 256 ? 8 : 12;
    static constexpr int AHEAD = ROWS_AHEAD; /* rows whose costs are fetched, a power of two */
    static constexpr int ROW_BYTES = COLS * WARP * 16, RING_BYTES = AHEAD * ROW_BYTES;
    static constexpr int EDGE_BYTES = 2 * THREADS * 16; /* L of a column */
};

/* Shared memory: of each warp the ring of costs; then L that comes from the warps beside: [2 rows][from left, from
 * right][warp]. */
template <class S> static constexpr int band_shared_bytes(int warps)
{
    return warps * (S::RING_BYTES + 4 * S::EDGE_BYTES);
}

template <class S, bool VARYING> struct band_walker {
    static constexpr int COLS = S::COLS, THREADS = S::THREADS;

    const band_args &a;
    const int sweep, lane, warp, group, g, rows;
    const plx_neighbours<THREADS> beside;
    bool own, mirrored; /* of the strip; to the right of it: columns from right to left, so that paths lead to the next one */
    int x, dx;          /* of the first column, and to the next */
    int rows_needed;    /* beside the strip: rows in which the warp has a column of which the strip needs L */
    int first, last;    /* whether this thread has the first, or the last, columns of the warp */
    uint32_t ring, edges, give, take; /* addresses: costs; L between warps, what this one leaves and what it finds */
    uint32_t straight[COLS][8], left[COLS][8], right[COLS][8]; /* L; beside the strip only LEFT, of the path that leads there */
    uint32_t into_left[8], into_right[8];                      /* L of the columns before the first and behind the last */
    uint32_t words[COLS];                                      /* penalties of the next row */
    const uint4 *fetched;
    uint4 *out;
    int fetch_step, out_step; /* from row to row */

    __device__ __forceinline__ band_walker(const band_args &args, uint32_t shared)
        : a(args), sweep(blockIdx.y), lane(threadIdx.x % WARP), warp(__shfl_sync(PLX_ALL_LANES, (int)threadIdx.x / WARP, 0)),
          group(lane / THREADS), g(lane % THREADS), rows(args.rows[blockIdx.y]), beside(lane)
    {
        const int place = warp - a.beside, from = ((int)blockIdx.x * a.own + place) * S::COLUMNS;
        own = place >= 0 && place < a.own;
        mirrored = place >= a.own;
        dx = mirrored ? -1 : 1;
        x = mirrored ? from + S::COLUMNS - 1 - group * COLS : from + group * COLS;
        rows_needed = rows - 1 - (mirrored ? place - a.own : -1 - place) * S::COLUMNS;
        ring = shared + warp * S::RING_BYTES + lane * 16;
        edges = shared + (2 * a.beside + a.own) * S::RING_BYTES;
        first = group == 0, last = group == S::GROUPS - 1;

        give = own ? (first ? edge(true, warp - 1) : edge(false, warp + 1)) : edge(mirrored, warp + dx);
        take = own ? edge(last, warp) : edge(mirrored, warp);
        plx_keep(give), plx_keep(take), plx_keep(first), plx_keep(last);

        fetch_step = (sweep ? -1 : 1) * a.width * THREADS;
        fetched = a.cost + ((int64_t)a.y[sweep] * a.width + x) * THREADS + g;
        out = a.sums[sweep] + (int64_t)x * 2 * THREADS + g;
        out_step = a.sums_step[sweep];
        plx_keep(out_step);
    }

    __device__ __forceinline__ bool exists(int column) const
    {
        return (unsigned)column < (unsigned)a.width;
    }

    /* L of the row before; where paths start, and beside the picture, it is 0. */
    __device__ __forceinline__ void load(int path, int column, uint32_t ret_l[8]) const
    {
        const uint4 *from = a.before[sweep] + (path * a.width + column) * THREADS + g;
        plx_unpack(exists(column) && !a.begins[sweep] ? __ldcg(from) : make_uint4(0, 0, 0, 0), ret_l);
    }

    __device__ __forceinline__ void save(int path, int column, const uint32_t l[8], uint32_t m) const
    {
        uint4 *to = a.after[sweep] + (path * a.width + column) * THREADS + g;
        const uint32_t m4 = (m & 0xFFFF) * 0x01010101u;
        if (exists(column))
            *to = make_uint4(plx_mad(l[1], 256, l[0]) - m4, plx_mad(l[3], 256, l[2]) - m4, plx_mad(l[5], 256, l[4]) - m4,
                             plx_mad(l[7], 256, l[6]) - m4);
    }

    /* Costs of row ROW into its place of the ring; beside the picture they are 0, and so is then every L that comes from there.
     */
    __device__ __forceinline__ void fetch(int row)
    {
        if (row < rows) {
#pragma unroll
            for (int c = 0; c < COLS; c++)
                plx_copy_16_ahead_if(ring + (row & (S::AHEAD - 1)) * S::ROW_BYTES + c * WARP * 16, fetched + c * dx * THREADS,
                                     exists(x + c * dx));
            fetched += fetch_step;
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
        const int warps = 2 * a.beside + a.own;
        return edges + (behind * warps + reader) * S::EDGE_BYTES + g * 16;
    }

    __device__ __forceinline__ uint32_t parity(int row) const
    {
        return (row & 1) * (2 * a.beside + a.own) * 2 * S::EDGE_BYTES;
    }

    __device__ __forceinline__ void publish(int condition, uint32_t to, const uint32_t l[8]) const
    {
        plx_store_shared_16_if(condition, to, l);
        plx_store_shared_16_if(condition, to + THREADS * 16, l + 4);
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
            if (exists(x + c)) {
                plx_store_16(out + c * 2 * THREADS, make_uint4(cost[0], cost[1], cost[2], cost[3]));
                plx_store_16(out + (c * 2 + 1) * THREADS, make_uint4(cost[4], cost[5], cost[6], cost[7]));
            }
        }
        look_up(row + 1);
        publish(last, give + parity(row), left[COLS - 1]);
        publish(first, give + parity(row), right[0]);
        out += out_step;
    }

    /* A row beside it: the path that leads there. */
    __device__ __forceinline__ void step_beside(int row)
    {
        uint32_t from[COLS][8], m[COLS];

        plx_await_copies<S::AHEAD - 2>();
        fetch(row + S::AHEAD - 1);
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            plx_copy_8(from[c], c == 0 ? into_left : left[c - 1]);
        }
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
        __syncthreads();
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
            if (row + 1 < rows)
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
