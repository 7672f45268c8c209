/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ego-motion: visual odometry of the left camera from its published image and strict disparity, in integers and single IEEE
 * operations in a fixed order, so that every machine gives the same bits. Corners of a key frame (corners.h) are found again in
 * each frame (flow.h), by the backend; the result is the motion that explains most of them (fit.h), on the CPU. While most of
 * the corners are still found, the key frame stays, so that a standing camera does not drift.
 */
#ifndef PLX_CORE_MOTION_MOTION_H
#define PLX_CORE_MOTION_MOTION_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/image.h"
#include "core/motion/disparity_error.h"
#include "core/motion/flow.h"
#include "core/motion/pose.h"

struct plx_motion;

/* For images of WIDTH x HEIGHT. MIN_DISPARITY as in matching. ARG, NOMEM. */
int plx_motion_create(int width, int height, const struct plx_calibration_info *calibration, int min_disparity,
                      struct plx_motion **ret_motion);
void plx_motion_destroy(struct plx_motion *motion); /* NULL is fine */

/* Begins at the pose of LAST, the last frame of an earlier engine, which counts as a break: nobody knows how the camera moved
 * since then. Ignored if LAST has no pose (PLX_MOTION_NONE). Before the first frame. */
void plx_motion_continue(struct plx_motion *motion, const struct plx_motion_info *last);

/* False if HINT has numbers that struct plx_motion_hint does not allow. */
bool plx_motion_hint_is_valid(const struct plx_motion_hint *hint);

/* Begins the search of frames whose interval HINT, a valid one, overlaps where HINT puts them; it replaces the one before. */
void plx_motion_set_prior(struct plx_motion *motion, const struct plx_motion_hint *hint);

/* Whether the motion of the newest frame may be that of a thing that fills the view, as the image or the robot's odometry
 * contradicts it. False if it has none. */
bool plx_motion_is_doubtful(const struct plx_motion *motion);

/* The steps of the camera that show the error of disparities, of the calibration as in its file; the motion's own. */
const struct plx_motion_steps *plx_motion_steps(const struct plx_motion *motion);

/* Steps are collected anew: what the images showed so far was bent, by other errors of the calibration. */
void plx_motion_forget_steps(struct plx_motion *motion);

/* After a frame: its disparities are bent, as the cameras moved between the captures of its pair; it begins and ends no step.
 */
void plx_motion_distrust_disparities(struct plx_motion *motion);

/* Before a frame: the disparities of it and the later ones are corrected by IN_FORCE. Motion takes all of their error to be
 * USED, and corrects what IN_FORCE leaves; it allows for a rest up to ESTIMATED. All 0 at first. */
void plx_motion_set_disparity_error(struct plx_motion *motion, const struct plx_disparity_error *in_force,
                                    const struct plx_disparity_error *used, const struct plx_disparity_error *estimated);

/* Before a frame: the corners to look for in its left image, and where. Then a backend computes what plx_motion_update needs
 * of the frame: stages pyramid, corners, flow and corner_disparities (core/pipeline/stages.h). */
void plx_motion_expect(struct plx_motion *motion, int64_t capture_ns, struct plx_flow_job *ret_job);

/* What the backend found in the left image and its disparities. */
struct plx_motion_sight {
    const struct plx_image *corners;    /* struct plx_corner_cell as U128 */
    const struct plx_flow_found *found; /* [job->count] */
    struct plx_flow_job *job;           /* that plx_motion_expect wrote; written anew for more searches */
    /* Searches again in the same image, by JOB: most corners are not where they were expected. Returns 0 or an error. */
    int (*search)(void *context, const struct plx_flow_found **ret_found);
    void *context;
};

/* The frame itself: SIGHT, of the size at creation. Allocates nothing. ARG; the error of a search. */
int plx_motion_update(struct plx_motion *motion, const struct plx_motion_sight *sight, int64_t capture_ns,
                      struct plx_motion_info *ret_info);

#endif
