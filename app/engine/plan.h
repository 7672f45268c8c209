/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine is started with. A probe completes it once; each later engine takes it from memory, and reads no file again.
 */
#ifndef PLX_APP_ENGINE_PLAN_H
#define PLX_APP_ENGINE_PLAN_H

#include "config/config.h"

struct plx_plan {
    struct plx_config config;
    uint32_t frame_bytes;                      /* of one frame; 0 = not probed yet, and the calibration is not known */
    struct plx_stereo_calibration calibration; /* with its rectification, for the size of the source's pictures; zeros: raw */
};

#endif
