/* SPDX-License-Identifier: Apache-2.0 */
/* V4L2's pixel formats that Parallax can read, the formats that a camera offers, the requested one, and the one in force. */
#ifndef PLX_V4L2_FORMAT_H
#define PLX_V4L2_FORMAT_H

#include <linux/videodev2.h>
#include <stdint.h>

#include "core/base/image.h"
#include "drivers/v4l2/node.h"

struct plx_v4l2_format {
    uint32_t fourcc;
    enum plx_format format; /* planar YUV, whose luma alone is used, is GREY */
    enum plx_bayer bayer;
    bool jpeg;    /* each picture is a JPEG file, to be decoded to GREY, or to GREY_RGB */
    bool swapped; /* Cr before Cb */
    int planes;   /* memory planes in the multi-planar form */
};

/* In order of preference: grey, luma first in memory, packed, mosaic, colour, compressed. */
extern const struct plx_v4l2_format plx_v4l2_formats[];
extern const int plx_v4l2_format_count;

const struct plx_v4l2_format *plx_v4l2_format_find(uint32_t fourcc); /* NULL: the convert stage lacks it */

/* True if pictures of FORMAT have a colour that Parallax can use. */
bool plx_v4l2_format_has_colour(const struct plx_v4l2_format *format);

/* "Y10 " as text: without the trailing spaces; unprintable characters become ?. */
void plx_v4l2_fourcc_text(uint32_t fourcc, char ret_text[5]);

/* "GREY" or "Y10" -> the number; 0 if TEXT is not 1..4 characters. */
uint32_t plx_v4l2_fourcc_parse(const char *text);

#define PLX_V4L2_PLANES 3
#define PLX_V4L2_SAME_RATE 0.01 /* relative difference of rates that count as equal: 29.97 is 30 */

struct plx_v4l2_requested_format {
    uint32_t fourcc;   /* 0: choose the best one at this size and rate */
    bool colour;       /* only formats whose colour can be used */
    int width, height; /* size of the whole buffer, pixels */
    double rate_hz;    /* 0: keep the camera's rate */
    struct {
        int x, y, width, height; /* part of the sensor, pixels; width 0: keep the camera's cropping */
    } crop;
};

/* The format in force. */
struct plx_v4l2_stream_format {
    const struct plx_v4l2_format *format;
    int width, height;
    size_t pitch;                  /* bytes; 0 for jpeg */
    int planes;                    /* memory planes; the picture lies in the first */
    size_t bytes[PLX_V4L2_PLANES]; /* size of each plane */
    struct plx_chroma chroma;
    bool colour;     /* JPEG is decoded to it too; plx_v4l2_negotiate leaves it false */
    double rate_hz;  /* 0: the camera does not say */
    bool rate_unset; /* there is no S_PARM: a control may set the rate */
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

/* --- what a camera offers (VIDIOC_ENUM_*); nothing is set --------------------------------------------------------- */

#define PLX_V4L2_FRAME_SIZES 32
#define PLX_V4L2_FORMATS 128

struct plx_v4l2_format_info {
    uint32_t fourcc;
    bool readable; /* Parallax can read it, see plx_v4l2_formats */
    int size_count;
    struct plx_v4l2_frame_size {
        int width, height;
        bool up_to;     /* a range of sizes; this is the largest */
        double rate_hz; /* the highest; -1: the camera does not say */
    } size[PLX_V4L2_FRAME_SIZES];
};

/* Lists at most PLX_V4L2_FORMATS formats of PLX_V4L2_FRAME_SIZES sizes each; further ones are left out. Returns how many. */
int plx_v4l2_enumerate_formats(const struct plx_v4l2_node *node, struct plx_v4l2_format_info ret_info[PLX_V4L2_FORMATS]);

/* Suggests a size and a format to start with: the first format in order of preference, its largest size of at least 15 Hz and
 * at most 1280 columns for each eye. BOTH: only sizes with an aspect of at least 5:2, for both eyes side by side; else only
 * others. False if there is none. */
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

/* --- negotiate.c: setting format, size, cropping and rate of a camera --------------------------------------------- */

/* The format that plx_v4l2_negotiate would give, without setting anything: another process may be using the camera.
 * ret_actual->format is NULL if only setting it can show the format. CONTROLS_SET: the controls have their values already. If
 * they or the cropping are not set yet, they may change what the camera gives, and only what it can never give is refused.
 * UNSUPPORTED, errors of plx_v4l2_fail. */
int plx_v4l2_negotiate_try(struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested, bool controls_set,
                           struct plx_v4l2_stream_format *ret_actual, struct plx_error_message *message);

/* Sets REQUESTED and reads back what is in force. Uses libv4l2 if the camera has no readable format. NOTE gets a text
 * if libv4l2 converts; else it is unchanged. UNSUPPORTED, with what the camera offers; BUSY; errors of plx_v4l2_fail. */
int plx_v4l2_negotiate(struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested,
                       struct plx_v4l2_stream_format *ret_actual, struct plx_error_message *note,
                       struct plx_error_message *message);

#endif
