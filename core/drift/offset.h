/* SPDX-License-Identifier: Apache-2.0 */
/* What an error of disparities does to distances. */
#ifndef PLX_CORE_DRIFT_OFFSET_H
#define PLX_CORE_DRIFT_OFFSET_H

#include <parallax/frame.h>

#include "core/geometry/stereo.h"

/* x^2 of the side of the right image that is farther from its principal point, in focal lengths. */
static inline double plx_side_square(const struct plx_calibration_info *calibration, double width)
{
    const double left = calibration->cx_right, right = width - 1 - calibration->cx_right;
    const double x = (left > right ? left : right) / calibration->fx;
    return x * x;
}

/* By how many percent a distance that comes out as METRES is too long if all disparities are OFFSET px too small. */
static inline double plx_offset_percent(const struct plx_calibration_info *calibration, double offset, double metres)
{
    return 100 * offset * metres / plx_focal_baseline(calibration);
}

#endif
