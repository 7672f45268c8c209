/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a wall by the definitions of Intel's Depth Quality Tool, to compare; docs/wall.md says what is wrong in them. */
#ifndef PLX_APP_EVALUATE_WALL_REALSENSE_H
#define PLX_APP_EVALUATE_WALL_REALSENSE_H

#include <parallax/client.h>

#include "core/base/image.h"

#define WALL_ACCURACY_BINS 8192

/* By the definitions of Intel RealSense, to compare; NAN: not known. Means over the frames. */
struct plx_wall_realsense {
    double fill_percent;
    double z_accuracy_percent; /* NAN without a distance */
    double plane_rms_percent;  /* share in the distance */
    double subpixel_rms_px;
    double temporal_percent; /* share in the distance: mean of the pixels known twice or more */
};

/* Sums over the frames, and scratch of one frame. */
struct wall_realsense_sums {
    int frames, fitted;
    double fill, accuracy, plane_rms, subpixel_rms;
    uint32_t value[PLX_DISPARITY_INVALID]; /* pixels of each disparity */
    int distance[WALL_ACCURACY_BINS];      /* pixels by their distance from the plane */
};

/* DISPARITY: the part of the picture in REGION. */
void wall_realsense_add(struct wall_realsense_sums *sums, const struct plx_image *disparity, const struct plx_box *region,
                        const struct plx_calibration_info *calibration, int min_disparity, double distance_m);

/* All but the temporal noise. */
void wall_realsense_report(const struct wall_realsense_sums *sums, struct plx_wall_realsense *ret_report);

#endif
