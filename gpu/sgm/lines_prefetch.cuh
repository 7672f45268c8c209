/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines where few warps run on a multiprocessor, so that nothing hides the latency of memory: the next pixels are prefetched
 * into a ring in shared memory, and the middle of each line stays there.
 */
#ifndef PLX_GPU_SGM_LINES_PREFETCH_CUH
#define PLX_GPU_SGM_LINES_PREFETCH_CUH

#include "gpu/sgm/line.cuh"

#define PREFETCHED 16    /* pixels, a power of two */
#define PREFETCH_WARPS 4 /* of a multiprocessor */
static_assert(PREFETCHED <= PLX_LINES_BEYOND_ROW && PREFETCHED <= PLX_LINES_BEYOND_ROWS, "fetches beyond the volumes");

/* Bytes of shared memory that a warp needs for each pixel ahead: costs, as many for what the other direction left, and P2. */
#define COSTS_BYTES (WARP * 16)
#define P2_BYTES (WARP * 4)
#define PIXEL_BYTES(varying) (2 * COSTS_BYTES + ((varying) ? P2_BYTES : 0))

/*
 * What a thread needs while it walks: its place in the volumes, and in the ring of pixels ahead in shared memory. It fetches
 * beyond the end of its line, where the volumes have room, and uses nothing of that. VARYING: P2 comes the same way.
 */
template <int D, bool VARYING> struct prefetch_walker {
    static constexpr uint32_t ring_bytes = PREFETCHED * COSTS_BYTES;

    const uint4 *cost;
    uint4 *pairs;
    int fetched, stored, step; /* chunks: to fetch next, to store next, from one pixel to the next */
    uint32_t ring;             /* address of this thread's part */
    uint32_t write, read;      /* offsets there of the pixel to fetch, and of the next one to load */
    uint32_t l[8];
    uint4 next;              /* costs of the next pixel */
    uint32_t p1, p2, p2_at;  /* in both halves; address of the orientation's byte in this thread's part of its ring */
    const uint32_t *penalty; /* to fetch next: of the pixel of a step that is below, or to the right */
    int penalties;           /* that are still to be fetched: there is no room beyond */

    __device__ __forceinline__ void fetch(bool pairs_too)
    {
        plx_copy_async_16(ring + write, cost + fetched);
        if (pairs_too)
            plx_copy_async_16(ring + ring_bytes + write, pairs + fetched);
        if (VARYING) {
            if (penalties-- > 0)
                plx_copy_async_4((p2_at & ~3u) + write / (COSTS_BYTES / P2_BYTES), penalty);
            penalty += step >> share<D>::CHUNK_BITS;
        }
        fetched += step;
        plx_commit_copies();
    }

    __device__ __forceinline__ void start(void)
    {
#pragma unroll
        for (int i = 0; i < PREFETCHED - 1; i++) {
            write = i * COSTS_BYTES;
            fetch(false);
        }
        write = ring_bytes - COSTS_BYTES;
        plx_wait_copies<PREFETCHED - 2>();
        next = plx_load_shared_16(ring);
        read = COSTS_BYTES;
#pragma unroll
        for (int i = 0; i < 8; i++)
            l[i] = 0;
    }

    /* Makes the L of the next pixel, whose costs are in NEXT, and returns L - C; loads the costs of the pixel after it. */
    __device__ __forceinline__ uint4 walk(const plx_neighbours<D / 16> &beside)
    {
        uint32_t costs[8], best[8];

        plx_wait_copies<PREFETCHED - 3>();
        const uint32_t own_p2 = VARYING ? plx_broadcast2(plx_load_shared_1(p2_at + here() / (COSTS_BYTES / P2_BYTES))) : p2;
        const uint4 loaded = plx_load_shared_16(ring + read);
        plx_unpack_chunk(next, costs);
        next = loaded;
        const uint32_t m = plx_least<D / 16, true>(l);
        plx_best<D / 16, false>(l, m, p1, own_p2, beside, best);
        const uint4 sums = pack(best, m);
        plx_add_costs<PLX_PACKED_HALF2>(best, costs, m);
#pragma unroll
        for (int i = 0; i < 8; i++)
            l[i] = best[i];
        return sums;
    }

    /* Offset of the pixel that is next to be walked. */
    __device__ __forceinline__ uint32_t here(void) const
    {
        return (read - COSTS_BYTES) & (ring_bytes - 1);
    }

    __device__ __forceinline__ void store(uint4 sum)
    {
        plx_store_16(pairs + stored, sum);
    }

    __device__ __forceinline__ void pass(void)
    {
        stored += step;
        write = (write + COSTS_BYTES) & (ring_bytes - 1);
        read = (read + COSTS_BYTES) & (ring_bytes - 1);
    }
};

/*
 * Walks half of a line. On its first half a direction leaves its sums, BEYOND the middle it adds to what the other has left.
 * The last KEPT pixels of a first half, which are the first that the other meets, stay in shared memory: for 2 KEPT of the
 * pixels neither of the two directions sends anything to memory and back.
 */
template <bool BEYOND, int D, bool VARYING>
static __device__ __forceinline__ void walk_half(prefetch_walker<D, VARYING> &w, int steps, int kept, uint32_t keep_at,
                                                 const plx_neighbours<D / 16> &beside)
{
    for (int t = 0; t < steps;) {
        const int pause = min(steps, t + STEPS_BETWEEN_REDUCTIONS);
        PLX_UNROLL(4)
        for (; t < pause; t++) {
            const uint32_t ring = w.ring + w.ring_bytes + w.here();
            const uint4 own = w.walk(beside); /* which waits */
            if (BEYOND) {
                const uint4 left = plx_load_shared_16(t < kept ? keep_at + (kept - 1 - t) * COSTS_BYTES : ring);
                w.fetch(t + PREFETCHED > kept);
                w.store(add(left, own));
            } else {
                w.fetch(false);
                if (t < steps - kept)
                    w.store(own);
                else
                    plx_store_shared_16(keep_at + (t - (steps - kept)) * COSTS_BYTES, own);
            }
            w.pass();
        }
        reduce<D>(w.l);
    }
}

/*
 * Grid: a warp walks 256 / D lines in both directions; rows, then columns, then diagonals of both kinds. A line's pixel moves
 * D bytes of cost in twice, D bytes of sums out twice and in once: for 8 paths 20 D a pixel, of which L2 keeps what it can.
 */
template <int D, bool VARYING>
static __global__ void __launch_bounds__(WARP) prefetch_lines_kernel(const __grid_constant__ lines_args a)
{
    extern __shared__ __align__(1024) unsigned char shared[]; /* [PREFETCHED][32] costs, pairs, P2; [kept][32] sums */
    const share<D> own(a);
    const int lane = threadIdx.x, half = own.pixels / 2, kept = min(a.kept, half);
    const plx_neighbours<D / 16> beside(lane);
    prefetch_walker<D, VARYING> w;

    w.ring = (uint32_t)__cvta_generic_to_shared(shared) + lane * 16;
    w.p1 = own.p1;
    w.p2 = a.p2;
    w.p2_at = (uint32_t)__cvta_generic_to_shared(shared) + 2 * w.ring_bytes + lane * 4 + own.orientation;
    w.penalty = own.penalty;
    w.penalties = own.pixels;
    w.cost = a.cost;
    w.pairs = own.pairs;
    w.fetched = w.stored = (int)own.chunk;
    w.step = own.step;
    const uint32_t keep_at = w.ring + PREFETCHED * PIXEL_BYTES(VARYING);
    plx_hold_in_register(w.p1), plx_hold_in_register(w.p2), plx_hold_in_register(w.cost), plx_hold_in_register(w.pairs);
    w.start();

    walk_half<false>(w, half, kept, keep_at, beside);
    if (own.pixels & 1) {
        const uint4 sum = add_other<D>(w.walk(beside));
        w.fetch(false);
        w.store(sum);
        w.pass();
    }
    __threadfence(); /* what was left is seen by the other half of the warp */
    __syncwarp();
    for (int i = kept, slot = w.here() + kept * COSTS_BYTES; i < PREFETCHED - 1; i++, slot += COSTS_BYTES) /* costs are there */
        plx_copy_async_16(w.ring + w.ring_bytes + (slot & (w.ring_bytes - 1)), w.pairs + w.stored + i * w.step);
    plx_commit_copies();
    plx_wait_copies<0>();
    walk_half<true>(w, half, kept, keep_at ^ D, beside);
}

#endif
