/* SPDX-License-Identifier: Apache-2.0 */
/* What `parallax calibrate` prints of a calibration. */
#ifndef PLX_APP_CLI_CALIBRATE_REPORT_H
#define PLX_APP_CLI_CALIBRATE_REPORT_H

#include <cjson/cJSON.h>

#include "app/calibrate/outcome.h"

/* Lines for people. WORST: the number of the pair that fits worst. */
void plx_outcome_print(const struct plx_outcome *outcome, int worst);

/* The same as JSON, which the caller completes. */
cJSON *plx_outcome_json(const struct plx_outcome *outcome);

#endif
