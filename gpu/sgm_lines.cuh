/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregation along lines: L(p, d) = C(p, d) + min(L(q, d) - m, L(q, d -+ 1) - m + P1, P2), q the pixel before, m the least
 * L(q, .). Both directions of a line run in one warp, D / 16 threads each, and meet in the middle: on its first half a
 * direction stores its L - C, on its second it finds there what the other has left and adds to it. So two paths cost one byte a
 * disparity written and half of that read, and a line needs no second visit.
 */
#ifndef PLX_GPU_SGM_LINES_CUH
#define PLX_GPU_SGM_LINES_CUH

#include "gpu/sgm_line.cuh"
#include "gpu/sgm_step.cuh"

/* L - C as a chunk of bytes: BEST without M, which is in both halves. */
static __device__ __forceinline__ uint4 pack(const uint32_t best[8], uint32_t m)
{
    const uint32_t excess = m * 0x101;
    return make_uint4(plx_mad(best[1], 256, best[0]) - excess, plx_mad(best[3], 256, best[2]) - excess,
                      plx_mad(best[5], 256, best[4]) - excess, plx_mad(best[7], 256, best[6]) - excess);
}

/* Takes the least of L away, where it is not done at every step. */
template <int D> static __device__ __forceinline__ void reduce(uint32_t l[8])
{
    if (PLX_PACKED_HALF2)
        return;
    const uint32_t m = plx_least<D / 16, false>(l);
#pragma unroll
    for (int i = 0; i < 8; i++)
        l[i] -= m;
}

static __device__ __forceinline__ uint4 add(uint4 a, uint4 b)
{
    return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/* SUM of a pixel where both directions are at once, and that of the other one. */
template <int D> static __device__ __forceinline__ uint4 add_other(uint4 sum)
{
    return add(sum, make_uint4(__shfl_xor_sync(PLX_ALL_LANES, sum.x, D / 16), __shfl_xor_sync(PLX_ALL_LANES, sum.y, D / 16),
                               __shfl_xor_sync(PLX_ALL_LANES, sum.z, D / 16), __shfl_xor_sync(PLX_ALL_LANES, sum.w, D / 16)));
}

/* A thread's share of its line: a chunk of each pixel, in one direction. */
template <int D> struct share {
    static constexpr int CHUNK_BITS = D == 64 ? 2 : D == 128 ? 3 : 4, CHUNKS = 1 << CHUNK_BITS, LINES = WARP / CHUNKS / 2;

    int pixels, orientation;
    ptrdiff_t chunk; /* of the first pixel */
    int step;        /* chunks from one pixel to the next */
    uint4 *pairs;
    const uint32_t *penalty; /* of the first step: of the lower, or right, one of its pixels */
    uint32_t p1;

    __device__ __forceinline__ explicit share(const lines_args &a)
    {
        const int lane = threadIdx.x, direction = lane / CHUNKS;
        const bool backwards = direction & 1;
        const line_walk line = line_of(a, blockIdx.x, LINES, direction / 2, &pixels);
        const int stride = line.dy * a.width + line.dx, first = line.y * a.width + line.x;
        const int start = backwards ? first + (pixels - 1) * stride : first, to_next = backwards ? -stride : stride;

        orientation = line.orientation;
        chunk = line.exists ? (ptrdiff_t)start * CHUNKS + lane % CHUNKS : lane;
        step = line.exists ? to_next * CHUNKS : 0;
        pairs = line.exists ? a.pairs[orientation] : a.scrap;
        penalty = a.penalty + (backwards ? start - to_next : start);
        p1 = orientation >= PLX_FALLING ? a.p1_diagonal : a.p1_straight;
    }
};

/* Bytes of shared memory that a warp needs for each pixel ahead: costs, as many for what the other direction left, and P2. */
#define COSTS_BYTES (WARP * 16)
#define P2_BYTES (WARP * 4)
#define PIXEL_BYTES(varying) (2 * COSTS_BYTES + ((varying) ? P2_BYTES : 0))

/*
 * What a thread needs while it walks: its place in the volumes, and in the ring of pixels ahead in shared memory. It fetches
 * beyond the end of its line, where the volumes have room, and uses nothing of that. VARYING: P2 comes the same way.
 */
template <int D, int AHEAD, bool VARYING> struct walker {
    static constexpr bool HASTY = AHEAD == MOST_AHEAD;
    static constexpr uint32_t ring_bytes = AHEAD * COSTS_BYTES;

    const uint4 *cost;
    uint4 *pairs;
    int fetched, stored, step; /* chunks: to fetch next, to store next, from one pixel to the next */
    uint32_t ring;             /* address of this thread's part */
    uint32_t write, read;      /* offsets there of the pixel to fetch, and of the next one to load */
    uint32_t l[8];
    uint4 next;              /* in haste: costs of the next pixel */
    uint32_t p1, p2, p2_at;  /* in both halves; address of the orientation's byte in this thread's part of its ring */
    const uint32_t *penalty; /* to fetch next: of the pixel of a step that is below, or to the right */
    int penalties;           /* that are still to be fetched: there is no room beyond */

    __device__ __forceinline__ void fetch(bool pairs_too)
    {
        plx_copy_16_ahead(ring + write, cost + fetched);
        if (pairs_too)
            plx_copy_16_ahead(ring + ring_bytes + write, pairs + fetched);
        if (VARYING) {
            if (penalties-- > 0)
                plx_copy_4_ahead((p2_at & ~3u) + write / (COSTS_BYTES / P2_BYTES), penalty);
            penalty += step >> share<D>::CHUNK_BITS;
        }
        fetched += step;
        plx_close_copies();
    }

    __device__ __forceinline__ void start(void)
    {
#pragma unroll
        for (int i = 0; i < AHEAD - 1; i++) {
            write = i * COSTS_BYTES;
            fetch(false);
        }
        write = ring_bytes - COSTS_BYTES;
        read = 0;
        if (HASTY) {
            plx_await_copies<AHEAD - 2>();
            next = plx_load_shared_16(ring);
            read = COSTS_BYTES;
        }
#pragma unroll
        for (int i = 0; i < 8; i++)
            l[i] = 0;
    }

    /* Makes the L of the next pixel, and returns L - C; in haste it has the costs already, and loads those of the one after. */
    __device__ __forceinline__ uint4 walk(const plx_neighbours<D / 16> &beside)
    {
        uint32_t costs[8], best[8];

        plx_await_copies<AHEAD - 2 - HASTY>();
        const uint32_t own_p2 = VARYING ? plx_both(plx_load_shared_1(p2_at + here() / (COSTS_BYTES / P2_BYTES))) : p2;
        const uint4 loaded = plx_load_shared_16(ring + read);
        plx_unpack(HASTY ? next : loaded, costs);
        if (HASTY)
            next = loaded;
        const uint32_t m = plx_least<D / 16, HASTY>(l);
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
        return (read - HASTY * COSTS_BYTES) & (ring_bytes - 1);
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
template <bool BEYOND, int D, int AHEAD, bool VARYING>
static __device__ __forceinline__ void walk_half(walker<D, AHEAD, VARYING> &w, int steps, int kept, uint32_t keep_at,
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
                w.fetch(t + AHEAD > kept);
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
template <int D, int AHEAD, bool VARYING>
static __global__ void __launch_bounds__(WARP) lines_kernel(const __grid_constant__ lines_args a)
{
    extern __shared__ __align__(1024) unsigned char shared[]; /* [AHEAD][32] costs, pairs, P2; [kept][32] sums */
    const share<D> own(a);
    const int lane = threadIdx.x, half = own.pixels / 2, kept = min(a.kept, half);
    const plx_neighbours<D / 16> beside(lane);
    walker<D, AHEAD, VARYING> w;

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
    const uint32_t keep_at = w.ring + AHEAD * PIXEL_BYTES(VARYING);
    plx_keep(w.p1), plx_keep(w.p2), plx_keep(w.cost), plx_keep(w.pairs);
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
    for (int i = kept, slot = w.here() + kept * COSTS_BYTES; i < AHEAD - 1; i++, slot += COSTS_BYTES) /* costs are there */
        plx_copy_16_ahead(w.ring + w.ring_bytes + (slot & (w.ring_bytes - 1)), w.pairs + w.stored + i * w.step);
    plx_close_copies();
    plx_await_copies<0>();
    walk_half<true>(w, half, kept, keep_at ^ D, beside);
}

#endif
