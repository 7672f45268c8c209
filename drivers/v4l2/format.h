/* SPDX-License-Identifier: Apache-2.0 */
/* V4L2's pixel formats that Parallax can read, the format that is requested of a camera, and the one in force. */
#ifndef PLX_V4L2_FORMAT_H
#define PLX_V4L2_FORMAT_H

#include <stdint.h>

#include "core/image.h"
#include "drivers/v4l2/node.h"

struct plx_v4l2_format {
    uint32_t fourcc;
    enum plx_format format; /* for the convert stage, which uses only the luma: planar YUV is GREY */
    enum plx_bayer bayer;
    bool jpeg;  /* each picture is a JPEG file, to be decoded to GREY */
    int planes; /* memory planes in the multi-planar form */
};

/* In order of preference: grey, luma first in memory, packed, mosaic, colour, compressed. */
extern const struct plx_v4l2_format plx_v4l2_formats[];
extern const int plx_v4l2_format_count;

const struct plx_v4l2_format *plx_v4l2_format_find(uint32_t fourcc); /* NULL: the convert stage lacks it */

/* "Y10 " as text: without the trailing spaces; unprintable characters become ?. */
void plx_v4l2_fourcc_text(uint32_t fourcc, char ret_text[5]);

/* "GREY" or "Y10" -> the number; 0 if TEXT is not 1..4 characters. */
uint32_t plx_v4l2_fourcc_parse(const char *text);

#define PLX_V4L2_PLANES 3
#define PLX_V4L2_SAME_RATE 0.01 /* relative difference of rates that count as equal: 29.97 is 30 */

struct plx_v4l2_requested_format {
    uint32_t fourcc;   /* 0: choose the best one at this size and rate */
    int width, height; /* of the whole buffer, pixels */
    double rate_hz;    /* 0: keep the camera's rate */
    struct {
        int x, y, width, height; /* of the sensor, pixels; width 0: keep the camera's cropping */
    } crop;
};

/* The format in force. */
struct plx_v4l2_stream_format {
    const struct plx_v4l2_format *format;
    int width, height;
    size_t pitch;                  /* bytes; 0 for jpeg */
    int planes;                    /* memory planes; the picture lies in the first */
    size_t bytes[PLX_V4L2_PLANES]; /* of each */
    double rate_hz;                /* 0: the camera does not say */
    bool rate_unset;               /* there is no S_PARM: a control may set the rate */
};

/* The driver's own memory of one buffer; all zeros: not mapped. */
struct plx_v4l2_mapping {
    void *data[PLX_V4L2_PLANES];
    size_t bytes[PLX_V4L2_PLANES];
};

struct v4l2_format;

/* Fills the argument of VIDIOC_S_FMT and VIDIOC_TRY_FMT from REQUESTED, with the pixel format FOURCC. */
void plx_v4l2_format_fill(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested, uint32_t fourcc,
                          struct v4l2_format *ret_format);

/* Reads the driver's answer and checks each number; the rate is not part of it. UNSUPPORTED, with what is wrong. */
int plx_v4l2_format_read(const struct plx_v4l2_node *node, const struct v4l2_format *format,
                         struct plx_v4l2_stream_format *ret_actual, struct plx_error_message *message);

#endif
