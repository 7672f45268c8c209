/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregation along lines: L(p, d) = C(p, d) + min(L(q, d) - m, L(q, d -+ 1) - m + P1, P2), q the previous pixel, m the minimum
 * of L(q, .). Both directions of a line run in one warp, D / 16 threads each. On the first half of the line a direction stores
 * its L - C; on the second half it adds its own to what the other direction stored. So two paths write one byte for each pixel
 * and disparity, and read half of that. */
#ifndef PLX_GPU_SGM_LINES_CUH
#define PLX_GPU_SGM_LINES_CUH

#include "gpu/sgm/sgm.cuh"

#define WARP 32 /* a block is one warp, so that the compiler knows what is uniform */

/* Without subtraction at every step L grows by at most the largest cost, 62 + 32, and must fit 16 bits. */
#define STEPS_BETWEEN_SUBTRACTIONS 512

struct lines_args {
    const uint4 *cost;
    uint4 *path_sums[PLX_ORIENTATIONS], *dummy_line;
    const uint32_t *penalty;
    int width, height;
    int rows, columns, diagonals;          /* warps of each */
    int kept_pixels;                       /* pixels of a direction that stay in shared memory: aggregate_half */
    uint32_t p1_straight, p1_diagonal, p2; /* in both halves */
};

/* A line from its upper or left end. */
struct line_geometry {
    int x, y, dx, dy;
    int orientation;
    bool is_real; /* false: it fills up the warp and works on the dummy line */
};

/* The lines of a warp are of one length. Diagonals are numbered by falling length: first the longest, of which there may be
 * many, then of each length one at either end of the long side, each with its mirror image. */
static __host__ __device__ __forceinline__ int longest_diagonals(int width, int height)
{
    const int count = 2 * ((width > height ? width - height : height - width) + 1);
    return (count + 3) & ~3; /* so that the others begin with a warp */
}

static __device__ __forceinline__ line_geometry diagonal_line(const lines_args &a, int index, int pixels)
{
    const bool mirrored = index & 1;
    line_geometry l = {0, 0, 1, 1, PLX_FALLING, true};

    if (index < longest_diagonals(a.width, a.height)) {
        const int last = abs(a.width - a.height);
        l.is_real = index / 2 <= last;
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

static __device__ __forceinline__ line_geometry straight_line(int index, int lines, bool row)
{
    const int at = min(index, lines - 1);
    return {row ? 0 : at, row ? at : 0, row, !row, row ? PLX_HORIZONTAL : PLX_VERTICAL, index < lines};
}

/* Line INDEX_IN_WARP of the LINES lines of a warp, and their common length. */
static __device__ __forceinline__ line_geometry line_of(const lines_args &a, int warp, int lines, int index_in_warp,
                                                        int *ret_pixels)
{
    const int shorter = min(a.width, a.height), longest = longest_diagonals(a.width, a.height);

    if (warp < a.rows) {
        *ret_pixels = a.width;
        return straight_line(warp * lines + index_in_warp, a.height, true);
    }
    warp -= a.rows;
    if (warp < a.columns) {
        *ret_pixels = a.height;
        return straight_line(warp * lines + index_in_warp, a.width, false);
    }
    warp -= a.columns;
    *ret_pixels = warp * lines < longest ? shorter : shorter - 1 - (warp * lines - longest) / 4;
    return diagonal_line(a, warp * lines + index_in_warp, *ret_pixels);
}

/* L - C as a chunk of bytes: TRANSITION - M, with M in both halves. */
static __device__ __forceinline__ uint4 pack_increments(const uint32_t transition[8], uint32_t m)
{
    const uint32_t excess = m * 0x101;
    return make_uint4(plx_mad(transition[1], 256, transition[0]) - excess, plx_mad(transition[3], 256, transition[2]) - excess,
                      plx_mad(transition[5], 256, transition[4]) - excess, plx_mad(transition[7], 256, transition[6]) - excess);
}

/* Subtracts the minimum of L, where plx_add_costs does not do it at every step. */
template <int D> static __device__ __forceinline__ void subtract_min(uint32_t l[8])
{
    if (PLX_PACKED_HALF2)
        return;
    const uint32_t m = plx_min_of_pixel<D / 16, false>(l);
#pragma unroll
    for (int i = 0; i < 8; i++)
        l[i] -= m;
}

static __device__ __forceinline__ uint4 add(uint4 a, uint4 b)
{
    return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/* The middle pixel, which both directions reach at once: SUM plus that of the other direction. */
template <int D> static __device__ __forceinline__ uint4 add_other_direction(uint4 sum)
{
    return add(sum, make_uint4(__shfl_xor_sync(PLX_ALL_LANES, sum.x, D / 16), __shfl_xor_sync(PLX_ALL_LANES, sum.y, D / 16),
                               __shfl_xor_sync(PLX_ALL_LANES, sum.z, D / 16), __shfl_xor_sync(PLX_ALL_LANES, sum.w, D / 16)));
}

/* A thread's share of its line: a chunk of each pixel, in one direction. */
template <int D> struct line_slice {
    static constexpr int CHUNK_BITS = D == 64 ? 2 : D == 128 ? 3 : 4, CHUNKS = 1 << CHUNK_BITS, LINES = WARP / CHUNKS / 2;

    int pixels, orientation;
    ptrdiff_t chunk; /* place of the first pixel's chunk */
    int step;        /* chunks from one pixel to the next */
    uint4 *path_sums;
    const uint32_t *penalty; /* penalty of the first step: on its lower, or right, pixel */
    uint32_t p1;

    __device__ __forceinline__ explicit line_slice(const lines_args &a)
    {
        const int lane = threadIdx.x, direction = lane / CHUNKS;
        const bool backwards = direction & 1;
        const line_geometry line = line_of(a, blockIdx.x, LINES, direction / 2, &pixels);
        const int stride = line.dy * a.width + line.dx, first = line.y * a.width + line.x;
        const int start = backwards ? first + (pixels - 1) * stride : first, to_next = backwards ? -stride : stride;

        orientation = line.orientation;
        chunk = line.is_real ? (ptrdiff_t)start * CHUNKS + lane % CHUNKS : lane;
        step = line.is_real ? to_next * CHUNKS : 0;
        path_sums = line.is_real ? a.path_sums[orientation] : a.dummy_line;
        penalty = a.penalty + (backwards ? start - to_next : start);
        p1 = orientation >= PLX_FALLING ? a.p1_diagonal : a.p1_straight;
    }
};

/* Warps of rows, of columns and of diagonals (both kinds, with the dummy lines), of 256 / D lines each. */
static inline void plx_count_line_warps(int width, int height, const struct plx_match *match, int ret_warps[3])
{
    const int lines = 256 / match->disparities, diagonals = longest_diagonals(width, height) + 4 * (min(width, height) - 1);

    ret_warps[0] = (int)plx_div_ceil(height, lines);
    ret_warps[1] = (int)plx_div_ceil(width, lines);
    ret_warps[2] = match->paths == 8 ? (int)plx_div_ceil(diagonals, lines) : 0;
}

/* RET_WARPS: the blocks of the kernel. */
static inline lines_args plx_lines_args(const struct plx_sgm_job *job, unsigned *ret_warps)
{
    const struct plx_match *match = job->match;
    const struct plx_gpu_sgm *sgm = job->gpu->sgm;
    int warps[3];

    plx_count_line_warps(job->width, job->height, match, warps);
    *ret_warps = (unsigned)(warps[0] + warps[1] + warps[2]);
    return {sgm->cost,
            {sgm->path_sums[0], sgm->path_sums[1], sgm->path_sums[2], sgm->path_sums[3]},
            sgm->dummy_line,
            sgm->penalty,
            job->width,
            job->height,
            warps[0],
            warps[1],
            warps[2],
            0,
            (uint32_t)match->p1_straight * 0x10001u,
            (uint32_t)match->p1_diagonal * 0x10001u,
            (uint32_t)match->p2 * 0x10001u};
}

#endif
