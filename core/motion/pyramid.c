/* SPDX-License-Identifier: Apache-2.0 */
#include "core/motion/pyramid.h"

#include <string.h>

size_t plx_pyramid_bytes(int width, int height)
{
    size_t bytes = PLX_PYRAMID_PADDING;
    for (int n = 0; n < PLX_PYRAMID_LEVELS; n++)
        bytes += (size_t)(width >> n) * (size_t)(height >> n);
    return bytes;
}

void plx_pyramid_lay_out(void *memory, int width, int height, struct plx_pyramid *ret_pyramid)
{
    uint8_t *next = memory;
    struct plx_pyramid pyramid = {.levels = 0};
    for (int n = 0; n < PLX_PYRAMID_LEVELS && width >> n > 0 && height >> n > 0; n++) {
        pyramid.level[n] = (struct plx_image){next, width >> n, height >> n, (size_t)(width >> n), PLX_U8};
        next += (size_t)(width >> n) * (size_t)(height >> n);
        pyramid.levels = n + 1;
    }
    *ret_pyramid = pyramid;
}

/* Rows FIRST to LAST - 1 of DST, which has half the size of SRC; the last column or row of an odd size is left out. */
static void halve_rows(const struct plx_image *src, const struct plx_image *dst, int first, int last)
{
    for (int y = first; y < last; y++) {
        const uint8_t *upper = plx_row(src, 2 * y), *lower = plx_row(src, 2 * y + 1);
        uint8_t *row = plx_row(dst, y);
        for (int x = 0; x < dst->width; x++)
            row[x] = (uint8_t)((upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1] + 2) >> 2);
    }
}

void plx_pyramid_build_strip(const struct plx_pyramid *pyramid, const struct plx_image *image, int y)
{
    for (int n = 0; n < pyramid->levels; n++) {
        const struct plx_image *level = &pyramid->level[n];
        const int first = y >> n, end = (y + PLX_PYRAMID_STRIP) >> n, last = end < level->height ? end : level->height;
        for (int row = first; n == 0 && row < last; row++)
            memcpy(plx_row(level, row), plx_row(image, row), (size_t)level->width);
        if (n > 0)
            halve_rows(&pyramid->level[n - 1], level, first, last);
    }
}
