/* SPDX-License-Identifier: Apache-2.0 */
/* The colour map, and disparity seen through it. */
#include "app/cli/draw.h"

#include <math.h>

/* Polynomial fit of the Turbo colour map: A. Mikhailov, "Turbo, an improved rainbow colormap", Google AI Blog 2019; fit by
 * R. Du. Coefficients of t^0 to t^5. */
static const double turbo[3][6] = {
    {0.13572138, 4.61539260, -42.66032258, 132.13108234, -152.94239396, 59.28637943},
    {0.09140261, 2.19418839, 4.84296658, -14.18503333, 4.27729857, 2.82956604},
    {0.10667330, 12.64194608, -60.58204836, 110.36276771, -89.90310912, 27.34824973},
};

static uint8_t channel(const double coefficient[6], double t)
{
    double value = 0;
    for (int i = 5; i >= 0; i--)
        value = value * t + coefficient[i];
    return value <= 0 ? 0 : value >= 1 ? 255 : (uint8_t)lround(value * 255);
}

struct plx_rgb plx_colour_map(double t)
{
    t = t > 0 ? t < 1 ? t : 1 : 0; /* NAN gives 0 */
    return (struct plx_rgb){channel(turbo[0], t), channel(turbo[1], t), channel(turbo[2], t)};
}

/* Whole pixels of the disparity below which 99 % of the valid ones lie; at least 1. */
static int percentile_99(const struct plx_image *disparity)
{
    uint32_t histogram[0x1000] = {0};
    uint64_t valid = 0, seen = 0;
    for (int y = 0; y < disparity->height; y++) {
        const uint16_t *row = plx_row(disparity, y);
        for (int x = 0; x < disparity->width; x++)
            if (row[x] != PLX_DISPARITY_INVALID) {
                histogram[row[x] / PLX_DISPARITY_ONE]++;
                valid++;
            }
    }
    for (int d = 0; d < 0x1000; d++) {
        seen += histogram[d];
        if (seen * 100 >= valid * 99)
            return d + 1;
    }
    return 0x1000;
}

void plx_draw_disparity(struct plx_rgb_image *drawing, const struct plx_image *disparity)
{
    const double first = 0.07; /* what is darker in the map could be taken for invalid */
    double scale = (1 - first) / (percentile_99(disparity) * PLX_DISPARITY_ONE);
    for (int y = 0; y < drawing->height; y++) {
        const uint16_t *row = plx_row(disparity, y);
        struct plx_rgb *out = drawing->pixel + (size_t)y * (size_t)drawing->width;
        for (int x = 0; x < drawing->width; x++)
            out[x] = row[x] == PLX_DISPARITY_INVALID ? (struct plx_rgb){0, 0, 0} : plx_colour_map(first + row[x] * scale);
    }
}
