/* SPDX-License-Identifier: Apache-2.0 */
/* The radiance of surfaces: their texture, sampled at a scale that suits the distance. */
#ifndef PLX_DRIVERS_SYNTHETIC_SHADE_H
#define PLX_DRIVERS_SYNTHETIC_SHADE_H

#include "drivers/synthetic/face.h"

#define PLX_SHADE_POINTS 128       /* per call: what a call keeps of them stays in the L1 cache */
#define PLX_SHADE_NEAREST_M 0.0625 /* distance of level 0 */

/* COUNT points of FACE, at most PLX_SHADE_POINTS: S and Q in metres along its axes, DEPTH in metres along the optical axis. */
void plx_shade_face(const struct plx_ray_face *face, int count, const float *s, const float *q, const float *depth,
                    float *ret_radiance);

/* COUNT pixels of the background, at most PLX_SHADE_POINTS, from column FIRST of a row. U is the position of column 0 and V
 * that of the row, in pixels from the principal point. */
void plx_shade_sky(float u, int first, float v, int count, float *ret_radiance);

#endif
