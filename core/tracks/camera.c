/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tracks/camera.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/motion/pose.h"

#define HOLD_NS (PLX_NS_PER_S / 2) /* the camera goes on as before for so long */
#define HELD_MPS 1.0               /* standard deviations of that */
#define HELD_RAD_PER_S 0.1

bool plx_track_camera_update(struct plx_track_camera *camera, const struct plx_motion_info *motion, int64_t step_ns)
{
    const bool was_known = camera->known;
    const double seconds = (double)step_ns / PLX_NS_PER_S;

    camera->measured = motion->valid && motion->interval_ns > 0 && step_ns > 0;
    camera->held_ns = camera->measured ? 0 : camera->held_ns + step_ns;
    if (camera->measured) {
        /* A motion over several frames: this frame's share. */
        plx_pose_scale(&motion->motion, (double)step_ns / (double)motion->interval_ns, &camera->step);
        memcpy(camera->covariance, motion->covariance, sizeof camera->covariance);
        camera->known = true;
    } else if (camera->known && motion->source != PLX_MOTION_NONE && camera->held_ns <= HOLD_NS) {
        if (step_ns > 0)
            plx_pose_scale(&camera->step, seconds / camera->seconds, &camera->step);
        memset(camera->covariance, 0, sizeof camera->covariance);
        for (int i = 0; i < 6; i++) {
            const double sigma = (i < 3 ? HELD_MPS : HELD_RAD_PER_S) * seconds;
            camera->covariance[7 * i] = sigma * sigma;
        }
    } else {
        camera->known = false;
        camera->step = PLX_POSE_IDENTITY;
    }
    if (step_ns > 0)
        camera->seconds = seconds;
    return camera->known != was_known;
}

void plx_track_camera_velocity(const struct plx_track_camera *camera, const double position[3], const double velocity[3],
                               double ret_velocity[3])
{
    double then[3];

    for (int i = 0; i < 3; i++)
        then[i] = position[i] - velocity[i] * camera->seconds;
    plx_pose_apply(&camera->step, then, then);
    for (int i = 0; i < 3; i++)
        ret_velocity[i] = camera->known ? (position[i] - then[i]) / camera->seconds : velocity[i];
}
