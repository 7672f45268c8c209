/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration that the running service uses. */
#ifndef PLX_APP_CLI_LIVE_SERVICE_CONFIG_H
#define PLX_APP_CLI_LIVE_SERVICE_CONFIG_H

#include <stdbool.h>

#include "config/config.h"

/* Asks the service at SOCKET_PATH (NULL: as plx_connect). False if it does not answer. */
bool plx_service_config(const char *socket_path, struct plx_config *ret_config);

#endif
