/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a sensor that a camera shows. */
#ifndef PLX_V4L2_CROP_H
#define PLX_V4L2_CROP_H

#include "drivers/v4l2/negotiate.h"

/* Whether the camera can crop to REQUESTED's part at all, without setting it; *ret_cropped: it does already (no requested:
 * true). UNSUPPORTED; errors of plx_v4l2_fail. */
int plx_v4l2_crop_try(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested, bool *ret_cropped,
                      struct plx_error_message *message);

/* Asks for REQUESTED's part, before the format is set; no requested is fine. UNSUPPORTED, with what the camera crops to
 * instead, or that it cannot; errors of plx_v4l2_fail. */
int plx_v4l2_crop_set(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested,
                      struct plx_error_message *message);

/* Afterwards: setting the format may have changed it. */
int plx_v4l2_crop_check(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested,
                        struct plx_error_message *message);

#endif
