/* SPDX-License-Identifier: Apache-2.0 */
/* What a camera says that it offers: formats, sizes and rates. Nothing here sets anything. */
#ifndef PLX_V4L2_OFFER_H
#define PLX_V4L2_OFFER_H

#include <linux/videodev2.h>

#include "drivers/v4l2/negotiate.h"

double plx_v4l2_interval_hz(struct v4l2_fract interval); /* 0 for an interval without end */

bool plx_v4l2_has_format(const struct plx_v4l2_node *node, uint32_t fourcc);

/* The highest rate that FOURCC offers at that size, Hz; 0 if it does not offer the size; -1 if the camera does not say. */
double plx_v4l2_max_rate(const struct plx_v4l2_node *node, uint32_t fourcc, int width, int height);

/* The first format in order of preference that is fast enough, else the fastest; NULL if none that can be read is offered. */
const struct plx_v4l2_format *plx_v4l2_choose_format(const struct plx_v4l2_node *node,
                                                     const struct plx_v4l2_requested_format *requested);

/* "GREY, YUYV" of what NODE offers, for people. */
void plx_v4l2_list_formats(const struct plx_v4l2_node *node, char *text, size_t bytes);

#endif
