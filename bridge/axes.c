/* SPDX-License-Identifier: Apache-2.0 */
/* Axes of ROS (REP-103), and the transforms between them that are published. */
#include <math.h>

#include "bridge/frame_messages.h"
#include "bridge/frame_parts.h"
#include "core/geometry/matrix3.h"

#define MIN_FORWARD 0.2 /* sine of the angle between the view and straight down */

/* Forward, left, up are z, -x, -y of the camera. */
const struct plx_pose plx_link_from_camera = {{0, 0, 1, -1, 0, 0, 0, -1, 0}, {0, 0, 0}};

struct plx_pose plx_link_from_base(const struct plx_frame *frame)
{
    struct plx_pose pose;
    plx_pose_invert(&frame->mount.base_from_left, &pose);
    plx_pose_compose(&plx_link_from_camera, &pose, &pose);
    return pose;
}

void plx_link_from_scan(const struct plx_ground_info *ground, double ret_rotation[9])
{
    const double up[3] = {-(double)ground->normal[2], (double)ground->normal[0], (double)ground->normal[1]};
    const double forward = sqrt(1 - fmin(up[0] * up[0], 1));
    const bool known = ground->valid && forward >= MIN_FORWARD;
    for (int i = 0; i < 9; i++)
        ret_rotation[i] = i % 4 == 0;
    if (!known)
        return;
    /* Forward along the ground: x of the link without its part along UP. */
    const double x[3] = {(1 - up[0] * up[0]) / forward, -up[0] * up[1] / forward, -up[0] * up[2] / forward};
    double y[3];
    plx_vec3_cross(up, x, y);
    for (int i = 0; i < 3; i++) {
        ret_rotation[3 * i] = x[i];
        ret_rotation[3 * i + 1] = y[i];
        ret_rotation[3 * i + 2] = up[i];
    }
}

/* S. W. Shepperd: Quaternion from rotation matrix, 1978: the largest component is computed first. */
struct ros_quaternion plx_quaternion(const double r[9])
{
    const double trace = r[0] + r[4] + r[8], part[4] = {trace, r[0], r[4], r[8]};
    int largest = 0;
    for (int i = 1; i < 4; i++)
        largest = part[i] > part[largest] ? i : largest;
    double q[4]; /* w, x, y, z, times 4 q[largest] */
    q[largest] = 1 + 2 * part[largest] - trace;
    const double sums[4][4] = {
        {0, r[7] - r[5], r[2] - r[6], r[3] - r[1]},
        {r[7] - r[5], 0, r[3] + r[1], r[2] + r[6]},
        {r[2] - r[6], r[3] + r[1], 0, r[7] + r[5]},
        {r[3] - r[1], r[2] + r[6], r[7] + r[5], 0},
    };
    double length = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = i == largest ? q[i] : sums[largest][i];
        length += q[i] * q[i];
    }
    const double scale = copysign(1 / sqrt(length), q[0]);
    return (struct ros_quaternion){.x = q[1] * scale, .y = q[2] * scale, .z = q[3] * scale, .w = q[0] * scale};
}

/* The frame CHILD is turned by R in axes of parallax_link. */
static void transform(const struct plx_frame_messages *messages, enum plx_frame_id child, const double r[9],
                      struct ros_tf_message *ret_transforms)
{
    struct ros_transform_stamped *one = messages->scratch;
    *one = (struct ros_transform_stamped){
        .header = plx_message_header(messages, PLX_FRAME_LINK),
        .child_frame_id = messages->names->name[child],
        .transform.rotation = plx_quaternion(r),
    };
    *ret_transforms = (struct ros_tf_message){.transforms = {.data = one, .count = 1}};
}

int plx_message_optical_transform(const struct plx_frame_messages *messages, struct ros_tf_message *ret_transforms)
{
    transform(messages, PLX_FRAME_OPTICAL, plx_link_from_camera.rotation, ret_transforms);
    return 0;
}

int plx_message_scan_transform(const struct plx_frame_messages *messages, struct ros_tf_message *ret_transforms)
{
    double level[9];
    plx_link_from_scan(&messages->frame->ground, level);
    transform(messages, PLX_FRAME_SCAN, level, ret_transforms);
    return 0;
}
