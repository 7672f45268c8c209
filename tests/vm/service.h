/* SPDX-License-Identifier: Apache-2.0 */
/* For cases that run the real service on cameras: its configuration, and what it publishes. */
#ifndef PLX_TESTS_VM_SERVICE_H
#define PLX_TESTS_VM_SERVICE_H

#include "tests/system/daemon.h"

#include <parallax/client.h>
#include <parallax/error.h>

#include "config/config.h"

#define CALIBRATION_FILE "/tmp/calibration.yaml"

/* A calibration for pictures of that size, which leaves them as they are. */
static inline void write_calibration(int width, int height)
{
    const struct plx_calibration_info info = {
        .fx = width, .fy = width, .cx = width / 2.0, .cy = height / 2.0, .cx_right = width / 2.0, .baseline_m = 0.1};
    struct plx_stereo_calibration calibration;
    struct plx_why why;
    plx_calibration_pinhole(width, height, &info, &calibration);
    if (plx_calibration_save(CALIBRATION_FILE, &calibration, &why) < 0)
        fail_msg("%s", why.text);
}

#endif
