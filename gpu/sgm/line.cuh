/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines a picture has, and how warps share them. */
#ifndef PLX_GPU_SGM_LINE_CUH
#define PLX_GPU_SGM_LINE_CUH

#include "gpu/sgm/sgm.cuh"

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

#endif
