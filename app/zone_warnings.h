/* SPDX-License-Identifier: Apache-2.0 */
/* What is odd about the zones of a configuration and yet may be meant so, for the start of the service and for its check. */
#ifndef PLX_APP_ZONE_WARNINGS_H
#define PLX_APP_ZONE_WARNINGS_H

#include "config/config.h"

/* Logs a warning for each zone of CONFIG that lies partly in the rectangle of the robot itself. */
void plx_zone_warnings_log(const struct plx_config *config);

#endif
