/* SPDX-License-Identifier: Apache-2.0 */
/* Raw frames: both pictures as captured, without disparity, ground and obstacles, for there is no calibration. */
#ifndef PLX_CLI_RAW_H
#define PLX_CLI_RAW_H

#include <stdbool.h>

#include <parallax/frame.h>

static inline bool plx_frame_is_raw(const struct plx_frame *frame)
{
    return (frame->health & PLX_HEALTH_NOT_CALIBRATED) != 0;
}

#endif
