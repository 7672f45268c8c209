/* SPDX-License-Identifier: Apache-2.0 */
/* What a wrong offset of all disparities does to distances. */
#ifndef PLX_CORE_DRIFT_OFFSET_H
#define PLX_CORE_DRIFT_OFFSET_H

#include <parallax/frame.h>

/* By how many percent a distance that comes out as METRES is too long if all disparities are OFFSET px too small. */
static inline double plx_offset_percent(const struct plx_calibration_info *calibration, double offset, double metres)
{
    return 100 * offset * metres / (calibration->fx * calibration->baseline_m);
}

#endif
