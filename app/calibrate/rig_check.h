/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a calibration may be used. What fails names the likely mistake in the recording. */
#ifndef PLX_APP_CALIBRATE_RIG_CHECK_H
#define PLX_APP_CALIBRATE_RIG_CHECK_H

#include "app/calibrate/rig.h"

#define PLX_RIG_MAX_RMS_PX 1.0
#define PLX_RIG_MAX_SIGMA 0.02 /* focal lengths and baseline, relative */

/* FORMAT unless the board moved between the pairs of PAIR, whose corners in the left eye have one order. */
int plx_rig_check_moves(const struct plx_board *board, const struct plx_board_pair *pair, int pairs, int width,
                        struct plx_error_message *message);

/* FORMAT unless FIT, of the same board and pairs, explains the corners and is certain; NOMEM. */
int plx_rig_check_fit(const struct plx_board *board, const struct plx_board_pair *pair, int pairs,
                      const struct plx_rig_options *options, const struct plx_rig_fit *fit, struct plx_error_message *message);

#endif
