/* SPDX-License-Identifier: Apache-2.0 */
/* The v4l2 source on stereocam. */
#ifndef PLX_TESTS_VM_STEREOCAM_H
#define PLX_TESTS_VM_STEREOCAM_H

#include "tests/vm/camera.h"
#include "tests/vm/pairs.h"

/* Both eyes, 320x180 (the case's parameters of the module); the camera's own rate is set by RATE_HZ. */
static inline struct plx_v4l2_options stereocam_options(double rate_hz)
{
    return (struct plx_v4l2_options){
        .cameras.camera = {"card=stereocam left", "card=stereocam right"},
        .cameras.format = "GREY",
        .width = 320,
        .height = 180,
        .rate_hz = rate_hz,
        .cameras.control = PAIRS_NO_CONTROLS,
    };
}

#endif
