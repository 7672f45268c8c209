/* SPDX-License-Identifier: Apache-2.0 */
/* A frame that a test makes, and its planes: they lie in one struct behind their frame. */
#ifndef PLX_TESTS_UNIT_FRAME_PLANE_H
#define PLX_TESTS_UNIT_FRAME_PLANE_H

#include <string.h>

#include <parallax/frame.h>

/* FRAME, without planes yet, and all that lies behind it are zero: BYTES in all. Returns FRAME. */
static inline struct plx_frame *init_frame(struct plx_frame *frame, size_t bytes, uint32_t width, uint32_t height)
{
    memset(frame, 0, bytes);
    frame->width = width;
    frame->height = height;
    return frame;
}

/* Plane ID of FRAME is MEMORY, which lies behind it: HEIGHT rows of WIDTH elements, PITCH bytes from one to the next. */
static inline void place_plane(struct plx_frame *frame, enum plx_plane_id id, const void *memory, uint32_t pitch,
                               uint32_t width, uint32_t height)
{
    const uint32_t offset = (uint32_t)((const uint8_t *)memory - (const uint8_t *)frame);
    frame->plane[id] = (struct plx_plane){offset, pitch, width, height, plx_plane_element(id), 0};
}

#endif
