/* SPDX-License-Identifier: Apache-2.0 */
/* Where the solver of a calibration begins: homographies of the board give focal length and poses (Zhang, A Flexible New
 * Technique for Camera Calibration, 2000), with the principal point in the middle and no distortion. */
#ifndef PLX_APP_CALIBRATE_INITIAL_H
#define PLX_APP_CALIBRATE_INITIAL_H

#include "app/calibrate/board.h"
#include "core/geometry/calibration.h"

/* Focal length and principal point of EYE from PAIRS; its model and size are kept. FORMAT: the corners are those of no board.
 */
int plx_initial_camera(const struct plx_board *board, const struct plx_board_pair *pair, int pairs, enum plx_eye eye,
                       struct plx_camera *camera, struct plx_error_message *message);

/* camera_from_board for EYE of PAIR, without distortion. FORMAT. */
int plx_initial_pose(const struct plx_board *board, const struct plx_board_pair *pair, enum plx_eye eye,
                     const struct plx_camera *camera, struct plx_pose *ret_pose);

#endif
