/* SPDX-License-Identifier: Apache-2.0 */
/* Views of images, which own no memory: captured buffers and their formats, grey pictures, rectification maps; and operations.
 */
#ifndef PLX_CORE_BASE_IMAGE_H
#define PLX_CORE_BASE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plx_error_message;
struct plx_stages;

#ifdef __cplusplus
extern "C" {
#endif

#define PLX_MAX_SIDE 8192 /* largest side of any image, pixels */

/* Size of one element in bytes; images of another meaning share a type (disparity and 16-bit grey are both U16). RGB: three
 * bytes, struct plx_rgb. */
enum plx_type { PLX_U8 = 1, PLX_U16 = 2, PLX_RGB = 3, PLX_U32 = 4, PLX_U64 = 8, PLX_U128 = 16 };

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
    PLX_FORMAT_NV16,
    PLX_FORMAT_RGB24,
    PLX_FORMAT_BGR24,
    PLX_FORMAT_BAYER8,
    PLX_FORMAT_BAYER10,
    PLX_FORMAT_BAYER12,  /* order in plx_raw.bayer; 10 and 12 in 16-bit words */
    PLX_FORMAT_GREY_RGB, /* GREY, and behind it the same picture as RGB24 with three times the pitch */
    PLX_FORMAT_COUNT
};

/* The two colours of the first row, left to right, then of the second. */
enum plx_bayer { PLX_BAYER_RGGB, PLX_BAYER_BGGR, PLX_BAYER_GRBG, PLX_BAYER_GBRG };

/* How the chroma of a YCbCr format is meant; zeros: as video has it. */
struct plx_chroma {
    bool bt709;      /* ITU-R BT.709; else BT.601 */
    bool full_range; /* all 8 bits, as in JPEG; else black is 16 and white 235 */
    bool swapped;    /* Cr where Cb is expected: YVYU, VYUY */
    bool centred;    /* a sample lies between two columns, as in JPEG; else at the first of both */
};

/* One captured buffer. A side-by-side camera gives one buffer for both eyes: two views with different EYE_X. */
struct plx_raw {
    const void *data;
    size_t bytes;      /* that may be read from data */
    int width, height; /* size of the whole buffer, pixels */
    size_t pitch;      /* bytes; the chroma plane of NV12, NV21 and NV16 follows the luma plane with the same pitch */
    enum plx_format format;
    enum plx_bayer bayer;
    bool msb_aligned;     /* 10- and 12-bit samples lie in the high bits of their word (Jetson) */
    int eye_x, eye_width; /* this eye's columns; 0 and width where the buffer holds one eye */
    struct plx_chroma chroma;
};

struct plx_format_layout {
    const char *name;
    int bits;        /* bits of one sample, which is also the depth of the grey made from it */
    int unit_pixels; /* the shortest run of whole pixels along a row ... */
    int unit_bytes;  /* ... and its bytes */
    bool words;      /* samples are 16-bit words, little endian */
    bool bayer;
    bool yuv;       /* YCbCr */
    int extra_rows; /* rows that follow the picture, a plane of their own: for each two rows of the picture */
};

/* NULL where FORMAT is no plx_format. Static storage. */
const struct plx_format_layout *plx_format_layout(enum plx_format format);

/* Rows of a buffer whose picture has HEIGHT; FORMAT must be valid. */
size_t plx_raw_rows(enum plx_format format, int height);

/* Bytes of one row without padding; FORMAT must be valid. */
size_t plx_raw_row_bytes(enum plx_format format, int width);

/* GREY, U8 or U16, as a captured buffer of one eye. */
struct plx_raw plx_raw_of_grey(const struct plx_image *grey);

/* Checks every number of RAW against its buffer: sizes 1..PLX_MAX_SIDE, pitch, bytes, alignment of words, eye window (Bayer:
 * at least 2x2). ARG, RANGE, or FORMAT for a short buffer. */
int plx_raw_check(const struct plx_raw *raw, struct plx_error_message *message);

/* Row Y of GREY, U8 or U16 and of the eye's size, from RAW, which has passed the check. 8-bit grey is the top 8 bits of the
 * samples; 16-bit grey is the samples moved up to full scale. Colour becomes luma, a mosaic is interpolated first:
 * docs/stages.md. */
void plx_raw_grey_row(const struct plx_raw *raw, const struct plx_image *grey, int y);

/* One entry of a rectification map: source position in 1/32 px, the numbers of OpenCV's CV_16SC2 + CV_16UC1 maps. */
struct plx_remap_entry {
    int16_t x, y;   /* whole pixel of the upper left neighbour, may lie outside */
    uint8_t fx, fy; /* 0..31 */
};

#define PLX_REMAP_ONE 32 /* parts of a pixel */

/* The entry at (x, y) in 1/32 px. Positions beyond 16 bits, which lie outside of every image, all become x = y = INT16_MIN. */
static inline struct plx_remap_entry plx_remap_at(int64_t x, int64_t y)
{
    const int64_t limit = (int64_t)INT16_MAX * PLX_REMAP_ONE;
    if (x < -limit || x > limit || y < -limit || y > limit)
        return (struct plx_remap_entry){INT16_MIN, INT16_MIN, 0, 0};
    int64_t fx = x & (PLX_REMAP_ONE - 1), fy = y & (PLX_REMAP_ONE - 1);
    return (struct plx_remap_entry){(int16_t)((x - fx) / PLX_REMAP_ONE), (int16_t)((y - fy) / PLX_REMAP_ONE), (uint8_t)fx,
                                    (uint8_t)fy};
}

/* [height][width] entries in memory of the owner (ops->alloc for use by a backend). */
struct plx_remap {
    struct plx_remap_entry *entry;
    int width, height;
};

#define PLX_MAX_WINDOW 31 /* sides of the filter's and of morphology's window: 1..31, odd */

static inline bool plx_window_ok(int size)
{
    return size >= 1 && size <= PLX_MAX_WINDOW && size % 2 == 1;
}

enum plx_binary_op { /* saturating where a result leaves 0..255 */
                     PLX_OP_ABSDIFF,
                     PLX_OP_ADD,
                     PLX_OP_SUB,
                     PLX_OP_MIN,
                     PLX_OP_MAX,
                     PLX_OP_AND,
                     PLX_OP_OR,
                     PLX_OP_XOR
};
enum plx_morphology { PLX_ERODE, PLX_DILATE, PLX_OPEN, PLX_CLOSE };

/* Best place of a template, and its normalized cross-correlation, of the deviations from the means, in Q15
 * (-32768..32767; 0 where the patch or the window is flat). */
struct plx_template_match {
    int32_t x, y;
    int32_t score;
};

struct plx_image_ops {
    int (*binary)(struct plx_stages *self, enum plx_binary_op op, const struct plx_image *a, const struct plx_image *b,
                  const struct plx_image *dst);
    int (*invert)(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst); /* 255 - v */
    int (*threshold)(struct plx_stages *self, const struct plx_image *src, int threshold,
                     const struct plx_image *dst); /* 255 where v > threshold, else 0 */
    /* rectangle of width x height, odd, 1..31; outside the image counts as nothing; open = erode, then dilate */
    int (*morphology)(struct plx_stages *self, enum plx_morphology op, const struct plx_image *src, int width, int height,
                      const struct plx_image *dst);
    /* inverse affine map, Q16: source = (m0 x + m1 y + m2, m3 x + m4 y + m5), rounded half up to 1/32 px, then bilinear, a
     * neighbour outside counts as 0; dst may have another size */
    int (*affine)(struct plx_stages *self, const struct plx_image *src, const int32_t matrix[6], const struct plx_image *dst);
    /* *ret_sum of all elements (frozen picture: the sum of the absolute difference is 0) */
    int (*sum)(struct plx_stages *self, const struct plx_image *src, uint64_t *ret_sum);
    /* *ret_best of PATCH (at most 65,536 pixels, else RANGE) within IMAGE; smallest y, then x, among equals */
    int (*match_template)(struct plx_stages *self, const struct plx_image *image, const struct plx_image *patch,
                          struct plx_template_match *ret_best);
};

#ifdef __cplusplus
}
#endif
#endif
