/* SPDX-License-Identifier: Apache-2.0 */
/* Obstacles over time: identity, age, velocity. Plain data and maths. */
#ifndef PLX_CORE_TRACKS_H
#define PLX_CORE_TRACKS_H

#include <stdint.h>

#include <parallax/frame.h>

struct plx_track_params {
    int confirm;       /* frames until a track counts as TRACKED */
    int lose_after;    /* frames without a match until it ends */
    double gate_m;     /* largest distance of a match from the prediction, metres */
    double accel_mps2; /* standard deviation of unmodelled acceleration */
};

struct plx_tracks;

int plx_tracks_create(const struct plx_track_params *params, struct plx_tracks **ret_tracks);
void plx_tracks_destroy(struct plx_tracks *tracks);

/* Matches the obstacles of one frame with the tracks, fills track, status, age, velocity of each, and appends LOST ones up to
 * CAPACITY; *count is in and out. Allocates nothing. */
void plx_tracks_update(struct plx_tracks *tracks, int64_t capture_ns, const struct plx_calibration_info *calibration,
                       struct plx_obstacle *obstacle, int *count, int capacity);

#endif
