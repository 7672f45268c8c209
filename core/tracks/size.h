/* SPDX-License-Identifier: Apache-2.0 */
/* The size of a track: a mean of the extents of its obstacles that resists outliers, and the class of that size. */
#ifndef PLX_CORE_TRACKS_SIZE_H
#define PLX_CORE_TRACKS_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

struct plx_track_size {
    double m[3];         /* width, height, depth */
    uint32_t size_class; /* enum plx_size_class */
    int frames;          /* frames in the mean */
    int jumps;           /* frames in a row whose extent jumps */
};

/* The extents of OBSTACLE, none of them negative. */
void plx_track_size_of(const struct plx_obstacle *obstacle, double ret_m[3]);

void plx_track_size_begin(struct plx_track_size *size, const struct plx_obstacle *obstacle);
/* Returns true if OBSTACLE is more than twice as wide or high as SIZE was, or less than half: parts were joined or came apart,
 * and its centre is that of another shape. After the third such frame in a row SIZE begins anew. */
bool plx_track_size_update(struct plx_track_size *size, const struct plx_obstacle *obstacle);
/* True if OBSTACLE is more than twice as wide as SIZE. */
bool plx_track_size_is_outgrown(const struct plx_track_size *size, const struct plx_obstacle *obstacle);

/* Wider or deeper than the class wide, or the class large, begins. */
bool plx_track_size_is_wide(const struct plx_track_size *size);
bool plx_track_size_is_large(const struct plx_track_size *size);

#endif
