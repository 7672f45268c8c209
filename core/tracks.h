/* SPDX-License-Identifier: Apache-2.0 */
/* Obstacles over time: identity, age, velocity. Plain data and maths. */
#ifndef PLX_CORE_TRACKS_H
#define PLX_CORE_TRACKS_H

#include <stdint.h>

#include <parallax/frame.h>

struct plx_track_params {
    int min_hits;      /* frames until a track counts as TRACKED */
    int max_missed;    /* frames without a match until it ends, if half a second has not ended it before */
    double gate_m;     /* largest distance of a match from the prediction, metres */
    double accel_mps2; /* standard deviation of unmodelled acceleration */
};

struct plx_tracks;

/* Numbers begin at 1. */
int plx_tracks_create(const struct plx_track_params *params, struct plx_tracks **ret_tracks);
void plx_tracks_destroy(struct plx_tracks *tracks);

/* The highest number given out, 0 before the first; and lets the numbers go on after LAST, which other tracks gave out. */
uint32_t plx_tracks_last(const struct plx_tracks *tracks);
void plx_tracks_continue(struct plx_tracks *tracks, uint32_t last);

/* Matches the obstacles of one frame with the tracks, fills track, status, age, velocity of each, and appends LOST ones up to
 * CAPACITY; *count is in and out. Allocates nothing. A LOST track is where its last velocity leads: it ends after max_missed
 * frames or half a second, whichever comes first, and before it would stand behind the camera. All tracks end where two frames
 * are more than two seconds apart. */
void plx_tracks_update(struct plx_tracks *tracks, int64_t capture_ns, const struct plx_calibration_info *calibration,
                       struct plx_obstacle *obstacle, int *count, int capacity);

#endif
