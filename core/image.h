/* SPDX-License-Identifier: Apache-2.0 */
/* Views of images: plain rectangles of elements in somebody else's memory. */
#ifndef PLX_CORE_IMAGE_H
#define PLX_CORE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLX_MAX_SIDE 8192 /* of any image, pixels */

/* Size of one element in bytes; images of another meaning share a type (disparity and 16-bit grey are both U16). */
enum plx_type { PLX_U8 = 1, PLX_U16 = 2, PLX_U32 = 4, PLX_U64 = 8 };

/* Row-major, [height][width] elements, rows PITCH bytes apart; owns nothing. */
struct plx_image {
    void *data;
    int width, height;
    size_t pitch;
    enum plx_type type;
};

static inline void *plx_row(const struct plx_image *image, int y)
{
    return (uint8_t *)image->data + (size_t)y * image->pitch;
}

/* True if IMAGE has data of TYPE, a size of 1..PLX_MAX_SIDE per side, and a pitch that holds a row and keeps elements aligned.
 */
bool plx_image_ok(const struct plx_image *image, enum plx_type type);

/* True if both have the same width and height. */
bool plx_same_size(const struct plx_image *a, const struct plx_image *b);

/* Pixel formats that a camera or a file gives; V4L2 names. */
enum plx_format {
    PLX_FORMAT_GREY,
    PLX_FORMAT_Y10,
    PLX_FORMAT_Y12,
    PLX_FORMAT_Y16, /* 16-bit words but for GREY */
    PLX_FORMAT_YUYV,
    PLX_FORMAT_UYVY,
    PLX_FORMAT_NV12,
    PLX_FORMAT_NV21,
    PLX_FORMAT_RGB24,
    PLX_FORMAT_BGR24,
    PLX_FORMAT_BAYER8,
    PLX_FORMAT_BAYER10,
    PLX_FORMAT_BAYER12, /* order in plx_raw.bayer; 10 and 12 in 16-bit words */
    PLX_FORMAT_COUNT
};

/* The two colours of the first row, left to right, then of the second. */
enum plx_bayer { PLX_BAYER_RGGB, PLX_BAYER_BGGR, PLX_BAYER_GRBG, PLX_BAYER_GBRG };

/* One captured buffer. A side-by-side camera gives one buffer for both eyes: two views with different EYE_X. */
struct plx_raw {
    const void *data;
    size_t bytes;      /* that may be read from data */
    int width, height; /* of the whole buffer, pixels */
    size_t pitch;      /* bytes; the chroma plane of NV12/NV21 follows the luma plane with the same pitch */
    enum plx_format format;
    enum plx_bayer bayer;
    bool msb_aligned;     /* 10- and 12-bit samples lie in the high bits of their word (Jetson) */
    int eye_x, eye_width; /* this eye's columns; 0 and width where the buffer holds one eye */
};

#endif
