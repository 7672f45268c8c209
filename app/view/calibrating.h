/* SPDX-License-Identifier: Apache-2.0 */
/* Where a live calibration (`parallax calibrate --live`) says how it goes, for parallax-web. */
#ifndef PLX_APP_VIEW_CALIBRATING_H
#define PLX_APP_VIEW_CALIBRATING_H

#include <limits.h>
#include <stdio.h>

/* A file beside the socket of the service that is looked at. It exists while the calibration runs. */
static inline void plx_calibrating_path(const char *socket, char ret_path[PATH_MAX])
{
    snprintf(ret_path, PATH_MAX, "%s.calibrating", socket);
}

#endif
