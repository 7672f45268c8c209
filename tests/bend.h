/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of two cameras whose mount was bent after the calibration. */
#ifndef PLX_TESTS_BEND_H
#define PLX_TESTS_BEND_H

#include <math.h>
#include <stdint.h>
#include <string.h>

struct bend {
    double rows, roll_deg, scale; /* 0, 0, 1: not bent */
};

/* The picture as a camera sees it that is turned about its axis, larger and lower by BEND; black where it saw nothing. */
static inline void bend_picture(const uint8_t *src, int width, int height, struct bend bend, uint8_t *dst)
{
    const double angle = bend.roll_deg * M_PI / 180, c = cos(angle) / bend.scale, s = sin(angle) / bend.scale;
    const double cx = (width - 1) / 2.0, cy = (height - 1) / 2.0;

    memset(dst, 0, (size_t)width * (size_t)height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const double u = x - cx, v = y - cy - bend.rows, from_x = cx + c * u - s * v, from_y = cy + s * u + c * v;
            const int x0 = (int)floor(from_x), y0 = (int)floor(from_y);
            if (x0 < 0 || y0 < 0 || x0 >= width || y0 >= height)
                continue;
            const int right = x0 + 1 < width, down = y0 + 1 < height ? width : 0;
            const uint8_t *p = src + y0 * width + x0;
            const double fx = from_x - x0, fy = from_y - y0;
            dst[y * width + x] = (uint8_t)lround((1 - fy) * ((1 - fx) * p[0] + fx * p[right]) +
                                                 fy * ((1 - fx) * p[down] + fx * p[down + right]));
        }
}

#endif
