/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent process: it owns the shared memory, the clients, systemd's watchdog and the configuration, and keeps an engine
 * running. It is single-threaded, never touches a camera or a GPU, and never waits for anything but its event loop.
 */
#ifndef PLX_APP_SUPERVISOR_SUPERVISOR_H
#define PLX_APP_SUPERVISOR_SUPERVISOR_H

#include <stdbool.h>

#include "config/source.h"

/* Serves until SIGTERM, SIGINT, the end of the source, or a failure of the first start, which is logged. WAIT: the first start
 * waits for cameras, devices, permissions and memory. Returns the exit code (enum plx_exit). */
int plx_supervise(const struct plx_config_source *config_source, const struct plx_config *config, bool wait);

#endif
