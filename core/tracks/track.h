/* SPDX-License-Identifier: Apache-2.0 */
/* One track. Internal to core/tracks/tracks.c. */
#ifndef PLX_CORE_TRACKS_TRACK_H
#define PLX_CORE_TRACKS_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/tracks/camera.h"
#include "core/tracks/displacement.h"
#include "core/tracks/sides.h"
#include "core/tracks/size.h"

struct plx_track {
    uint32_t id, age;
    int seen;        /* frames in which it was matched */
    int missed;      /* frames since then */
    int64_t lost_ns; /* time since then */
    struct plx_track_state state;
    struct plx_track_size size;
    struct plx_track_sides sides;
    bool partial;                               /* a side was hidden since the whole thing was last seen */
    double innovations;                         /* squared, in standard deviations: their fading sum, */
    double innovation_weight;                   /* and its degrees of freedom */
    struct plx_track_displacement displacement; /* over the ground */
    int fast;                                   /* frames in a row whose world velocity is significant */
    bool moving;
    struct plx_obstacle last; /* its last match, as measured, */
    double last_x;            /* and where the tracked point was then */
};

/* Covariance of the measured position of OBSTACLE, whose usual SIZE is that of a track. In the world it includes SHARE of how
 * much the centre of what is seen may wander, so that this is no velocity. */
void plx_track_noise(const struct plx_track_camera *camera, const struct plx_calibration_info *calibration,
                     const struct plx_obstacle *obstacle, const struct plx_track_size *size, double share, double ret_noise[9]);

/* Where OBSTACLE is if it is TRACK: without what COVER hides. Returns false if nothing says where it is across the view; then
 * *ret_position holds the centroid of what is seen. */
bool plx_track_locate(const struct plx_track *track, const struct plx_calibration_info *calibration,
                      const struct plx_obstacle *obstacle, const struct plx_track_cover *cover, double ret_position[3]);

void plx_track_begin(struct plx_track *track, uint32_t id, const struct plx_track_camera *camera,
                     const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle,
                     const struct plx_track_cover *cover);
/* DT seconds later. CHANGED: as plx_track_camera_update returned. */
void plx_track_predict(struct plx_track *track, const struct plx_track_camera *camera, bool changed, double dt, double accel);
void plx_track_correct(struct plx_track *track, const struct plx_track_camera *camera,
                       const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle,
                       const struct plx_track_cover *cover);

/* A box in the image; right and bottom are the first column and row beyond it. */
struct plx_track_box {
    double left, right, top, bottom;
};

/* The box of TRACK's last match, moved and scaled to where the tracked point is at POSITION; both must lie before the camera.
 */
struct plx_track_box plx_track_box_at(const struct plx_track *track, const struct plx_calibration_info *calibration,
                                      const double position[3]);

/* Share of the union of OBSTACLE's box and the predicted box in the image that both cover, without what COVER hides of the
 * latter; 0 without a box. */
double plx_track_overlap(const struct plx_track *track, const struct plx_calibration_info *calibration,
                         const struct plx_obstacle *obstacle, const struct plx_track_cover *cover);

/* Sides of TRACK that were hidden since it began. */
int plx_track_unknown_sides(const struct plx_track *track);

/* Fills velocities, moving, size and class of RET; not the id, age_frames and status. */
void plx_track_publish(const struct plx_track *track, const struct plx_track_camera *camera, struct plx_obstacle *ret);

#endif
