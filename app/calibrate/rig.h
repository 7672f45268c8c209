/* SPDX-License-Identifier: Apache-2.0 */
/* A rig: two cameras, the pose between them, and how certain their calibration is. */
#ifndef PLX_APP_CALIBRATE_RIG_H
#define PLX_APP_CALIBRATE_RIG_H

#include "app/calibrate/board.h"
#include "core/geometry/calibration.h"

#define PLX_RIG_MIN_PAIRS 3
#define PLX_RIG_MAX_PAIRS 500
#define PLX_RIG_MAX_PARAMETERS (2 * (4 + 8) + 6)
#define PLX_RIG_DISTANCES 4

extern const double plx_rig_distances[PLX_RIG_DISTANCES]; /* metres */

/* Both cameras, and right_from_left. Parameters are, in this order: fx, fy, cx, cy and the distortion of the left camera, the
 * same of the right one, rotation vector (rad) and translation (m). */
struct plx_rig {
    struct plx_camera camera[PLX_EYES];
    struct plx_pose right_from_left;
};

struct plx_rig_options {
    int width, height;         /* pixels of a picture */
    enum plx_distortion model; /* both cameras' model */
};

struct plx_rig_fit {
    struct plx_rig rig;
    int parameters;
    double sigma[PLX_RIG_MAX_PARAMETERS]; /* standard deviation of each parameter */
    double baseline_sigma_m;
    double distance_sigma[PLX_RIG_DISTANCES]; /* distances straight ahead at plx_rig_distances, relative */
    double rms_px;                            /* distances of all corners of both eyes */
    int iterations;
};

#endif
