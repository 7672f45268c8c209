/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/frame_parts.h"

#include <math.h>
#include <string.h>

#include "core/geometry/stereo.h"

#define UNKNOWN_VARIANCE 1e6 /* as in odometry */
#define UNKNOWN_COVARIANCE (-1)

const void *plx_message_row(const struct plx_frame *frame, enum plx_plane_id id, uint32_t y)
{
    return (const uint8_t *)frame + frame->plane[id].offset + (size_t)y * frame->plane[id].pitch;
}

double plx_message_depth_of(const struct plx_frame *frame, uint16_t disparity)
{
    const struct plx_calibration_info *c = &frame->calibration;
    if (disparity == PLX_DISPARITY_INVALID)
        return (double)NAN;
    return plx_depth_of_disparity(c, plx_disparity_of_plane(c, frame->min_disparity, disparity));
}

void plx_position_covariance(const double point[3], double sigma_m, double fx, double ret_covariance[36])
{
    memset(ret_covariance, 0, 36 * sizeof *ret_covariance);
    if (!(sigma_m > 0)) {
        ret_covariance[0] = UNKNOWN_COVARIANCE;
        return;
    }
    const double z = point[2], pixel = z / fx, ray[3] = {point[0] / z, point[1] / z, 1};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            ret_covariance[6 * i + k] = sigma_m * sigma_m * ray[i] * ray[k];
        ret_covariance[7 * i] += i < 2 ? pixel * pixel : 0;
        ret_covariance[7 * (i + 3)] = UNKNOWN_VARIANCE;
    }
}
