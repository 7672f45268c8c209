/* SPDX-License-Identifier: Apache-2.0 */
/* What a camera offers, for people: formats with their sizes and rates. */
#ifndef PLX_V4L2_ENUMERATE_H
#define PLX_V4L2_ENUMERATE_H

#include "drivers/v4l2/node.h"

#define PLX_V4L2_FRAME_SIZES 32
#define PLX_V4L2_FORMATS 128

struct plx_v4l2_format_info {
    uint32_t fourcc;
    bool readable; /* the source can work with it */
    int size_count;
    struct plx_v4l2_frame_size {
        int width, height;
        bool up_to;     /* this is the largest of a range */
        double rate_hz; /* the highest; -1: the camera does not say */
    } size[PLX_V4L2_FRAME_SIZES];
};

/* Fills at most PLX_V4L2_FORMATS; what is beyond that, or beyond PLX_V4L2_FRAME_SIZES, is left out. Returns how many. */
int plx_v4l2_enumerate_formats(const struct plx_v4l2_node *node, struct plx_v4l2_format_info ret_info[PLX_V4L2_FORMATS]);

/* Finds the size and the format to start with: the best readable format, large but not slow and not beyond 1280 columns per
 * eye, with an aspect that may hold both eyes side by side (at least 5:2) or not, as BOTH says. False if there is none. */
bool plx_v4l2_suggest_format(const struct plx_v4l2_format_info *info, int count, bool both, uint32_t *ret_fourcc,
                             struct plx_v4l2_frame_size *ret_size);

/* What names the camera in the configuration for good: a stable path, else what to match. */
void plx_v4l2_configured_name(const struct plx_v4l2_node *node, char ret_name[PLX_V4L2_PATH]);

#endif
