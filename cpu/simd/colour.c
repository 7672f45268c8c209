/* SPDX-License-Identifier: Apache-2.0 */
/* Stage colour: mosaics (core/colour/colour.h). */
#include "cpu/simd/simd.h"

void PLX_KERNEL(mosaic)(const struct plx_mosaic_rows *rows, int x, int count, int32_t *restrict ret_linear)
{
    const uint16_t *above2 = rows->row[0] + x, *above = rows->row[1] + x, *row = rows->row[2] + x, *below = rows->row[3] + x,
                   *below2 = rows->row[4] + x;
    const bool red_row = rows->red_row;
    const int largest = rows->largest, green = (rows->green + x) & 1;
    const uint32_t red = rows->ratio[PLX_RED], middle = rows->ratio[PLX_GREEN], blue = rows->ratio[PLX_BLUE];
    int32_t *restrict ret_red = ret_linear, *restrict ret_green = ret_linear + PLX_MOSAIC_BLOCK,
                      *restrict ret_blue = ret_linear + 2 * PLX_MOSAIC_BLOCK;

    for (int i = 0; i < count; i++) {
        const struct plx_mosaic_sums sums = {
            .centre = row[i],
            .across = row[i - 1] + row[i + 1],
            .along = above[i] + below[i],
            .diagonal = above[i - 1] + above[i + 1] + below[i - 1] + below[i + 1],
            .far_across = row[i - 2] + row[i + 2],
            .far_along = above2[i] + below2[i],
        };
        int rgb[PLX_CHANNELS];
        plx_mosaic_rgb(&sums, (i & 1) == green, red_row, largest, rgb);
        ret_red[i] = plx_colour_balanced(rgb[PLX_RED], red);
        ret_green[i] = plx_colour_balanced(rgb[PLX_GREEN], middle);
        ret_blue[i] = plx_colour_balanced(rgb[PLX_BLUE], blue);
    }
}
