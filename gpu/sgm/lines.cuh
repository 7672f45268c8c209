/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregation along lines: L(p, d) = C(p, d) + min(L(q, d) - m, L(q, d -+ 1) - m + P1, P2), q the pixel before, m the least
 * L(q, .). Both directions of a line run in one warp, D / 16 threads each, and meet in the middle: on its first half a
 * direction stores its L - C, on its second it finds there what the other has left and adds to it. So two paths cost one byte a
 * disparity written and half of that read, and a line needs no second visit.
 */
#ifndef PLX_GPU_SGM_LINES_CUH
#define PLX_GPU_SGM_LINES_CUH

#include "gpu/sgm/line.cuh"
#include "gpu/sgm/step.cuh"

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

#endif
