/* SPDX-License-Identifier: Apache-2.0 */
/* Stage colour: mosaics (core/colour/colour.h). */
#include "cpu/simd/simd.h"

/* Like plx_mosaic_rgb, but without a branch: both answers are computed, and the mask chooses. */
void PLX_KERNEL(mosaic)(const struct plx_mosaic_rows *rows, int x, int count, int32_t *restrict ret_linear)
{
    const uint16_t *above2 = rows->row[0] + x, *above = rows->row[1] + x, *row = rows->row[2] + x, *below = rows->row[3] + x,
                   *below2 = rows->row[4] + x;
    const int own_colour = rows->red_row ? PLX_RED : PLX_BLUE, other_colour = PLX_RED + PLX_BLUE - own_colour;
    const int largest = rows->largest, green = rows->green + x;
    const uint32_t own_ratio = rows->ratio[own_colour], middle = rows->ratio[PLX_GREEN],
                   other_ratio = rows->ratio[other_colour];
    int32_t *restrict ret_own = ret_linear + own_colour * PLX_MOSAIC_BLOCK,
                      *restrict ret_green = ret_linear + PLX_GREEN * PLX_MOSAIC_BLOCK,
                      *restrict ret_other = ret_linear + other_colour * PLX_MOSAIC_BLOCK;

    for (int i = 0; i < count; i++) {
        const struct plx_mosaic_sums s = {
            .centre = row[i],
            .across = row[i - 1] + row[i + 1],
            .along = above[i] + below[i],
            .diagonal = above[i - 1] + above[i + 1] + below[i - 1] + below[i + 1],
            .far_across = row[i - 2] + row[i + 2],
            .far_along = above2[i] + below2[i],
        };
        const int is_green = ((i ^ green) & 1) - 1; /* all bits */
        const int own = plx_mosaic_at_green(s.centre, s.across, s.diagonal, s.far_across, s.far_along);
        const int other = plx_mosaic_at_green(s.centre, s.along, s.diagonal, s.far_along, s.far_across);
        const int middle_of = plx_mosaic_green(&s), opposite = plx_mosaic_opposite(&s);
        ret_own[i] = plx_colour_balanced(plx_limit((own & is_green) | (s.centre & ~is_green), largest), own_ratio);
        ret_green[i] = plx_colour_balanced(plx_limit((s.centre & is_green) | (middle_of & ~is_green), largest), middle);
        ret_other[i] = plx_colour_balanced(plx_limit((other & is_green) | (opposite & ~is_green), largest), other_ratio);
    }
}
