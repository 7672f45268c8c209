/* SPDX-License-Identifier: Apache-2.0 */
/* What the scan and the stixels of a frame claim at a pixel. The frame has both planes. */
#ifndef PLX_APP_EVALUATE_COLUMN_LOOKUP_H
#define PLX_APP_EVALUATE_COLUMN_LOOKUP_H

#include <stdbool.h>

#include <parallax/frame.h>

/* True if the frame has a scan and stixels, of all its columns. */
bool plx_has_columns(const struct plx_frame *frame);

/* The stixels of pixel column X, PLX_COLUMN_STIXELS of them; unused ones have disparity 0. */
const struct plx_stixel *plx_stixels_at(const struct plx_frame *frame, int x);

/* Distance, metres, of the nearest thing in the pixel columns X .. X + WIDTH - 1; INFINITY if there is none. */
float plx_scan_nearest(const struct plx_frame *frame, int x, int width);

/* Distance, metres, up to which pixel column X is free; 0 if nothing is known. */
float plx_scan_free(const struct plx_frame *frame, int x);

#endif
