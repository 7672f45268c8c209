/* SPDX-License-Identifier: Apache-2.0 */
/* Where a configuration comes from: a file, then assignments of the command line. */
#ifndef PLX_CONFIG_SOURCE_H
#define PLX_CONFIG_SOURCE_H

#include "config/config.h"

struct plx_config_source {
    const char *path;        /* NULL = the built-in defaults */
    char *const *assignment; /* `key=value`s of the command line, applied after the file */
    int assignments;
};

/* Reads and checks it. *ret_config is untouched on failure. Errors as plx_config_load. One thread at a time. */
int plx_config_read(const struct plx_config_source *config_source, struct plx_config *ret_config,
                    struct plx_error_message *message);

#endif
