/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration in the programs that read the service: their own, and that of the running service. */
#ifndef PLX_APP_SERVICE_CONFIG_H
#define PLX_APP_SERVICE_CONFIG_H

#include <stdbool.h>

#include "app/options.h"
#include "config/config.h"

/* Help of the option --config. */
#define PLX_SERVICE_CONFIG_HELP                                                                                                \
    "reads the service's configuration (default: " PLX_DEFAULT_CONFIG " if it exists, else every key at its default)"

/*
 * For parallax-web, parallax-ros and parallax-recorder. Reads the file PATH (NULL: PLX_DEFAULT_CONFIG if it exists) and the
 * ASSIGNMENTS of --set, which win over it. publish.socket is what --set says, else $PARALLAX_SOCKET, else the file's; the log
 * says which. *ret_config is untouched on failure. Errors: those of plx_config_read; RANGE if $PARALLAX_SOCKET is too long.
 */
int plx_service_config_read(const char *path, const struct plx_option_list *assignments, struct plx_config *ret_config,
                            struct plx_error_message *message);

/* The configuration that the service at SOCKET_PATH (NULL: as plx_connect) runs with. False if it does not answer. Needs
 * libparallax. */
bool plx_service_config_ask(const char *socket_path, struct plx_config *ret_config);

#endif
