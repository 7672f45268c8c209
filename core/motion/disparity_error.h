/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The error of disparities that a wrong calibration leaves, as the motion shows it: near and far points agree on one motion
 * only if their disparities are right. With x of a match in the right image, from its principal point in focal lengths, each
 * disparity is OFFSET + CURVE x^2 px too small: a yaw of the right camera makes both, distortion that a model left the curve.
 *
 * Both numbers come from many steps of the camera together, as one step says too little: Gauss-Newton on them and on the poses
 * of all steps, which the normal equations eliminate (Schur complement).
 */
#ifndef PLX_CORE_MOTION_DISPARITY_ERROR_H
#define PLX_CORE_MOTION_DISPARITY_ERROR_H

#include <stdbool.h>

#include "core/motion/fit.h"

#define PLX_STEP_POINTS 160 /* points in a step */
#define PLX_STEPS 24        /* the newest ones count */
#define PLX_STEPS_MIN 12    /* fewer show nothing */

/* How well a frame shows an offset of disparities, plx_fit.offset_weight: a camera that stands makes 0.001, one that drives 100
 * to 500. */
#define PLX_STEP_MIN_WEIGHT 40.0   /* a key frame and a frame that show less make no step */
#define PLX_STEP_FULL_WEIGHT 100.0 /* from here on nothing more is gained from the key frame */

struct plx_disparity_error {
    double offset, curve; /* px */
};

/* A point that was seen in the frames at both ends of a step: pixels of the left image; disparities above that of infinity,
 * as the calibration file gives them. */
struct plx_motion_point {
    float was[3], is[3]; /* u, v, disparity: at the begin; at the end, where disparity 0 means none */
};

/* A movement of the camera that shows enough of the error, from a key frame to a later frame. */
struct plx_motion_step {
    struct plx_pose pose; /* end_from_begin */
    int points;
    struct plx_motion_point point[PLX_STEP_POINTS];
};

/* The newest steps. Zeroed but for CAMERA: none. */
struct plx_motion_steps {
    struct plx_fit_camera camera;
    int count, next; /* steps; where the next one goes */
    int added;       /* since the camera is in use */
    struct plx_motion_step step[PLX_STEPS];
};

/* Adds the step to this frame, of as many of the COUNT points of its fit as there is room for. USED: by how much their
 * disparities were corrected here. */
void plx_motion_steps_add(struct plx_motion_steps *steps, const struct plx_fit_point *point, int count,
                          const struct plx_disparity_error *used, const struct plx_pose *end_from_begin);

/* Takes back the last plx_motion_steps_add. */
void plx_motion_steps_drop_newest(struct plx_motion_steps *steps);

struct plx_disparity_estimate {
    struct plx_disparity_error error;
    double covariance[2][2]; /* by how the steps differ, and what all of them share */
    int steps;               /* 0: not measured */
};

/* Which steps an estimate rests on. */
enum plx_motion_steps_part { PLX_STEPS_OLDER, PLX_STEPS_NEWER, PLX_STEPS_ALL, PLX_STEPS_PARTS };

/* How much too small a disparity is at X2 = x^2. */
static inline double plx_disparity_error_at(const struct plx_disparity_error *error, double x2)
{
    return error->offset + error->curve * x2;
}

/* Variance of the same. */
static inline double plx_disparity_variance_at(const struct plx_disparity_estimate *estimate, double x2)
{
    const double(*c)[2] = estimate->covariance;
    return c[0][0] + 2 * x2 * c[0][1] + x2 * x2 * c[1][1];
}

/* Estimates the error from one PART of the steps. False if there are too few, or if they do not determine it. The same steps
 * always give the same result. Takes milliseconds. */
bool plx_disparity_error_estimate(const struct plx_motion_steps *steps, enum plx_motion_steps_part part,
                                  struct plx_disparity_estimate *ret_estimate);

#endif
