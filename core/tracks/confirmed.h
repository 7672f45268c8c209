/* SPDX-License-Identifier: Apache-2.0 */
/* What a list for people shows of the tracks: confirmed ones, and a lost one for one frame more, so that a thing that is missed
 * once does not flicker. Programs that act on frames use all of them. */
#ifndef PLX_CORE_TRACKS_CONFIRMED_H
#define PLX_CORE_TRACKS_CONFIRMED_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

/* The tracks that were TRACKED in the frame before, as its reader saw it; all zeros before the first. A frame does not say how
 * often a LOST track was missed, therefore each reader keeps them. */
struct plx_confirmed {
    uint32_t count;
    uint32_t track[PLX_MAX_OBSTACLES];
};

/* True if a list shows OBSTACLE: it is TRACKED, or it is LOST and was TRACKED in the frame BEFORE. */
bool plx_confirmed_shows(const struct plx_confirmed *before, const struct plx_obstacle *obstacle);

/* Keeps what is TRACKED among the first COUNT obstacles, for the next frame. */
void plx_confirmed_keep(struct plx_confirmed *confirmed, const struct plx_obstacle *obstacle, uint32_t count);

#endif
