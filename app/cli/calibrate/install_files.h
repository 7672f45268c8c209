/* SPDX-License-Identifier: Apache-2.0 */
/* The files of an installation: calibration and configuration. A process that is killed between any two calls leaves files with
 * which the service starts, with the old calibration or with the new one. */
#ifndef PLX_APP_CLI_CALIBRATE_INSTALL_FILES_H
#define PLX_APP_CLI_CALIBRATE_INSTALL_FILES_H

#include <limits.h>

#include "config/config.h"

/* What is to be undone if a later step fails. */
struct plx_installed_files {
    char calibration[PATH_MAX], config[PATH_MAX]; /* real paths */
    char old[PATH_MAX];                           /* another name of the calibration that was there; "": none was */
    char *config_before, *config_after;           /* bytes of the configuration; AFTER is NULL while it is as before */
    size_t before_bytes, after_bytes;
    const char *value; /* previous value of the key calibration */
    bool installed;    /* the new calibration is in its place */
};

/* Puts CALIBRATION, which has no rectification, into the file at PATH, and names it in the file that CONFIG was read from. The
 * calibration that was there keeps the further name PATH.old, PATH.old.1 or so on. RANGE: the service would refuse the
 * configuration with it. After an error all is as before. *ret_files ends with undo or free; CONFIG stays the caller's until
 * then. */
int plx_installed_files_put(const char *config_path, const struct plx_config *config, const char *path,
                            const struct plx_stereo_calibration *calibration, struct plx_installed_files *ret_files,
                            struct plx_error_message *message);

/* Brings the bytes back that were there. What somebody else changed in the configuration meanwhile stays. */
void plx_installed_files_undo(struct plx_installed_files *files);

void plx_installed_files_free(struct plx_installed_files *files);

#endif
