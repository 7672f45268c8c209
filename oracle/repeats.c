/* SPDX-License-Identifier: Apache-2.0 */
/* Texture that repeats along the rows, one window at a time. */
#include <stdlib.h>

#include "oracle/oracle.h"

/* W(k) of the window of WIDTH x HEIGHT pixels at (x, y) */
static int difference(const struct plx_image *src, int x, int y, int width, int height, int k)
{
    int sum = 0;
    for (int dy = 0; dy < height; dy++) {
        const uint8_t *row = plx_row(src, y + dy);
        for (int dx = 0; dx < width; dx++)
            sum += abs(row[x + dx] - row[x + dx - k]);
    }
    return sum;
}

static void clear(const struct plx_image *dst, int x, int y, int end, int height)
{
    for (int dy = 0; dy < height; dy++)
        for (int i = x; i < end; i++)
            ((uint8_t *)plx_row(dst, y + dy))[i] = 0;
}

void oracle_repeats(const struct plx_image *src, const struct plx_image *dst)
{
    const int width = PLX_REPEAT_WINDOW * PLX_REPEAT_CELL;

    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            ((uint8_t *)plx_row(dst, y))[x] = ((const uint8_t *)plx_row(src, y))[x];
    for (int y = 0; y < src->height; y += PLX_REPEAT_CELL) {
        const int height = src->height - y < PLX_REPEAT_CELL ? src->height - y : PLX_REPEAT_CELL;
        for (int x = 0; x + width <= src->width; x += PLX_REPEAT_CELL) {
            int largest = 0;
            for (int k = 1; k <= PLX_REPEAT_MAX_SHIFT && k <= x; k++) {
                const int w = difference(src, x, y, width, height, k);
                if (k >= PLX_REPEAT_MIN_SHIFT && largest > PLX_REPEAT_CONTRAST * width * height &&
                    PLX_REPEAT_RATIO * w < largest)
                    clear(dst, (x - k) / PLX_REPEAT_CELL * PLX_REPEAT_CELL, y, x + width, height);
                if (w > largest)
                    largest = w;
            }
        }
    }
}
