/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the service as metrics: Prometheus text ("Text-based format" 0.0.4 of
 * prometheus.io/docs/instrumenting/exposition_formats), or JSON. */
#ifndef PLX_APP_VIEW_METRICS_H
#define PLX_APP_VIEW_METRICS_H

#include <stdio.h>

#include <cjson/cJSON.h>

#include "app/view/status.h"

/* Prometheus text. An error of OUT stays in OUT. */
void plx_metrics_print(FILE *out, const struct plx_status *status);

/* {NAME: {help, type, samples: [{labels, value}]}}, a new object, which the caller owns. */
cJSON *plx_metrics_json(const struct plx_status *status);

#endif
