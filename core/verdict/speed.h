/* SPDX-License-Identifier: Apache-2.0 */
/* How fast the robot goes, by ego-motion, else by its odometry. */
#ifndef PLX_CORE_VERDICT_SPEED_H
#define PLX_CORE_VERDICT_SPEED_H

#include <stdbool.h>

#include <parallax/frame.h>

/* Zeroed: nothing is known. */
struct plx_speed {
    bool is_known;
    double velocity[3]; /* camera's velocity in its own axes, m/s, smoothed over a few frames */
    int64_t measured_ns;
    double hinted_mps;
    int64_t hinted_ns; /* 0: no hint */
};

void plx_speed_hint(struct plx_speed *speed, const struct plx_motion_hint *hint);

/* Adds the motion of the frame of CAPTURE_NS. Returns m/s; NAN: neither motion nor a hint of the last half second is known. */
double plx_speed_update(struct plx_speed *speed, const struct plx_motion_info *motion, int64_t capture_ns);

#endif
