/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resampling maps from a rectified calibration, made once in double. Positions are rounded to float and then to 1/32 px, as
 * OpenCV does between initUndistortRectifyMap with its default type of map and remap.
 */
#include <math.h>

#include <parallax/error.h>

#include "core/camera.h"
#include "core/matrix3.h"

/* Beyond what an entry holds, in 1/32 px. */
#define NOWHERE INT32_MAX

static int64_t to_parts(double position)
{
    return fabs(position) < PLX_MAX_SIDE * 8 ? lrintf((float)position * PLX_REMAP_ONE) : NOWHERE; /* half to even */
}

int plx_remap_fill(const struct plx_stereo_calibration *calibration, enum plx_eye eye, struct plx_remap *map)
{
    if (!calibration->rectified || !map->entry || map->width != calibration->rectified_width ||
        map->height != calibration->rectified_height)
        return PLX_ERR_ARG;

    const double *p = calibration->projection[eye];
    const double pinhole[9] = {p[0], p[1], p[2], p[4], p[5], p[6], p[8], p[9], p[10]};
    double forward[9], back[9]; /* from a ray of the raw camera to a rectified pixel, and from a rectified pixel to the ray */
    plx_mat3_multiply(pinhole, calibration->rectification[eye], forward);
    plx_mat3_invert(forward, back);

    for (int y = 0; y < map->height; y++) {
        for (int x = 0; x < map->width; x++) {
            const double pixel[3] = {x, y, 1};
            double ray[3], u, v;
            plx_mat3_apply(back, pixel, ray);
            struct plx_remap_entry *entry = &map->entry[(size_t)y * (size_t)map->width + (size_t)x];
            if (ray[2] > 0) {
                plx_camera_project(&calibration->camera[eye], ray[0] / ray[2], ray[1] / ray[2], &u, &v);
                *entry = plx_remap_at(to_parts(u), to_parts(v));
            } else { /* behind the camera */
                *entry = plx_remap_at(NOWHERE, NOWHERE);
            }
        }
    }
    return 0;
}
