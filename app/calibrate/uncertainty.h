/* SPDX-License-Identifier: Apache-2.0 */
/* How certain a calibration is. */
#ifndef PLX_APP_CALIBRATE_UNCERTAINTY_H
#define PLX_APP_CALIBRATE_UNCERTAINTY_H

#include "app/calibrate/equations.h"

/* Fills the standard deviations of FIT, whose rig is the minimum of PROBLEM. L: [pairs], overwritten. FORMAT: the boards do not
 * determine the cameras. */
int plx_rig_uncertainty(struct plx_rig_problem *problem, double (*l)[PLX_RIG_POSE * PLX_RIG_POSE], struct plx_rig_fit *fit,
                        struct plx_error_message *message);

#endif
