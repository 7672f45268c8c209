/* SPDX-License-Identifier: Apache-2.0 */
/* Lines with as many warps on a multiprocessor as fit, where instructions limit the speed: the next pixels wait in registers
 * instead of a ring, which saves 17 to 20 % of the instructions of a step, and nothing stays in shared memory. */
#include "gpu/device/launch.cuh"
#include "gpu/sgm/lines.cuh"

/* Warps of a multiprocessor, and pixels whose costs and whose sums of the other direction wait in registers: more for fewer
 * warps. */
template <int D, bool ADAPTIVE_P2> struct register_config {
    static constexpr int WARPS = PLX_ARCH >= 1100 ? 24 : PLX_ARCH < 900 ? 16 : ADAPTIVE_P2 ? 28 : 32;
    static constexpr int COSTS_PREFETCHED = PLX_ARCH < 900 ? 4 : 2;
    static constexpr int SUMS_PREFETCHED = PLX_ARCH < 900 ? 4 : ADAPTIVE_P2 || D == 64 ? 2 : 1;
};

/* P2 of the steps of a line, in both halves. With ADAPTIVE_P2, each of BATCH neighbouring threads loads P2 of one of the steps
 * that come BATCH to 2 BATCH later, also beyond the end of the line, and broadcasts it in time. */
template <int D, bool ADAPTIVE_P2> struct line_penalties {
    static constexpr int BATCH = ADAPTIVE_P2 && D > 64 ? 8 : 4;
    static_assert(2 * BATCH <= PLX_OVERRUN_ROWS, "loads beyond the room around the penalties");

    const uint8_t *at; /* byte of the step to load next: on its lower, or right, pixel; the orientation's byte */
    uint32_t now, next;

    /* STRIDE: pixels from step to step. */
    __device__ __forceinline__ uint32_t load(int stride)
    {
        uint32_t p2; /* assembly: the compiler would delay the load until its first use */
        asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(p2) : "l"(at));
        at += stride * (BATCH * (int)sizeof(uint32_t));
        return p2;
    }

    /* Begins STEPS after the step to load next. */
    __device__ __forceinline__ void start(int steps, int stride)
    {
        if (!ADAPTIVE_P2)
            return;
        at += (ptrdiff_t)steps * stride * (int)sizeof(uint32_t);
        now = plx_broadcast2(load(stride));
        next = load(stride);
    }

    /* After each BATCH steps. NOW comes from NEXT, so that no step waits for a load that has just begun. */
    __device__ __forceinline__ void rotate(int stride)
    {
        if (!ADAPTIVE_P2)
            return;
        now = plx_broadcast2(next);
        next = load(stride);
    }

    /* Penalties of step I since then. */
    __device__ __forceinline__ uint32_t broadcast(int i) const
    {
        return ADAPTIVE_P2 ? __shfl_sync(PLX_ALL_LANES, now, i, BATCH) : now;
    }
};

/* State of a thread. It prefetches beyond the end of its line, which the volumes have room for. */
template <int D, bool ADAPTIVE_P2> struct register_walker {
    static constexpr int COSTS_PREFETCHED = register_config<D, ADAPTIVE_P2>::COSTS_PREFETCHED,
                         SUMS_PREFETCHED = register_config<D, ADAPTIVE_P2>::SUMS_PREFETCHED;

    const uint4 *cost;        /* to fetch next */
    uint4 *other_chunk, *sum; /* to fetch and to store next */
    int step;                 /* in chunks */
    uint4 costs[COSTS_PREFETCHED], other_sums[SUMS_PREFETCHED];
    uint32_t l[8];

    __device__ __forceinline__ int stride(void) const
    {
        return step >> line_slice<D>::CHUNK_BITS;
    }

    __device__ __forceinline__ void prefetch_cost(uint4 &to)
    {
        to = plx_load_16(cost);
        cost += step;
    }

    __device__ __forceinline__ void prefetch_other(uint4 &to)
    {
        to = plx_load_16(other_chunk);
        other_chunk += step;
    }

    __device__ __forceinline__ void start(void)
    {
#pragma unroll
        for (int i = 0; i < COSTS_PREFETCHED; i++)
            prefetch_cost(costs[i]);
#pragma unroll
        for (int i = 0; i < 8; i++)
            l[i] = 0;
    }

    /* Makes the L of the next pixel, whose costs are in SLOT, and returns L - C. */
    __device__ __forceinline__ uint4 step_pixel(int slot, uint32_t p1, uint32_t p2, const plx_neighbours<D / 16> &neighbours)
    {
        uint32_t c[8], transition[8];

        const uint32_t m = plx_min_of_pixel<D / 16, false>(l);
        plx_transition<D / 16, true>(l, m, p1, p2, neighbours, transition);
        const uint4 own = pack_increments(transition, m);
        plx_unpack_chunk(costs[slot], c);
        prefetch_cost(costs[slot]);
        plx_add_costs<PLX_PACKED_HALF2>(transition, c, m);
        plx_copy_8(l, transition);
        return own;
    }

    /* SECOND_HALF: adds what the other direction stored. */
    template <bool SECOND_HALF>
    __device__ __forceinline__ void aggregate_pixel(int slot, uint32_t p1, uint32_t p2,
                                                    const plx_neighbours<D / 16> &neighbours)
    {
        uint4 own = step_pixel(slot % COSTS_PREFETCHED, p1, p2, neighbours);
        if (SECOND_HALF) {
            own = add(other_sums[slot % SUMS_PREFETCHED], own);
            prefetch_other(other_sums[slot % SUMS_PREFETCHED]);
        }
        plx_store_16(sum, own);
        sum += step;
    }

    /* The second prefetched pixel becomes the first. */
    __device__ __forceinline__ void rotate(void)
    {
        const uint4 cost_0 = costs[0], left_0 = other_sums[0];
#pragma unroll
        for (int i = 0; i + 1 < COSTS_PREFETCHED; i++)
            costs[i] = costs[i + 1];
#pragma unroll
        for (int i = 0; i + 1 < SUMS_PREFETCHED; i++)
            other_sums[i] = other_sums[i + 1];
        costs[COSTS_PREFETCHED - 1] = cost_0;
        other_sums[SUMS_PREFETCHED - 1] = left_0;
    }
};

/* Walks half of a line; see lines_prefetch.cu. */
template <bool SECOND_HALF, int D, bool ADAPTIVE_P2>
static __device__ __forceinline__ void aggregate_half_in_registers(register_walker<D, ADAPTIVE_P2> &walker, uint32_t p1,
                                                                   line_penalties<D, ADAPTIVE_P2> &p2, int steps,
                                                                   const plx_neighbours<D / 16> &neighbours)
{
    constexpr int BATCH = line_penalties<D, ADAPTIVE_P2>::BATCH;
    for (int t = 0; t < steps;) {
        const int next_subtraction = min(steps, t + STEPS_BETWEEN_SUBTRACTIONS);
#pragma unroll 1
        for (; t + BATCH <= next_subtraction; t += BATCH) {
#pragma unroll
            for (int i = 0; i < BATCH; i++)
                walker.template aggregate_pixel<SECOND_HALF>(i, p1, p2.broadcast(i), neighbours);
            p2.rotate(walker.stride());
        }
#pragma unroll 1
        for (int i = 0; t < next_subtraction; i++, t++) { /* at the end */
            walker.template aggregate_pixel<SECOND_HALF>(0, p1, p2.broadcast(i), neighbours);
            walker.rotate();
        }
        subtract_min<D>(walker.l);
    }
}

/* Grid: as that of prefetch_lines_kernel. */
template <int D, bool ADAPTIVE_P2>
static __global__ void __launch_bounds__(WARP, register_config<D, ADAPTIVE_P2>::WARPS)
    register_lines_kernel(const __grid_constant__ lines_args a)
{
    const line_slice<D> own(a);
    const int half = own.pixels / 2;
    const plx_neighbours<D / 16> neighbours(threadIdx.x);
    uint32_t p1 = own.p1;
    line_penalties<D, ADAPTIVE_P2> p2;
    register_walker<D, ADAPTIVE_P2> walker;

    p2.at = (const uint8_t *)own.penalty + own.orientation;
    p2.now = a.p2;
    walker.cost = a.cost + own.chunk;
    walker.sum = own.path_sums + own.chunk;
    walker.step = own.step;
    plx_hold_in_register(p1), plx_hold_in_register(p2.now);
    walker.start();
    p2.start(threadIdx.x % p2.BATCH, walker.stride());

    aggregate_half_in_registers<false>(walker, p1, p2, half, neighbours);
    if (own.pixels & 1) {
        const uint32_t p2_here = p2.broadcast(half % p2.BATCH);
        plx_store_16(walker.sum, add_other_direction<D>(walker.step_pixel(0, p1, p2_here, neighbours)));
        walker.sum += walker.step;
        walker.rotate();
    }
    __threadfence(); /* stored sums become visible to the other direction */
    __syncwarp();
    walker.other_chunk = walker.sum;
#pragma unroll
    for (int i = 0; i < walker.SUMS_PREFETCHED; i++)
        walker.prefetch_other(walker.other_sums[i]);
    /* what would be loaded next is two batches after the one in which the first half ended */
    p2.start(own.pixels - half - half / p2.BATCH * p2.BATCH - 2 * p2.BATCH, walker.stride());
    aggregate_half_in_registers<true>(walker, p1, p2, half, neighbours);
}

int plx_sgm_lines_registers(const struct plx_sgm_job *job)
{
    unsigned warps;
    const lines_args args = plx_lines_args(job, &warps);

    return plx_with_disparities(job->match, [&](auto d) {
        const auto kernel = plx_p2_varies(job->match) ? register_lines_kernel<d, true> : register_lines_kernel<d, false>;
        return PLX_LAUNCH(job->gpu, kernel, warps, WARP, args);
    });
}

struct plx_lines_load plx_lines_load(int width, int height, const struct plx_match *match)
{
    const int lines = 256 / match->disparities, shorter = min(width, height), longest = longest_diagonals(width, height);
    int warps[3];

    plx_count_line_warps(width, height, match, warps);
    double places = (double)lines * ((double)warps[0] * width + (double)warps[1] * height);
    for (int i = 0; i < warps[2] * lines; i += lines)
        places += (double)lines * (i < longest ? shorter : shorter - 1 - (i - longest) / 4);
    return {warps[0] + warps[1] + warps[2], 1 - (double)match->paths / 2 * width * height / places};
}

int plx_sgm_lines_occupancy(struct plx_gpu *gpu, int *ret_warps)
{
    return PLX_CUDA(gpu, cudaOccupancyMaxActiveBlocksPerMultiprocessor(ret_warps, register_lines_kernel<128, false>, WARP, 0));
}
