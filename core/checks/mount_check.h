/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the ground that the left camera sees agrees with where the camera should sit. */
#ifndef PLX_CORE_CHECKS_MOUNT_CHECK_H
#define PLX_CORE_CHECKS_MOUNT_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/geometry/mount.h"

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
