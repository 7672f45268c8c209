/* SPDX-License-Identifier: Apache-2.0 */
/* The exposure law: one controller for both cameras, on their merged histograms. Plain data and maths. */
#ifndef PLX_CORE_EXPOSURE_H
#define PLX_CORE_EXPOSURE_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/source.h"

struct plx_exposure_params {
    bool enabled;
    double target;            /* wanted mean luma, 0..1 of full scale */
    double highlight_limit;   /* largest share of pixels at or above 250, 0..1 */
    double dead_band;         /* in stops: no change while the error is smaller */
    double damping;           /* share of the error corrected at a time, 0..1 */
    uint32_t max_exposure_us; /* motion-blur cap */
    double max_gain;
    int flicker_hz; /* 0, 50 or 60: shutter times are whole flicker periods (1/100 s, 1/120 s) where long enough */
    uint8_t zone_weight[PLX_ZONES * PLX_ZONES]; /* row by row; all 0 = all alike */
};

struct plx_exposure; /* the controller's state */

#endif
