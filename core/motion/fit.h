/* SPDX-License-Identifier: Apache-2.0 */
/* The motion between two frames from points seen in both: RANSAC (Fischler and Bolles, Random Sample Consensus, CACM 1981),
 * then Gauss-Newton on the reprojection errors, in pixel and disparity, with Cauchy weights. */
#ifndef PLX_CORE_MOTION_FIT_H
#define PLX_CORE_MOTION_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/motion/fit_point.h"
#include "core/motion/pose.h"

/* Errors that all points may share. */
enum plx_fit_shared {
    PLX_FIT_DISPARITY, /* each disparity, of the key frame and of now, is 1 px too small, */
    PLX_FIT_CURVE,     /* or plx_fit_right_square px */
    PLX_FIT_COLUMN,    /* each corner is found 1 px too far right, */
    PLX_FIT_ROW,       /* or too far down, */
    PLX_FIT_TURN,      /* or turned about the principal point, by 1 px at the distance of the focal length */
    PLX_FIT_SHARED
};

struct plx_fit {
    struct plx_pose pose;  /* now_from_key */
    double covariance[36]; /* random errors of POSE, as a MOVE of plx_pose_move: m, rad, axes of the frame now; row-major */
    double shared[PLX_FIT_SHARED][6]; /* by how much each shared error moves POSE, likewise */
    double offset_weight;             /* how well the points would show an offset of all disparities: 1 / variance, px^-2 */
    int inliers;
};

/* Finds the motion; the search begins at PRIOR. Sets INLIER of all points. False if no motion explains enough points, or if
 * the points do not determine it. The same points always give the same result. */
bool plx_fit_motion(const struct plx_fit_camera *camera, struct plx_fit_point *point, int count, const struct plx_pose *prior,
                    struct plx_fit *ret_fit);

#endif
