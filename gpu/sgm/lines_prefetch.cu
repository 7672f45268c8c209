/* SPDX-License-Identifier: Apache-2.0 */
/* Lines with few warps on a multiprocessor, where other warps cannot hide the latency of memory: the next 16 pixels are
 * prefetched into a ring in shared memory, and the middle of each line stays there. */
#include "gpu/device/launch.cuh"
#include "gpu/sgm/lines.cuh"

#define PREFETCHED 16    /* pixels, a power of two */
#define PREFETCH_WARPS 4 /* warps of a multiprocessor */
static_assert(PREFETCHED <= PLX_OVERRUN_COLUMNS && PREFETCHED <= PLX_OVERRUN_ROWS, "prefetches beyond the volumes");

/* Shared memory of a warp for each prefetched pixel: costs, sums of the other direction, and P2. */
#define COSTS_BYTES (WARP * 16)
#define P2_BYTES (WARP * 4)
#define PIXEL_BYTES(varying) (2 * COSTS_BYTES + ((varying) ? P2_BYTES : 0))

/* State of a thread. It prefetches beyond the end of its line, which the volumes have room for, and ignores that. With
 * ADAPTIVE_P2, P2 is prefetched too. Shared memory is addressed in 32 bits. */
template <int D, bool ADAPTIVE_P2> struct prefetch_walker {
    static constexpr uint32_t ring_bytes = PREFETCHED * COSTS_BYTES;

    const uint4 *cost;
    uint4 *path_sums;
    int prefetch_chunk, store_chunk, step; /* in chunks; step: from one pixel to the next */
    uint32_t ring;                         /* address of this thread's part */
    uint32_t write_offset, read_offset;    /* offsets there of the pixel to prefetch and to load next */
    uint32_t l[8];
    uint4 next;                  /* costs of the next pixel */
    uint32_t p1, p2, p2_address; /* p1, p2: in both halves. Address of this orientation's byte of P2 in the ring */
    const uint32_t *penalty;     /* to prefetch next: at the lower or right pixel of the step */
    int penalties_left;          /* still to prefetch; this plane has no room beyond the line */

    __device__ __forceinline__ void prefetch(bool with_path_sums)
    {
        plx_copy_async_16(ring + write_offset, cost + prefetch_chunk);
        if (with_path_sums)
            plx_copy_async_16(ring + ring_bytes + write_offset, path_sums + prefetch_chunk);
        if (ADAPTIVE_P2) {
            if (penalties_left-- > 0)
                plx_copy_async_4((p2_address & ~3u) + write_offset / (COSTS_BYTES / P2_BYTES), penalty);
            penalty += step >> line_slice<D>::CHUNK_BITS;
        }
        prefetch_chunk += step;
        plx_commit_copies();
    }

    __device__ __forceinline__ void start(void)
    {
#pragma unroll
        for (int i = 0; i < PREFETCHED - 1; i++) {
            write_offset = i * COSTS_BYTES;
            prefetch(false);
        }
        write_offset = ring_bytes - COSTS_BYTES;
        plx_wait_copies<PREFETCHED - 2>();
        next = plx_load_shared_16(ring);
        read_offset = COSTS_BYTES;
#pragma unroll
        for (int i = 0; i < 8; i++)
            l[i] = 0;
    }

    /* Computes L of the next pixel, whose costs are in NEXT; returns L - C. Loads the costs of the pixel after it. */
    __device__ __forceinline__ uint4 step_pixel(const plx_neighbours<D / 16> &neighbours)
    {
        uint32_t costs[8], transition[8];

        plx_wait_copies<PREFETCHED - 3>();
        const uint32_t own_p2 =
            ADAPTIVE_P2 ? plx_broadcast2(plx_load_shared_1(p2_address + current_offset() / (COSTS_BYTES / P2_BYTES))) : p2;
        const uint4 loaded = plx_load_shared_16(ring + read_offset);
        plx_unpack_chunk(next, costs);
        next = loaded;
        const uint32_t m = plx_min_of_pixel<D / 16, true>(l);
        plx_transition<D / 16, false>(l, m, p1, own_p2, neighbours, transition);
        const uint4 sums = pack_increments(transition, m);
        plx_add_costs<PLX_PACKED_HALF2>(transition, costs, m);
        plx_copy_8(l, transition);
        return sums;
    }

    /* Offset of the next pixel in the ring. */
    __device__ __forceinline__ uint32_t current_offset(void) const
    {
        return (read_offset - COSTS_BYTES) & (ring_bytes - 1);
    }

    __device__ __forceinline__ void store(uint4 sum)
    {
        plx_store_16(path_sums + store_chunk, sum);
    }

    __device__ __forceinline__ void advance(void)
    {
        store_chunk += step;
        write_offset = (write_offset + COSTS_BYTES) & (ring_bytes - 1);
        read_offset = (read_offset + COSTS_BYTES) & (ring_bytes - 1);
    }
};

/* Aggregates half of a line. The first half stores sums; SECOND_HALF adds to what the other direction stored. The last
 * KEPT_PIXELS pixels of the first half stay in shared memory: the other direction needs them first. */
template <bool SECOND_HALF, int D, bool ADAPTIVE_P2>
static __device__ __forceinline__ void aggregate_half(prefetch_walker<D, ADAPTIVE_P2> &walker, int steps, int kept_pixels,
                                                      uint32_t kept_address, const plx_neighbours<D / 16> &neighbours)
{
    for (int t = 0; t < steps;) {
        const int next_subtraction = min(steps, t + STEPS_BETWEEN_SUBTRACTIONS);
        PLX_UNROLL(4)
        for (; t < next_subtraction; t++) {
            const uint32_t ring = walker.ring + walker.ring_bytes + walker.current_offset();
            const uint4 own = walker.step_pixel(neighbours); /* waits for the copies */
            if (SECOND_HALF) {
                const uint4 other_sum =
                    plx_load_shared_16(t < kept_pixels ? kept_address + (kept_pixels - 1 - t) * COSTS_BYTES : ring);
                walker.prefetch(t + PREFETCHED > kept_pixels);
                walker.store(add(other_sum, own));
            } else {
                walker.prefetch(false);
                if (t < steps - kept_pixels)
                    walker.store(own);
                else
                    plx_store_shared_16(kept_address + (t - (steps - kept_pixels)) * COSTS_BYTES, own);
            }
            walker.advance();
        }
        subtract_min<D>(walker.l);
    }
}

/* Grid: one warp for 256 / D lines in both directions; rows, then columns, then diagonals. Bytes for each pixel of a line: D of
 * costs read twice, D of sums written twice and read once; with 8 paths 20 D a pixel, partly from L2. */
template <int D, bool ADAPTIVE_P2>
static __global__ void __launch_bounds__(WARP) prefetch_lines_kernel(const __grid_constant__ lines_args a)
{
    extern __shared__ __align__(1024) unsigned char shared[]; /* [PREFETCHED][32] costs, pairs, P2; [kept][32] sums */
    const line_slice<D> own(a);
    const int lane = threadIdx.x, half = own.pixels / 2, kept_pixels = min(a.kept_pixels, half);
    const plx_neighbours<D / 16> neighbours(lane);
    prefetch_walker<D, ADAPTIVE_P2> walker;

    walker.ring = (uint32_t)__cvta_generic_to_shared(shared) + lane * 16;
    walker.p1 = own.p1;
    walker.p2 = a.p2;
    walker.p2_address = (uint32_t)__cvta_generic_to_shared(shared) + 2 * walker.ring_bytes + lane * 4 + own.orientation;
    walker.penalty = own.penalty;
    walker.penalties_left = own.pixels;
    walker.cost = a.cost;
    walker.path_sums = own.path_sums;
    walker.prefetch_chunk = walker.store_chunk = (int)own.chunk;
    walker.step = own.step;
    const uint32_t kept_address = walker.ring + PREFETCHED * PIXEL_BYTES(ADAPTIVE_P2);
    plx_hold_in_register(walker.p1), plx_hold_in_register(walker.p2), plx_hold_in_register(walker.cost),
        plx_hold_in_register(walker.path_sums);
    walker.start();

    aggregate_half<false>(walker, half, kept_pixels, kept_address, neighbours);
    if (own.pixels & 1) {
        const uint4 sum = add_other_direction<D>(walker.step_pixel(neighbours));
        walker.prefetch(false);
        walker.store(sum);
        walker.advance();
    }
    __threadfence(); /* stored sums become visible to the other direction */
    __syncwarp();
    for (int i = kept_pixels, slot = walker.current_offset() + kept_pixels * COSTS_BYTES; i < PREFETCHED - 1;
         i++, slot += COSTS_BYTES) /* costs are in the ring already */
        plx_copy_async_16(walker.ring + walker.ring_bytes + (slot & (walker.ring_bytes - 1)),
                          walker.path_sums + walker.store_chunk + i * walker.step);
    plx_commit_copies();
    plx_wait_copies<0>();
    aggregate_half<true>(walker, half, kept_pixels, kept_address ^ D, neighbours);
}

/* Shared memory that the rings of PREFETCH_WARPS warps leave free keeps the middle of the lines. */
template <int D, bool ADAPTIVE_P2> static int launch(struct plx_gpu *gpu, unsigned warps, lines_args args)
{
    const int ring = PREFETCHED * PIXEL_BYTES(ADAPTIVE_P2);
    const int available = min(gpu->shared_bytes / PREFETCH_WARPS - gpu->shared_reserved, gpu->shared_bytes_block);

    args.kept_pixels = max(available - ring, 0) / COSTS_BYTES;
    const size_t bytes = (size_t)(ring + args.kept_pixels * COSTS_BYTES);
    return PLX_CUDA(gpu, plx_launch(gpu, 0, prefetch_lines_kernel<D, ADAPTIVE_P2>, warps, WARP, bytes, args));
}

int plx_sgm_lines_prefetch(const struct plx_sgm_job *job)
{
    unsigned warps;
    const lines_args args = plx_lines_args(job, &warps);

    return plx_with_disparities(job->match, [&](auto d) {
        return plx_p2_varies(job->match) ? launch<d, true>(job->gpu, warps, args) : launch<d, false>(job->gpu, warps, args);
    });
}
