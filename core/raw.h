/* SPDX-License-Identifier: Apache-2.0 */
/* Raw buffers: how each pixel format lies in memory, and whether a buffer holds what it claims. */
#ifndef PLX_CORE_RAW_H
#define PLX_CORE_RAW_H

#include "core/image.h"
#include "core/text.h"

struct plx_format_layout {
    const char *name;
    int bits;        /* of one sample, which is also the depth of the grey made from it */
    int unit_pixels; /* the shortest run of whole pixels along a row ... */
    int unit_bytes;  /* ... and its bytes */
    bool words;      /* samples are 16-bit words, little endian */
    bool bayer;
    bool chroma_plane; /* 4:2:0: a plane of interleaved chroma pairs follows the luma plane with the same pitch */
};

/* NULL where FORMAT is no plx_format. Static storage. */
const struct plx_format_layout *plx_format_layout(enum plx_format format);

/* Bytes of one row without padding; FORMAT must be valid. */
size_t plx_raw_row_bytes(enum plx_format format, int width);

/* Checks every number of RAW against its buffer: sizes 1..PLX_MAX_SIDE, pitch, bytes, alignment of words, eye window (Bayer:
 * at least 2x2). ARG, RANGE, or FORMAT for a short buffer. */
int plx_raw_check(const struct plx_raw *raw, struct plx_error_message *message);

#endif
