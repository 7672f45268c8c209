/* SPDX-License-Identifier: Apache-2.0 */
/* The zones of a configuration as text, for `parallaxd --check-config`: a drawing, and how much of each the cameras can see. */
#ifndef PLX_APP_SUPERVISOR_ZONE_DRAWING_H
#define PLX_APP_SUPERVISOR_ZONE_DRAWING_H

#include <stdio.h>

#include "config/config.h"

/* Draws the zones of CONFIG for a CALIBRATION that is rectified; nothing without zones. Errors of plx_cpu_create and
 * plx_pipeline_create, with the reason in MESSAGE. */
int plx_zone_drawing_print(const struct plx_config *config, const struct plx_stereo_calibration *calibration, FILE *out,
                           struct plx_error_message *message);

#endif
