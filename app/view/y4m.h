/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YUV4MPEG2 (y4m(5) of mjpegtools): a text header, then each picture behind the line FRAME. Grey of 8 bits is `mono`; grey of
 * 16 bits, little endian, is ffmpeg's `mono16`; colour is `444`: the planes Y, Cb and Cr of BT.601, of full range. Pictures
 * have no padding.
 */
#ifndef PLX_APP_VIEW_Y4M_H
#define PLX_APP_VIEW_Y4M_H

#include <stdint.h>

#include <parallax/client.h>

#include "core/base/image.h"

#define PLX_Y4M_HEADER_BYTES 160
#define PLX_Y4M_FRAME "FRAME\n" /* before each picture */

enum plx_y4m_kind { PLX_Y4M_GREY8, PLX_Y4M_GREY16, PLX_Y4M_COLOUR };

/* The header of pictures of KIND. A rate below 0.001 Hz is written as unknown. */
void plx_y4m_header(int width, int height, enum plx_y4m_kind kind, double rate_hz, char ret_text[PLX_Y4M_HEADER_BYTES]);

/* The planes of RGB: RET_PLANES [3][height][width]. */
void plx_y4m_colour(const struct plx_image *rgb, uint8_t *ret_planes);

/* Disparity of VIEW as in KITTI's PNG: pixels x 256, 0 = unknown. RET_PIXELS: [height][width] of the plane. */
void plx_y4m_disparity(const struct plx_view *view, uint16_t *ret_pixels);

/* Distance along the optical axis, millimetres, as plx_point has it; 0 = unknown, or beyond 65.535 m. */
void plx_y4m_depth(const struct plx_view *view, uint16_t *ret_pixels);

#endif
