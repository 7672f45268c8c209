/* SPDX-License-Identifier: Apache-2.0 */
/* V4L2's pixel formats that can be read, and what the convert stage calls them. */
#ifndef PLX_V4L2_FORMAT_H
#define PLX_V4L2_FORMAT_H

#include <stdint.h>

#include "core/image.h"

struct plx_v4l2_format {
    uint32_t fourcc;
    enum plx_format format; /* of which only the grey is used: planar YUV is GREY, whatever planes follow */
    enum plx_bayer bayer;
    bool jpeg;  /* each picture is a JPEG file, to be decoded to GREY */
    int planes; /* memory planes in the multi-planar form */
};

/* In the order in which they are preferred: grey, luma first in memory, packed, mosaic, colour, compressed. */
extern const struct plx_v4l2_format plx_v4l2_formats[];
extern const int plx_v4l2_format_count;

const struct plx_v4l2_format *plx_v4l2_format_find(uint32_t fourcc); /* NULL: the convert stage lacks it */

/* "Y10 " for people: spaces at the end gone, anything unprintable a ?. */
void plx_v4l2_fourcc_text(uint32_t fourcc, char ret_text[5]);

/* "GREY" or "Y10" -> the number; 0 if TEXT is not 1..4 characters. */
uint32_t plx_v4l2_fourcc_parse(const char *text);

#endif
