/* SPDX-License-Identifier: Apache-2.0 */
/* The faces of a scene: rectangles that rays hit and that have a texture. */
#ifndef PLX_DRIVERS_SYNTHETIC_FACE_H
#define PLX_DRIVERS_SYNTHETIC_FACE_H

#include <stdbool.h>
#include <stdint.h>

#define PLX_RAY_LEVELS 32 /* scales of a texture */

enum plx_axis { PLX_AXIS_X, PLX_AXIS_Y, PLX_AXIS_Z };

/* A rectangle of one plane of the ground frame: AXIS has the value PLANE on it, and SLOPE more for each metre of Z; S and Q are
 * the other two axes. */
struct plx_ray_face {
    enum plx_axis axis, s_axis, q_axis;
    double plane, slope;
    float s_min, s_max, q_min, q_max;
    int x0, x1, y0, y1; /* pixels it may cover, ends excluded */
    uint8_t hit;
    bool moves;
    float albedo;
    float s_origin, q_origin;           /* zero of the texture coordinates, so that the texture moves with its box */
    const float *s_density, *q_density; /* texels per metre at each level */
    float s_stretch, q_stretch;
    float shift; /* texels: gives each face another part of the texture */
};

#endif
