/* SPDX-License-Identifier: Apache-2.0 */
#include "core/verdict/speed.h"

#include <math.h>

#include "core/base/clock.h"
#include "core/motion/pose.h"

#define FRESH_NS (PLX_NS_PER_S / 2)
#define SMOOTHING 0.3 /* weight of the newest frame: its noise is divided by the interval */

void plx_speed_hint(struct plx_speed *speed, const struct plx_motion_hint *hint)
{
    speed->hinted_mps = plx_pose_distance(&hint->motion) * PLX_NS_PER_S / (double)(hint->to_ns - hint->from_ns);
    speed->hinted_ns = hint->to_ns;
}

double plx_speed_update(struct plx_speed *speed, const struct plx_motion_info *motion, int64_t capture_ns)
{
    if (motion->valid && motion->interval_ns > 0) {
        for (int i = 0; i < 3; i++) {
            const double now = motion->motion.translation[i] * PLX_NS_PER_S / (double)motion->interval_ns;
            speed->velocity[i] += (speed->is_known ? SMOOTHING : 1) * (now - speed->velocity[i]);
        }
        speed->is_known = true;
        speed->measured_ns = capture_ns;
    }
    if (capture_ns - speed->measured_ns > FRESH_NS)
        speed->is_known = false;
    if (speed->is_known)
        return sqrt(speed->velocity[0] * speed->velocity[0] + speed->velocity[1] * speed->velocity[1] +
                    speed->velocity[2] * speed->velocity[2]);
    return speed->hinted_ns > 0 && capture_ns - speed->hinted_ns <= FRESH_NS ? speed->hinted_mps : (double)NAN;
}
