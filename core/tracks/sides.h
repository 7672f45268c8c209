/* SPDX-License-Identifier: Apache-2.0 */
/* The sides of a track: a nearer obstacle hides one, and the other still says where the thing is. Internal to
 * core/tracks/tracks.c. */
#ifndef PLX_CORE_TRACKS_SIDES_H
#define PLX_CORE_TRACKS_SIDES_H

#include <stdbool.h>

#include <parallax/frame.h>

enum plx_track_side { PLX_TRACK_LEFT, PLX_TRACK_RIGHT, PLX_TRACK_SIDES };

/* What nearer obstacles of the same frame do to an obstacle. */
struct plx_track_cover {
    bool any;                     /* one touches its box: the centroid is not that of the whole thing */
    bool hidden[PLX_TRACK_SIDES]; /* this side of its box is an occlusion edge, where the nearer obstacle begins */
};

/* In axes of the camera now, along x. The tracked point is the centroid of the thing as it was seen whole. */
struct plx_track_sides {
    double reach_m[PLX_TRACK_SIDES]; /* from the tracked point to each side */
    bool known[PLX_TRACK_SIDES];     /* that side has been seen */
};

/* Fills one element for each of the COUNT obstacles, at most PLX_MAX_OBSTACLES. */
void plx_track_cover_find(const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle, int count,
                          struct plx_track_cover *ret_cover);
bool plx_track_cover_hides(const struct plx_track_cover *cover); /* one side or both */

void plx_track_sides_begin(struct plx_track_sides *sides, const struct plx_calibration_info *calibration,
                           const struct plx_obstacle *obstacle, const struct plx_track_cover *cover);

/* X of the tracked point: by the sides that are not hidden if COVER touches OBSTACLE, else its centroid. Returns false if no
 * side says where it is; *ret_x is the centroid of what is seen then. */
bool plx_track_sides_locate(const struct plx_track_sides *sides, const struct plx_calibration_info *calibration,
                            const struct plx_obstacle *obstacle, const struct plx_track_cover *cover, double *ret_x);

/* True if the visible sides disagree about the tracked point by more than TOLERANCE_M: SIDES are those of a part. */
bool plx_track_sides_differ(const struct plx_track_sides *sides, const struct plx_calibration_info *calibration,
                            const struct plx_obstacle *obstacle, const struct plx_track_cover *cover, double tolerance_m);

/* The tracked point is at X. */
void plx_track_sides_update(struct plx_track_sides *sides, const struct plx_calibration_info *calibration,
                            const struct plx_obstacle *obstacle, const struct plx_track_cover *cover, double x);

#endif
