/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frame for the page, as one binary message, little endian: the length of a JSON text as 4 bytes, the text, and zeros up to a
 * multiple of 8; then planes, whose offsets count from there. The text:
 *   {"status": as `parallax status --json`, "stamp_ms": wall clock of the left picture, "delay_ms": from there to the
 *    publication, "planes": [{"name", "width", "height",
 *    "form", "offset", "bytes"}, ...]}
 * Forms: "u8", "u16", "u32", "rgb8" (rows without gaps), "jpeg", "deflate" (zlib, of u8). Planes:
 *   left, right  the pictures
 *   disparity    as PLX_PLANE_DISPARITY; of form deflate every second pixel of every second row, 0 to 254 for the searched
 *                range, 255 where it is invalid
 *   scan         struct plx_scan of the columns, as 4 x u16
 *   histogram    256 bins of the left picture, 256 of the right one
 *   map          struct plx_cell of the cells, as 4 x u8
 *   colour       the left picture in colour, rgb8; of a frame without colour `left` comes in its place
 */
#ifndef PLX_APP_WEB_PACKET_H
#define PLX_APP_WEB_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "app/view/status.h"
#include "app/web/buffer.h"

enum plx_web_plane {
    PLX_WEB_LEFT,
    PLX_WEB_RIGHT,
    PLX_WEB_DISPARITY,
    PLX_WEB_SCAN,
    PLX_WEB_HISTOGRAM,
    PLX_WEB_MAP,
    PLX_WEB_COLOUR,
    PLX_WEB_PLANES
};

extern const char *const plx_web_plane_names[PLX_WEB_PLANES];

/* What a viewer wants to see. */
struct plx_web_want {
    uint32_t planes; /* bit 1 << enum plx_web_plane */
    bool compact;    /* for slow networks: JPEG and deflate */
};

struct plx_web_encoder;
int plx_web_encoder_create(struct plx_web_encoder **ret_encoder); /* NOMEM */
void plx_web_encoder_destroy(struct plx_web_encoder *encoder);

/* The message of FRAME, a whole copy whose header is that of STATUS; the reference is the caller's. A plane that FRAME lacks is
 * left out. NOMEM; IO: a picture cannot be compressed. */
int plx_web_packet(struct plx_web_encoder *encoder, const struct plx_status *status, const struct plx_frame *frame,
                   const struct plx_web_want *want, struct plx_web_buffer **ret_buffer);

#endif
