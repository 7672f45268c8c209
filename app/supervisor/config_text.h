/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration in force as clients get it: a memfd of YAML, sealed against every change, written when somebody first asks
 * for it after a change. */
#ifndef PLX_APP_SUPERVISOR_CONFIG_TEXT_H
#define PLX_APP_SUPERVISOR_CONFIG_TEXT_H

#include "config/config.h"

/* Zeroed = none is written. */
struct plx_config_text {
    struct plx_config config; /* that FD holds */
    int fd;                   /* read-only; 0 = none */
};

/* The descriptor for CONFIG, the text's own until the next call. A plx_error if there is no memory or no descriptor for it. */
int plx_config_text_fd(struct plx_config_text *text, const struct plx_config *config);
void plx_config_text_close(struct plx_config_text *text);

#endif
