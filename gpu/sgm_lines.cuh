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

/* L - C as a chunk of bytes. EXCESS, what L contains too much, in each byte, modulo 256. */
static __device__ __forceinline__ uint4 pack(const uint32_t l[8], uint4 c, uint32_t excess)
{
    return make_uint4(plx_mad(l[1], 256, l[0] - c.x - excess), plx_mad(l[3], 256, l[2] - c.y - excess),
                      plx_mad(l[5], 256, l[4] - c.z - excess), plx_mad(l[7], 256, l[6] - c.w - excess));
}

static __device__ __forceinline__ uint4 add(uint4 a, uint4 b)
{
    return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/* Bytes of shared memory that a warp needs for each pixel ahead: costs, and what the other direction left. */
#define COSTS_BYTES (WARP * 16)
#define PIXEL_BYTES (2 * COSTS_BYTES)

/*
 * P2 of the steps of a line, in both halves, four by four. Where it varies, four threads side by side have looked up one of the
 * four each, and one of the next four; each is then told to all of them.
 */
#define FOUR 4
template <bool VARYING> struct penalties {
    const uint32_t *at; /* of the first step: on its lower, or right, pixel */
    int stride, last;   /* from step to step; number of the last */
    uint32_t pick;      /* the orientation's byte */
    uint32_t now, next;

    __device__ __forceinline__ uint32_t look_up(int step) const
    {
        uint32_t word; /* now, not when it is needed */
        asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(word) : "l"(at + min(step + (int)threadIdx.x % FOUR, last) * stride));
        return word;
    }

    /* Before the four steps from STEP on, of which the first four are looked up by NEXT. */
    __device__ __forceinline__ void prepare(int step)
    {
        if (!VARYING)
            return;
        now = __byte_perm(next, 0, pick);
        next = look_up(step + FOUR);
    }

    __device__ __forceinline__ uint32_t tell(int i) const
    {
        return VARYING ? __shfl_sync(PLX_ALL_LANES, now, i, FOUR) : now;
    }
};

/*
 * What a thread needs while it walks: its place in the volumes, and in the ring of pixels ahead in shared memory. It fetches
 * beyond the end of its line, where the volumes have room, and uses nothing of that.
 */
template <int D, int AHEAD> struct walker {
    static constexpr bool HASTY = AHEAD == MOST_AHEAD;
    static constexpr uint32_t ring_bytes = AHEAD * COSTS_BYTES;

    const uint4 *cost;
    uint4 *pairs;
    int fetched, stored, step; /* chunks: to fetch next, to store next, from one pixel to the next */
    uint32_t ring;             /* address of this thread's part */
    uint32_t write, read;      /* offsets there of the pixel to fetch, and of the next one to load */
    uint32_t l[8], excess;
    uint4 c, next; /* costs of this pixel, and in haste of the next */

    __device__ __forceinline__ void fetch(bool pairs_too)
    {
        plx_copy_16_ahead(ring + write, cost + fetched);
        if (pairs_too)
            plx_copy_16_ahead(ring + ring_bytes + write, pairs + fetched);
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
        excess = 0;
#pragma unroll
        for (int i = 0; i < 8; i++)
            l[i] = 0;
    }

    /* Makes the L of the next pixel; in haste it has the costs already, and loads those of the one after it. */
    __device__ __forceinline__ void walk(uint32_t p1, uint32_t p2, const plx_neighbours<D / 16> &beside)
    {
        uint32_t costs[8];

        plx_await_copies<AHEAD - 2 - HASTY>();
        if (HASTY) {
            c = next;
            next = plx_load_shared_16(ring + read);
        } else {
            c = plx_load_shared_16(ring + read);
        }
        plx_unpack(c, costs);
        const uint32_t m = plx_least<D / 16, HASTY>(l);
        plx_advance<D / 16, PLX_PACKED_HALF2>(l, m, costs, p1, p2, beside);
        if (!PLX_PACKED_HALF2) {
            excess = (m & 0xFFFF) * 0x01010101u;
            plx_keep(excess);
        }
    }

    /* Offset of the pixel that is next to be walked. */
    __device__ __forceinline__ uint32_t here(void) const
    {
        return (read - HASTY * COSTS_BYTES) & (ring_bytes - 1);
    }

    __device__ __forceinline__ uint4 result(void) const
    {
        return pack(l, c, excess);
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

    __device__ __forceinline__ void reduce(void)
    {
        if (PLX_PACKED_HALF2)
            return;
        const uint32_t m = plx_least<D / 16, HASTY>(l);
#pragma unroll
        for (int i = 0; i < 8; i++)
            l[i] -= m;
    }
};

/*
 * Walks half of a line. On its first half a direction leaves its sums, BEYOND the middle it adds to what the other has left.
 * The last KEPT pixels of a first half, which are the first that the other meets, stay in shared memory: for 2 KEPT of the
 * pixels neither of the two directions sends anything to memory and back.
 */
template <bool BEYOND, bool KEEPS, int D, int AHEAD, bool VARYING>
static __device__ __forceinline__ void walk_half(walker<D, AHEAD> &w, uint32_t p1, penalties<VARYING> &p2, int first, int steps,
                                                 int kept, uint32_t keep_at, const plx_neighbours<D / 16> &beside)
{
    const auto step = [&](int t, uint32_t penalty) {
        const uint32_t ring = w.ring + w.ring_bytes + w.here();
        w.walk(p1, penalty, beside); /* which waits */
        if (BEYOND) {
            const uint4 left = plx_load_shared_16(KEEPS && t < kept ? keep_at + (kept - 1 - t) * COSTS_BYTES : ring);
            w.fetch(!KEEPS || t + AHEAD > kept);
            w.store(add(left, w.result()));
        } else {
            w.fetch(false);
            if (!KEEPS || t < steps - kept)
                w.store(w.result());
            else
                plx_store_shared_16(keep_at + (t - (steps - kept)) * COSTS_BYTES, w.result());
        }
        w.pass();
    };

    if (VARYING)
        p2.next = p2.look_up(first);
    for (int t = 0; t < steps;) {
        const int pause = min(steps, t + STEPS_BETWEEN_REDUCTIONS);
        for (; t + FOUR <= pause; t += FOUR) {
            p2.prepare(first + t);
#pragma unroll
            for (int i = 0; i < FOUR; i++)
                step(t + i, p2.tell(i));
        }
        if (t < pause) /* at the end */
            p2.prepare(first + t);
#pragma unroll 1
        for (int i = 0; t < pause; i++, t++)
            step(t, p2.tell(i));
        w.reduce();
    }
}

/*
 * Grid: a warp walks 256 / D lines in both directions; rows, then columns, then diagonals of both kinds. A line's pixel moves
 * D bytes of cost in twice, D bytes of sums out twice and in once: for 8 paths 20 D a pixel, of which L2 keeps what it can.
 */
template <int D, int AHEAD, bool VARYING, bool KEEPS>
static __global__ void __launch_bounds__(WARP) lines_kernel(const __grid_constant__ lines_args a)
{
    constexpr int CHUNKS = D / 16, LINES = WARP / CHUNKS / 2;
    extern __shared__ __align__(1024) unsigned char shared[]; /* chunks: [AHEAD][32] costs, as many pairs, [kept][32] sums */
    const int lane = threadIdx.x, direction = lane / CHUNKS, g = lane % CHUNKS;
    const bool backwards = direction & 1;
    int pixels;
    const line_walk line = line_of(a, blockIdx.x, LINES, direction / 2, &pixels);
    const int half = pixels / 2;
    const int stride = line.dy * a.width + line.dx, first = line.y * a.width + line.x;
    const int start = backwards ? first + (pixels - 1) * stride : first, step = backwards ? -stride : stride;
    const plx_neighbours<CHUNKS> beside(lane);
    uint32_t p1 = line.orientation >= PLX_FALLING ? a.p1_diagonal : a.p1_straight;
    penalties<VARYING> p2;
    walker<D, AHEAD> w;

    p2.at = a.penalty + (backwards ? start - step : start);
    p2.stride = step;
    p2.last = pixels - 1;
    p2.pick = 0x4040u | (uint32_t)line.orientation | (uint32_t)line.orientation << 8;
    p2.now = a.p2;
    w.cost = a.cost;
    w.pairs = line.exists ? a.pairs[line.orientation] : a.scrap;
    w.fetched = w.stored = line.exists ? start * CHUNKS + g : lane;
    w.step = line.exists ? step * CHUNKS : 0;
    w.ring = (uint32_t)__cvta_generic_to_shared(shared) + lane * 16;
    const int kept = KEEPS ? min(a.kept, half) : 0;
    const uint32_t keep_at = w.ring + 2 * w.ring_bytes;
    plx_keep(p1), plx_keep(p2.now), plx_keep(w.cost), plx_keep(w.pairs);
    w.start();

    walk_half<false, KEEPS>(w, p1, p2, 0, half, kept, keep_at, beside);
    if (pixels & 1) { /* both are there at once, and store the same */
        if (VARYING)
            p2.next = p2.look_up(half);
        p2.prepare(half);
        w.walk(p1, p2.tell(0), beside);
        w.fetch(false);
        uint4 sum = w.result();
        sum.x += __shfl_xor_sync(PLX_ALL_LANES, sum.x, CHUNKS);
        sum.y += __shfl_xor_sync(PLX_ALL_LANES, sum.y, CHUNKS);
        sum.z += __shfl_xor_sync(PLX_ALL_LANES, sum.z, CHUNKS);
        sum.w += __shfl_xor_sync(PLX_ALL_LANES, sum.w, CHUNKS);
        w.store(sum);
        w.pass();
    }
    __threadfence(); /* what was left is seen by the other half of the warp */
    __syncwarp();
    for (int i = kept, slot = w.here() + kept * COSTS_BYTES; i < AHEAD - 1; i++, slot += COSTS_BYTES) /* costs are there */
        plx_copy_16_ahead(w.ring + w.ring_bytes + (slot & (w.ring_bytes - 1)), w.pairs + w.stored + i * w.step);
    plx_close_copies();
    plx_await_copies<0>();
    walk_half<true, KEEPS>(w, p1, p2, pixels - half, half, kept, keep_at ^ CHUNKS * 16, beside);
}

#endif
