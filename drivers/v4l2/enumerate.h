/* SPDX-License-Identifier: Apache-2.0 */
/* Enumerating what a camera offers: formats, sizes and rates (VIDIOC_ENUM_*). Nothing here sets anything. */
#ifndef PLX_V4L2_ENUMERATE_H
#define PLX_V4L2_ENUMERATE_H

#include <linux/videodev2.h>

#include "drivers/v4l2/format.h"

#define PLX_V4L2_FRAME_SIZES 32
#define PLX_V4L2_FORMATS 128

struct plx_v4l2_format_info {
    uint32_t fourcc;
    bool readable; /* the source can work with it */
    int size_count;
    struct plx_v4l2_frame_size {
        int width, height;
        bool up_to;     /* the largest of a range */
        double rate_hz; /* the highest; -1: the camera does not say */
    } size[PLX_V4L2_FRAME_SIZES];
};

/* Lists at most PLX_V4L2_FORMATS formats of PLX_V4L2_FRAME_SIZES sizes each; further ones are left out. Returns how many. */
int plx_v4l2_enumerate_formats(const struct plx_v4l2_node *node, struct plx_v4l2_format_info ret_info[PLX_V4L2_FORMATS]);

/* Suggests a size and a format to start with: the best readable format, large, not slow, and at most 1280 columns for each
 * eye. BOTH: the aspect (at least 5:2) fits both eyes side by side; else it does not. False if there is none. */
bool plx_v4l2_suggest_format(const struct plx_v4l2_format_info *info, int count, bool both, uint32_t *ret_fourcc,
                             struct plx_v4l2_frame_size *ret_size);

double plx_v4l2_interval_hz(struct v4l2_fract interval); /* 0 for an interval without end */

bool plx_v4l2_has_format(const struct plx_v4l2_node *node, uint32_t fourcc);

/* The highest rate that FOURCC offers at that size, Hz; 0 if it does not offer the size; -1 if the camera does not say. */
double plx_v4l2_max_rate(const struct plx_v4l2_node *node, uint32_t fourcc, int width, int height);

/* The first format in order of preference that is fast enough, else the fastest; NULL if none that can be read is offered. */
const struct plx_v4l2_format *plx_v4l2_choose_format(const struct plx_v4l2_node *node,
                                                     const struct plx_v4l2_requested_format *requested);

/* Writes the formats of NODE as text: "GREY, YUYV". */
void plx_v4l2_list_formats(const struct plx_v4l2_node *node, char *text, size_t bytes);

#endif
