/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a new calibration in force: its file, the key `calibration` of the configuration, a reload, and a look at what the
 * service makes of it. Whatever fails, everything is as before. */
#ifndef PLX_APP_CLI_CALIBRATE_INSTALL_H
#define PLX_APP_CLI_CALIBRATE_INSTALL_H

#include <limits.h>

#include "app/calibrate/outcome.h"

struct plx_install {
    const char *config; /* the service's configuration file */
    const char *socket; /* the service's socket; NULL: as plx_connect */
    const char *output; /* the calibration's file; NULL: the one that the configuration names, else stereo.yaml beside it */

    /* What plx_install_run found and did. */
    char path[PATH_MAX]; /* absolute path of the calibration's file */
    char old[PATH_MAX];  /* a further name of the calibration that was at PATH; "": none was there */
    bool had_before;     /* the configuration named a calibration, which is at OLD now if it was at PATH */
    double rows_before;  /* rms of the boards' rows by that calibration, px */
    double baseline_before_m;
    double rows_service; /* median difference of rows in the service's pictures, px; < 0: too few matches yet */
};

/* INSTALL's first members are the caller's. FORMAT (also: the service does not take the configuration), PERMISSION, NOT_FOUND,
 * TIMEOUT and others, with a sentence. */
int plx_install_run(struct plx_install *install, const struct plx_boards *boards, const struct plx_outcome *outcome,
                    struct plx_error_message *message);

#endif
