/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calibration of a stereo camera from pairs of pictures of a board: least squares of the distances between corners that
 * were found and corners as the cameras would see them (bundle adjustment; Triggs and others 1999), by Levenberg's and
 * Marquardt's method. Far corners weigh less (Huber 1964).
 */
#ifndef PLX_APP_CALIBRATE_RIG_FIT_H
#define PLX_APP_CALIBRATE_RIG_FIT_H

#include "app/calibrate/rig.h"

/* Fits a rig to PAIRS of one board. RET_PAIR_RMS [pairs]: of each pair's corners, left and right, pixels; may be NULL. RANGE
 * (too few or too many pairs, sizes), FORMAT (corners of no board, or of boards that do not determine the cameras: tilt it
 * more), NOMEM. */
int plx_rig_fit(const struct plx_board *board, const struct plx_board_pair *pair, int pairs,
                const struct plx_rig_options *options, struct plx_rig_fit *ret_fit, double (*ret_pair_rms)[PLX_EYES],
                struct plx_error_message *message);

#endif
