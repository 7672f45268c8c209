/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder: a client of the service that keeps the last pairs in memory and writes them after a fault. */
#ifndef PLX_APP_FLIGHT_RECORDER_FLIGHT_RECORDER_H
#define PLX_APP_FLIGHT_RECORDER_FLIGHT_RECORDER_H

#include "config/config.h"

/* Records until SIGTERM or SIGINT. Returns an exit code (app/exit.h). */
int plx_flight_recorder_run(const struct plx_config *config);

#endif
