/* SPDX-License-Identifier: Apache-2.0 */
/* Image operations with one interface for every backend; the rules of core/stages.h hold. All images U8 unless said. */
#ifndef PLX_CORE_IMAGEOPS_H
#define PLX_CORE_IMAGEOPS_H

#include "core/image.h"
#include "core/remap.h"

#define PLX_MAX_WINDOW 31 /* sides of the filter's and of morphology's window: 1..31, odd */

struct plx_stages;

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

#endif
