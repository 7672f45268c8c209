/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregation along lines: L(p, d) = C(p, d) + min(L(q, d) - m, L(q, d -+ 1) - m + P1, P2), q the pixel before, m the least
 * L(q, .). Both directions of a line run in one warp, D / 16 threads each, and meet in the middle: on its first half a
 * direction stores its L - C, on its second it finds there what the other has left and adds to it. So two paths cost one byte a
 * disparity written and half of that read, and a line needs no second visit.
 */
#ifndef PLX_GPU_SGM_LINE_CUH
#define PLX_GPU_SGM_LINE_CUH

#include "gpu/sgm/step.cuh"

#define WARP 32 /* a block is one: what a warp does in common then is known to be common */

/* Where sums are not reduced at every step, they grow by at most the largest cost, 62 + 32, and have to fit 16 bits. */
#define STEPS_BETWEEN_REDUCTIONS 512

struct lines_args {
    const uint4 *cost;
    uint4 *pairs[PLX_ORIENTATIONS], *scrap;
    const uint32_t *penalty;
    int width, height;
    int rows, columns, diagonals;          /* warps of each */
    int kept;                              /* pixels of a direction, see walk_half */
    uint32_t p1_straight, p1_diagonal, p2; /* in both halves */
};

/* A line from its upper, or left, end. */
struct line_walk {
    int x, y, dx, dy;
    int orientation;
    bool exists; /* false: it only accompanies the others of its warp, and walks on the spot */
};

/*
 * The lines of a warp are of one length. Diagonals are numbered by falling length: first the longest, of which there may be
 * many, then of each length one at either end of the long side, each with its mirror image.
 */
static __host__ __device__ __forceinline__ int longest_diagonals(int width, int height)
{
    const int count = 2 * ((width > height ? width - height : height - width) + 1);
    return (count + 3) & ~3; /* so that others begin with a warp */
}

static __device__ __forceinline__ line_walk diagonal(const lines_args &a, int index, int pixels)
{
    const bool mirrored = index & 1;
    line_walk l = {0, 0, 1, 1, PLX_FALLING, true};

    if (index < longest_diagonals(a.width, a.height)) {
        const int last = abs(a.width - a.height);
        l.exists = index / 2 <= last;
        (a.width >= a.height ? l.x : l.y) = min(index / 2, last);
    } else if (index & 2) {
        l.x = a.width - pixels;
    } else {
        l.y = a.height - pixels;
    }
    if (mirrored) {
        l.x = a.width - 1 - l.x;
        l.dx = -1;
        l.orientation = PLX_RISING;
    }
    return l;
}

static __device__ __forceinline__ line_walk straight(int index, int lines, bool row)
{
    const int at = min(index, lines - 1);
    return {row ? 0 : at, row ? at : 0, row, !row, row ? PLX_HORIZONTAL : PLX_VERTICAL, index < lines};
}

/* Line PLACE of the LINES of a warp, and how many pixels all of them have. */
static __device__ __forceinline__ line_walk line_of(const lines_args &a, int warp, int lines, int place, int *ret_pixels)
{
    const int shorter = min(a.width, a.height), longest = longest_diagonals(a.width, a.height);

    if (warp < a.rows) {
        *ret_pixels = a.width;
        return straight(warp * lines + place, a.height, true);
    }
    warp -= a.rows;
    if (warp < a.columns) {
        *ret_pixels = a.height;
        return straight(warp * lines + place, a.width, false);
    }
    warp -= a.columns;
    *ret_pixels = warp * lines < longest ? shorter : shorter - 1 - (warp * lines - longest) / 4;
    return diagonal(a, warp * lines + place, *ret_pixels);
}

/* Diagonals of both kinds, with places to fill up the longest. */
static int all_diagonals(int width, int height)
{
    return longest_diagonals(width, height) + 4 * (min(width, height) - 1);
}

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
