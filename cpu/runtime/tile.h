/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of the separable window stages: columns by which the rows in a window stay in the first-level cache. */
#ifndef PLX_CPU_RUNTIME_TILE_H
#define PLX_CPU_RUNTIME_TILE_H

#include "core/image.h"

#define PLX_TILE 256       /* columns */
#define PLX_WINDOW_RING 32 /* rows kept: row y lies in ring[y & 31] */
#define PLX_TILE_LINE (PLX_TILE + PLX_MAX_WINDOW - 1)

/* LINE gets COUNT pixels of row Y of SRC from column X on; coordinates outside are clamped to the edge. */
static inline void plx_clamped_line(const struct plx_image *src, int x, int y, int count, uint8_t *line)
{
    const uint8_t *row = plx_row(src, y < 0 ? 0 : y >= src->height ? src->height - 1 : y);
    int last = src->width - 1;
    for (int i = 0; i < count; i++)
        line[i] = row[x + i < 0 ? 0 : x + i > last ? last : x + i];
}

#endif
