/* SPDX-License-Identifier: Apache-2.0 */
/* What a live calibration shows, for the page: a small JSON file beside the service's socket that parallax-web hands out. */
#ifndef PLX_APP_CLI_CALIBRATE_STATE_H
#define PLX_APP_CLI_CALIBRATE_STATE_H

#include "app/calibrate/guide.h"

struct plx_calibrating {
    const struct plx_guide *guide;
    const char *words;   /* what the person is told */
    int looked;          /* pairs: it grows while the calibration runs */
    const char *verdict; /* judgement of the pairs so far; NULL: not known yet */
};

/* Replaces the file of the service at SOCKET at once. PERMISSION, IO. */
int plx_calibrating_write(const struct plx_calibrating *state, const char *socket);

/* Removes it: the calibration has ended. */
void plx_calibrating_remove(const char *socket);

#endif
