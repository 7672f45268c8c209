/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines where a multiprocessor has as many warps as fit, so that instructions are what takes the time: the next pixels wait in
 * registers instead of a ring, a step has 17 to 20 of a hundred instructions less, and nothing is kept.
 */
#ifndef PLX_GPU_SGM_LINES_REGISTERS_CUH
#define PLX_GPU_SGM_LINES_REGISTERS_CUH

#include "gpu/sgm/line.cuh"

/*
 * Warps that a multiprocessor holds; and pixels whose costs, and what the other direction left, wait in registers: the fewer
 * warps, the more.
 */
template <int D, bool VARYING> struct register_shape {
    static constexpr int WARPS = PLX_ARCH >= 1100 ? 24 : PLX_ARCH < 900 ? 16 : VARYING ? 28 : 32;
    static constexpr int COSTS_AHEAD = PLX_ARCH < 900 ? 4 : 2;
    static constexpr int SUMS_AHEAD = PLX_ARCH < 900 ? 4 : VARYING || D == 64 ? 2 : 1;
};

/*
 * P2 of the steps of a line, in both halves, four by four. Where it varies, four threads side by side have looked up one of the
 * four each, and one of each of the next four; each is then told to all of them.
 */
#define FOUR 4
template <bool VARYING> struct penalties {
    const uint8_t *at; /* of the first step: on its lower, or right, pixel; the orientation's byte */
    int last;          /* number of the last step */
    uint32_t now, next;

    /* STRIDE: pixels from step to step. */
    __device__ __forceinline__ uint32_t look_up(int step, int stride) const
    {
        uint32_t p2; /* now, not when it is needed */
        const uint8_t *from = at + (ptrdiff_t)(min(step + (int)threadIdx.x % FOUR, last) * stride) * (int)sizeof(uint32_t);
        asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(p2) : "l"(from));
        return p2;
    }

    /* Before the first step, STEP. */
    __device__ __forceinline__ void start(int step, int stride)
    {
        if (!VARYING)
            return;
        now = plx_broadcast2(look_up(step, stride));
        next = look_up(step + FOUR, stride);
    }

    /* Before the four steps from STEP on. NOW is computed before a loop and in it: were it loaded in one of them, the other
     * would wait for loads that have just begun. */
    __device__ __forceinline__ void turn(int step, int stride)
    {
        if (!VARYING)
            return;
        now = plx_broadcast2(next);
        next = look_up(step + FOUR, stride);
    }

    __device__ __forceinline__ uint32_t tell(int i) const
    {
        return VARYING ? __shfl_sync(PLX_ALL_LANES, now, i, FOUR) : now;
    }
};

/* What a thread needs while it walks. It fetches beyond the end of its line, where the volumes have room. */
template <int D, bool VARYING> struct register_walker {
    static constexpr int COSTS_AHEAD = register_shape<D, VARYING>::COSTS_AHEAD,
                         SUMS_AHEAD = register_shape<D, VARYING>::SUMS_AHEAD;

    const uint4 *cost; /* to fetch next */
    uint4 *left, *sum; /* to fetch and to store next */
    int step;          /* chunks */
    uint4 costs[COSTS_AHEAD], lefts[SUMS_AHEAD];
    uint32_t l[8];

    __device__ __forceinline__ int stride(void) const
    {
        return step >> share<D>::CHUNK_BITS;
    }

    __device__ __forceinline__ void fetch_cost(uint4 &to)
    {
        to = plx_load_16(cost);
        cost += step;
    }

    __device__ __forceinline__ void fetch_left(uint4 &to)
    {
        to = plx_load_16(left);
        left += step;
    }

    __device__ __forceinline__ void start(void)
    {
#pragma unroll
        for (int i = 0; i < COSTS_AHEAD; i++)
            fetch_cost(costs[i]);
#pragma unroll
        for (int i = 0; i < 8; i++)
            l[i] = 0;
    }

    /* Makes the L of the next pixel, whose costs are in PLACE, and returns L - C. */
    __device__ __forceinline__ uint4 walk(int place, uint32_t p1, uint32_t p2, const plx_neighbours<D / 16> &beside)
    {
        uint32_t c[8], best[8];

        const uint32_t m = plx_least<D / 16, false>(l);
        plx_best<D / 16, true>(l, m, p1, p2, beside, best);
        const uint4 own = pack(best, m);
        plx_unpack_chunk(costs[place], c);
        fetch_cost(costs[place]);
        plx_add_costs<PLX_PACKED_HALF2>(best, c, m);
#pragma unroll
        for (int i = 0; i < 8; i++)
            l[i] = best[i];
        return own;
    }

    /* BEYOND the middle, what the other direction left is added. */
    template <bool BEYOND>
    __device__ __forceinline__ void pass(int place, uint32_t p1, uint32_t p2, const plx_neighbours<D / 16> &beside)
    {
        uint4 own = walk(place % COSTS_AHEAD, p1, p2, beside);
        if (BEYOND) {
            own = add(lefts[place % SUMS_AHEAD], own);
            fetch_left(lefts[place % SUMS_AHEAD]);
        }
        plx_store_16(sum, own);
        sum += step;
    }

    /* The second in line becomes the first. */
    __device__ __forceinline__ void turn(void)
    {
        const uint4 cost_0 = costs[0], left_0 = lefts[0];
#pragma unroll
        for (int i = 0; i + 1 < COSTS_AHEAD; i++)
            costs[i] = costs[i + 1];
#pragma unroll
        for (int i = 0; i + 1 < SUMS_AHEAD; i++)
            lefts[i] = lefts[i + 1];
        costs[COSTS_AHEAD - 1] = cost_0;
        lefts[SUMS_AHEAD - 1] = left_0;
    }
};

/* Walks half of a line, whose first step is number FIRST; see lines_prefetch.cuh. */
template <bool BEYOND, int D, bool VARYING>
static __device__ __forceinline__ void walk_half_registers(register_walker<D, VARYING> &w, uint32_t p1, penalties<VARYING> &p2,
                                                           int first, int steps, const plx_neighbours<D / 16> &beside)
{
    p2.start(first, w.stride());
    for (int t = 0; t < steps;) {
        const int pause = min(steps, t + STEPS_BETWEEN_REDUCTIONS);
#pragma unroll 1
        for (; t + FOUR <= pause; t += FOUR) {
#pragma unroll
            for (int i = 0; i < FOUR; i++)
                w.template pass<BEYOND>(i, p1, p2.tell(i), beside);
            p2.turn(first + t + FOUR, w.stride());
        }
#pragma unroll 1
        for (int i = 0; t < pause; i++, t++) { /* at the end */
            w.template pass<BEYOND>(0, p1, p2.tell(i), beside);
            w.turn();
        }
        reduce<D>(w.l);
    }
}

/* Grid: as that of prefetch_lines_kernel. */
template <int D, bool VARYING>
static __global__ void __launch_bounds__(WARP, register_shape<D, VARYING>::WARPS)
    register_lines_kernel(const __grid_constant__ lines_args a)
{
    const share<D> own(a);
    const int half = own.pixels / 2;
    const plx_neighbours<D / 16> beside(threadIdx.x);
    uint32_t p1 = own.p1;
    penalties<VARYING> p2;
    register_walker<D, VARYING> w;

    p2.at = (const uint8_t *)own.penalty + own.orientation;
    p2.last = own.pixels - 1;
    p2.now = a.p2;
    w.cost = a.cost + own.chunk;
    w.sum = own.pairs + own.chunk;
    w.step = own.step;
    plx_hold_in_register(p1), plx_hold_in_register(p2.now);
    w.start();

    walk_half_registers<false>(w, p1, p2, 0, half, beside);
    if (own.pixels & 1) {
        p2.start(half, w.stride());
        plx_store_16(w.sum, add_other<D>(w.walk(0, p1, p2.tell(0), beside)));
        w.sum += w.step;
        w.turn();
    }
    __threadfence(); /* what was left is seen by the other half of the warp */
    __syncwarp();
    w.left = w.sum;
#pragma unroll
    for (int i = 0; i < w.SUMS_AHEAD; i++)
        w.fetch_left(w.lefts[i]);
    walk_half_registers<true>(w, p1, p2, own.pixels - half, half, beside);
}

#endif
