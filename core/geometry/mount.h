/* SPDX-License-Identifier: Apache-2.0 */
/* Where the left camera sits on the robot, and whether the ground that it sees agrees. */
#ifndef PLX_CORE_GEOMETRY_MOUNT_H
#define PLX_CORE_GEOMETRY_MOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

/* Pose of the left camera (rectified) in the robot's base of REP-103: x forward, y left, z up, the origin on the ground. Turned
 * about x, then y, then z; with no angle the camera looks along x. */
struct plx_mount {
    double x_m, y_m, z_m;                /* z_m 0: the mount is not known */
    double roll_deg, pitch_deg, yaw_deg; /* roll: clockwise about the view axis; pitch: down; yaw: to the left */
};

/* The mount as a frame has it: height, pitch and roll are those of GROUND where it is valid. */
void plx_mount_info(const struct plx_mount *mount, const struct plx_ground_info *ground, struct plx_mount_info *ret_info);

#define PLX_MOUNT_HEIGHT_M 0.03 /* what the ground may differ from the mount, ... */
#define PLX_MOUNT_ANGLE_DEG 1.0 /* ... pitch and roll */
#define PLX_MOUNT_LASTS_NS INT64_C(2000000000)

/* Zeroed = no frame yet, and nothing known. */
struct plx_mount_check {
    bool moved;
    bool is_known;       /* the ground has said for 2 s that the camera is where it should be, or that it has moved */
    int64_t contrary_ns; /* since when the ground says the contrary of MOVED; 0: it does not */
    int64_t right_ns;    /* until it is known: since when the ground says that all is well; 0: it does not */
};

/* Looks at the ground of the next frame. True while the camera has moved: the ground was off for 2 s, and not right for 2 s
 * since. A frame without ground says nothing. */
bool plx_mount_check_update(struct plx_mount_check *check, const struct plx_mount *mount, const struct plx_ground_info *ground,
                            int64_t capture_ns);

#endif
