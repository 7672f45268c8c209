/* SPDX-License-Identifier: Apache-2.0 */
#include "core/geometry/mount.h"

#include <math.h>

#include "core/base/units.h"

/* base_from_left: the camera's own axes (x right, y down, z ahead) are those of the body (x ahead, y left, z up), which is then
 * turned about x, y and z. */
static void fill_rotation(double roll, double pitch, double yaw, double ret[9])
{
    const double cr = cos(roll), sr = sin(roll), cp = cos(pitch), sp = sin(pitch), cy = cos(yaw), sy = sin(yaw);
    const double body[9] = {cy * cp,
                            cy * sp * sr - sy * cr,
                            cy * sp * cr + sy * sr,
                            sy * cp,
                            sy * sp * sr + cy * cr,
                            sy * sp * cr - cy * sr,
                            -sp,
                            cp * sr,
                            cp * cr};
    for (int i = 0; i < 3; i++) {
        ret[3 * i] = -body[3 * i + 1];
        ret[3 * i + 1] = -body[3 * i + 2];
        ret[3 * i + 2] = body[3 * i];
    }
}

void plx_mount_info(const struct plx_mount *mount, const struct plx_ground_info *ground, struct plx_mount_info *ret_info)
{
    const bool is_known = mount->z_m > 0, is_measured = ground->valid != 0;
    struct plx_mount_info info = {.known = is_known, .measured = is_measured};
    if (is_known) {
        info.x_m = (float)mount->x_m;
        info.y_m = (float)mount->y_m;
        info.z_m = (float)mount->z_m;
        info.roll_rad = (float)(mount->roll_deg / PLX_DEGREES_PER_RAD);
        info.pitch_rad = (float)(mount->pitch_deg / PLX_DEGREES_PER_RAD);
        info.yaw_rad = (float)(mount->yaw_deg / PLX_DEGREES_PER_RAD);
    }
    if (is_known || is_measured) {
        fill_rotation((double)(is_measured ? ground->roll_rad : info.roll_rad),
                      (double)(is_measured ? ground->pitch_rad : info.pitch_rad), (double)info.yaw_rad,
                      info.base_from_left.rotation);
        info.base_from_left.translation[0] = (double)info.x_m;
        info.base_from_left.translation[1] = (double)info.y_m;
        info.base_from_left.translation[2] = (double)(is_measured ? ground->camera_height_m : info.z_m);
    }
    *ret_info = info;
}
