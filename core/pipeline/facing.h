/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step of a pixel on a surface that faces the camera, for every backend: matching draws such surfaces towards whole
 * disparities (docs/matching.md), the pictures do not. One step of least squares over a window, after Lucas and Kanade, An
 * iterative image registration technique, IJCAI 1981; the difference in brightness of both windows is left out of it. Integers
 * only, but for one quotient that is cut down to one.
 */
#ifndef PLX_CORE_PIPELINE_FACING_H
#define PLX_CORE_PIPELINE_FACING_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/both.h"

#define PLX_FACING_REACH 3 /* of the window, pixels */
#define PLX_FACING_WINDOW (2 * PLX_FACING_REACH + 1)
#define PLX_FACING_OUTLIER 40 /* grey levels: pixels that differ more do not match */
#define PLX_FACING_CONTRAST 4 /* mean of S^2 over the window that a step needs */
#define PLX_FACING_STEP 6     /* the largest, 1/16 px */

/* What tells whether a surface faces the camera: the eight neighbours so many pixels away, across, down and both. */
#define PLX_FACING_FAR 5
#define PLX_FACING_SAME 9   /* 1/16 px: all differ by no more, */
#define PLX_FACING_OTHER 40 /* 1/16 px: or by more than this, and belong to another surface */
#define PLX_FACING_LEAST 4  /* are on the same surface */

/* What a pixel adds to the sums of a window. E: grey levels that it is brighter than its partner. S: both slopes, each over two
 * pixels, added up. PART: what its disparity has beyond the whole one of its partner, 1/16 px. */
struct plx_facing {
    int32_t move;   /* -64 E S - PART S^2 */
    int32_t slope2; /* S^2 */
    int32_t slope;  /* S */
    int32_t pairs;  /* PLX_FACING_PAIR + E */
};
#define PLX_FACING_PAIR 4096 /* more than twice the sum of |E| of a window */

/* The whole disparity next to V, the larger of two. */
PLX_BOTH int plx_facing_whole(int v)
{
    return (v + PLX_DISPARITY_ONE / 2) >> 4;
}

PLX_BOTH int plx_facing_part(int v)
{
    return v - PLX_DISPARITY_ONE * plx_facing_whole(v);
}

/* The partner's column of the pixel in column X of rows of WIDTH pixels with disparity V; below 0 where one of both or a
 * neighbour lies outside, or V is invalid. */
PLX_BOTH int plx_facing_partner(int width, int x, int v, int min_disparity)
{
    const int q = x - plx_facing_whole(v) - min_disparity, last = width - 2;
    const int there = (v != PLX_DISPARITY_INVALID) & (x >= 1) & (x <= last) & (q >= 1) & (q <= last);
    return there ? q : -1;
}

/* What a pixel adds whose PARTNER is there; zeros where it is not, and where they differ too much. */
PLX_BOTH struct plx_facing plx_facing_of(int partner, int e, int s, int part)
{
    const int mask = -((partner >= 0) & (e <= PLX_FACING_OUTLIER) & (e >= -PLX_FACING_OUTLIER));
    const struct plx_facing one = {-s * (64 * e + part * s) & mask, s * s & mask, s & mask, (PLX_FACING_PAIR + e) & mask};
    return one;
}

/*
 * The step of a pixel with disparity V, 1/16 px, half up, from the SUM of its window. Never towards the whole disparity: only
 * matching draws that way. The mean difference in brightness, in 1/16 grey level, is rounded half up too: the float quotient,
 * correctly rounded, is cut down to the same integer as the exact one, for it is below 1282, and an exact one that is no
 * integer is at least 1 / 98 away from the next.
 */
PLX_BOTH int plx_facing_step(struct plx_facing sum, int v)
{
    const int n = (sum.pairs + PLX_FACING_PAIR / 2) / PLX_FACING_PAIR, difference = sum.pairs - n * PLX_FACING_PAIR;
    const int positive = 32 * (difference + PLX_FACING_OUTLIER * n) + n;
    const int brightness = (int)((float)positive / (float)(2 * n + (n == 0))) - 16 * PLX_FACING_OUTLIER;
    const int twice = 2 * (sum.move + 4 * brightness * sum.slope); /* at most 4.7e8 */
    int step = 0;

    for (int k = 1; k < 2 * PLX_FACING_STEP; k += 2)
        step += (twice >= k * sum.slope2) - (twice < -k * sum.slope2);
    const int kept =
        (sum.slope2 >= PLX_FACING_CONTRAST * PLX_FACING_WINDOW * PLX_FACING_WINDOW) & (step * plx_facing_part(v) >= 0);
    return kept ? step : 0;
}

#endif
