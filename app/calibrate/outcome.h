/* SPDX-License-Identifier: Apache-2.0 */
/* What a calibration is worth: how well it fits, what it makes of pairs that it was not fitted to, and a verdict. */
#ifndef PLX_APP_CALIBRATE_OUTCOME_H
#define PLX_APP_CALIBRATE_OUTCOME_H

#include "app/calibrate/boards.h"

struct plx_outcome {
    struct plx_rig_fit fit;
    struct plx_stereo_calibration calibration; /* for a file: without a rectification */
    double rows, held_out;                     /* rms of rows after rectification, px; held_out < 0: not known */
    double baseline_m;
    double worst_rms[PLX_EYES]; /* corners of the pair that fits worst, px */
    int worst;                  /* its place among the boards */
};

/* Fits BOARDS and checks everything; FORMAT (the sentence names the likely mistake in the recording), RANGE, NOMEM. */
int plx_outcome_find(const struct plx_boards *boards, struct plx_outcome *ret_outcome, struct plx_error_message *message);

/* Root mean square of the differences of rows that CALIBRATION, rectified, leaves between the corners of PAIRS; px. */
double plx_row_error(const struct plx_board *board, const struct plx_board_pair *pair, int pairs,
                     const struct plx_stereo_calibration *calibration);

bool plx_outcome_is_good(const struct plx_outcome *outcome);

/* One word, and what to do. */
const char *plx_outcome_verdict(const struct plx_outcome *outcome);

#endif
