/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of the programs that read the service: parallax-web, parallax-ros and parallax-recorder. */
#ifndef PLX_APP_SERVICE_CONFIG_H
#define PLX_APP_SERVICE_CONFIG_H

#include "app/options.h"
#include "config/config.h"

/* Help of the option --config. */
#define PLX_SERVICE_CONFIG_HELP                                                                                                \
    "reads the service's configuration (default: " PLX_DEFAULT_CONFIG " if it exists, else every key at its default)"

/*
 * Reads the file PATH (NULL: PLX_DEFAULT_CONFIG if it exists) and the ASSIGNMENTS of --set, which win over it. publish.socket
 * is what --set says, else $PARALLAX_SOCKET, else the file's; the log says which. *ret_config is untouched on failure. Errors:
 * those of plx_config_read; RANGE if $PARALLAX_SOCKET is too long.
 */
int plx_service_config_read(const char *path, const struct plx_option_list *assignments, struct plx_config *ret_config,
                            struct plx_error_message *message);

#endif
