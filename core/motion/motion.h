/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ego-motion: visual odometry of the left camera from its published picture and strict disparity. It runs on the CPU whatever
 * the backend, and in integers and single IEEE operations in a fixed order, so that every machine gives the same bits. Corners
 * of a key frame (corners.h) are found again in each frame (flow.h); the result is the motion that explains most of them
 * (fit.h). While most of the corners are still found, the key frame stays, so that a standing camera does not drift.
 */
#ifndef PLX_CORE_MOTION_MOTION_H
#define PLX_CORE_MOTION_MOTION_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/image.h"
#include "core/motion/pose.h"

struct plx_motion;

/* Axes of a camera: x right, y down, z forward; metres. */
struct plx_motion_info {
    bool valid;             /* MOTION and COVARIANCE are known; false for the first frame */
    int corners;            /* of the key frame */
    int tracked;            /* of those, found in this frame */
    int inliers;            /* of those, explained by the motion */
    int64_t interval_ns;    /* of MOTION: from the last frame whose motion was known */
    struct plx_pose motion; /* then_from_now: its translation is where the camera has gone in axes of the camera then */
    double covariance[36];  /* of MOTION's error: translation (m), rotation vector (rad), axes of the camera now; row-major */
    struct plx_pose pose;   /* start_from_now; start: the camera of the first frame */
    uint32_t breaks;        /* how often motion was lost for good: POSE lacks that motion */
};

/* For pictures of WIDTH x HEIGHT. MIN_DISPARITY as in matching. ARG, NOMEM. */
int plx_motion_create(int width, int height, const struct plx_calibration_info *calibration, int min_disparity,
                      struct plx_motion **ret_motion);
void plx_motion_destroy(struct plx_motion *motion); /* NULL is fine */

/* The next frame: LEFT U8 and DISPARITY U16 as published, both of the size at creation. Allocates nothing. ARG. */
int plx_motion_update(struct plx_motion *motion, const struct plx_image *left, const struct plx_image *disparity,
                      int64_t capture_ns, struct plx_motion_info *ret_info);

#endif
