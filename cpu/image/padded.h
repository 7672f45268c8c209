/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of disparities with clamped coordinates, for the kernels that look through a window. */
#ifndef PLX_CPU_IMAGE_PADDED_H
#define PLX_CPU_IMAGE_PADDED_H

#include <string.h>

#include "cpu/internal.h"

/* Row Y, clamped, of SRC (U16) into LINE [PLX_PADDED(width)], whose pixel 0 is at PLX_PAD. */
static inline void plx_padded_row(const struct plx_image *src, int y, uint16_t *line)
{
    const int last = src->height - 1;
    const uint16_t *row = plx_row(src, y < 0 ? 0 : y > last ? last : y);

    memcpy(line + PLX_PAD, row, (size_t)src->width * sizeof *line);
    for (int i = 0; i < PLX_PAD; i++) {
        line[i] = row[0];
        line[PLX_PAD + src->width + i] = row[src->width - 1];
    }
}

#endif
