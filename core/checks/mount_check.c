/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checks/mount_check.h"

#include <math.h>

#include "core/base/units.h"

static bool is_off(const struct plx_mount *mount, const struct plx_ground_info *ground)
{
    const double roll_deg = (double)ground->roll_rad * PLX_DEGREES_PER_RAD,
                 pitch_deg = (double)ground->pitch_rad * PLX_DEGREES_PER_RAD;
    return fabs((double)ground->camera_height_m - mount->z_m) > PLX_MOUNT_HEIGHT_M ||
           fabs(pitch_deg - mount->pitch_deg) > PLX_MOUNT_ANGLE_DEG || fabs(roll_deg - mount->roll_deg) > PLX_MOUNT_ANGLE_DEG;
}

/* The first seconds: a ground that is right must last as long as one that is off. */
static void settle(struct plx_mount_check *check, bool is_off, int64_t capture_ns)
{
    if (is_off)
        check->right_ns = 0;
    else if (check->right_ns == 0)
        check->right_ns = capture_ns;
    else
        check->is_known = capture_ns - check->right_ns >= PLX_MOUNT_LASTS_NS;
}

bool plx_mount_check_update(struct plx_mount_check *check, const struct plx_mount *mount, const struct plx_ground_info *ground,
                            int64_t capture_ns)
{
    if (!(mount->z_m > 0))
        return false;
    if (!ground->valid)
        return check->moved;
    const bool off = is_off(mount, ground);
    if (!check->is_known)
        settle(check, off, capture_ns);
    if (off == check->moved) {
        check->contrary_ns = 0;
    } else if (check->contrary_ns == 0) {
        check->contrary_ns = capture_ns;
    } else if (capture_ns - check->contrary_ns >= PLX_MOUNT_LASTS_NS) {
        check->moved = !check->moved;
        check->is_known = true;
        check->contrary_ns = 0;
    }
    return check->moved;
}
