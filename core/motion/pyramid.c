/* SPDX-License-Identifier: Apache-2.0 */
#include "core/motion/pyramid.h"

#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

int plx_pyramid_create(int width, int height, struct plx_pyramid *ret_pyramid)
{
    size_t bytes = PLX_PYRAMID_PADDING;
    for (int n = 0; n < PLX_PYRAMID_LEVELS; n++)
        bytes += (size_t)(width >> n) * (size_t)(height >> n);
    void *memory = calloc(1, bytes);
    if (!memory)
        return PLX_ERR_NOMEM;
    *ret_pyramid = (struct plx_pyramid){.memory = memory};
    return 0;
}

void plx_pyramid_destroy(struct plx_pyramid *pyramid)
{
    free(pyramid->memory);
    *pyramid = (struct plx_pyramid){.levels = 0};
}

/* DST has half the size of SRC; the last column or row of an odd size is left out. */
static void halve(const struct plx_image *src, const struct plx_image *dst)
{
    for (int y = 0; y < dst->height; y++) {
        const uint8_t *upper = plx_row(src, 2 * y), *lower = plx_row(src, 2 * y + 1);
        uint8_t *row = plx_row(dst, y);
        for (int x = 0; x < dst->width; x++)
            row[x] = (uint8_t)((upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1] + 2) >> 2);
    }
}

void plx_pyramid_build(struct plx_pyramid *pyramid, const struct plx_image *picture)
{
    uint8_t *next = pyramid->memory;
    pyramid->levels = 0;
    for (int n = 0; n < PLX_PYRAMID_LEVELS; n++) {
        struct plx_image *level = &pyramid->level[n];
        const int width = picture->width >> n, height = picture->height >> n;
        if (width == 0 || height == 0)
            return;
        *level = (struct plx_image){next, width, height, (size_t)width, PLX_U8};
        for (int y = 0; n == 0 && y < height; y++)
            memcpy(plx_row(level, y), plx_row(picture, y), (size_t)width);
        if (n > 0)
            halve(&pyramid->level[n - 1], level);
        next += (size_t)width * (size_t)height;
        pyramid->levels = n + 1;
    }
}
