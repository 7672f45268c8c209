/* SPDX-License-Identifier: Apache-2.0 */
/* Grey values between pixels. */
#ifndef PLX_APP_CALIBRATE_SAMPLE_H
#define PLX_APP_CALIBRATE_SAMPLE_H

#include "core/base/image.h"

/* The grey level of GREY (U8) at X, Y by bilinear interpolation; X, Y at least 0 and a pixel from the far sides. */
static inline double plx_sample(const struct plx_image *grey, double x, double y)
{
    const int u = (int)x, v = (int)y;
    const double a = x - u, b = y - v;
    const uint8_t *row = plx_row(grey, v), *next = plx_row(grey, v + 1);
    return (1 - b) * ((1 - a) * row[u] + a * row[u + 1]) + b * ((1 - a) * next[u] + a * next[u + 1]);
}

#endif
