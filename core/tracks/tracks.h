/* SPDX-License-Identifier: Apache-2.0 */
/* Obstacles over time: identity, age, velocity. */
#ifndef PLX_CORE_TRACKS_TRACKS_H
#define PLX_CORE_TRACKS_TRACKS_H

#include <stdint.h>

#include <parallax/frame.h>

#include "core/ground/predictions.h"

struct plx_track_params {
    int min_hits;      /* frames with a match until a track is TRACKED, or LOST where it has none; before that it is NEW */
    int max_missed;    /* most frames without a match in a row; half a second ends a track too */
    double gate_m;     /* largest distance of a match from the prediction, metres */
    double accel_mps2; /* standard deviation of unmodelled acceleration */
};

struct plx_tracks;

/* Numbers begin at 1. */
int plx_tracks_create(const struct plx_track_params *params, struct plx_tracks **ret_tracks);
void plx_tracks_destroy(struct plx_tracks *tracks);

/* The highest track number so far, 0 before the first. Continue: new numbers follow LAST, that of an earlier engine. */
uint32_t plx_tracks_last(const struct plx_tracks *tracks);
void plx_tracks_continue(struct plx_tracks *tracks, uint32_t last);

/* Matches the obstacles of one frame with the tracks, fills track, status, age_frames, velocities, size and class of each, and
 * appends LOST tracks up to CAPACITY; *count is in and out. Allocates nothing. A LOST track moves with its last velocity. A
 * track may miss max_missed frames in a row, or one less than it was seen in but at least one, whichever is less; it ends after
 * more, after half a second, and before it reaches the camera. All tracks end at a gap of more than two seconds between frames.
 * MOTION: the camera's since the frame before; while it is not valid, world velocities are unknown. */
void plx_tracks_update(struct plx_tracks *tracks, int64_t capture_ns, const struct plx_calibration_info *calibration,
                       const struct plx_motion_info *motion, struct plx_obstacle *obstacle, int *count, int capacity);

/* Before the frame captured at CAPTURE_NS is computed: where it will show the obstacles of the last frame that were seen at
 * least twice. None after a gap of more than half a second between frames. */
void plx_tracks_predict(const struct plx_tracks *tracks, int64_t capture_ns, const struct plx_calibration_info *calibration,
                        struct plx_predictions *ret_predictions);

#endif
