/* SPDX-License-Identifier: Apache-2.0 */
/* Images for the stages of ego-motion. */
#ifndef PLX_TESTS_MOTION_PATTERNS_H
#define PLX_TESTS_MOTION_PATTERNS_H

#include <math.h>

#include "oracle/test_image.h"

enum motion_pattern { MOTION_BLACK, MOTION_WHITE, MOTION_NOISE, MOTION_TEXTURE, MOTION_STEPS, MOTION_PATTERNS };

/* Fills the U8 IMAGE; texture and steps moved by (DX, DY). STEPS: squares, whose corners have equal strengths. */
static inline void motion_pattern_draw(const struct plx_image *image, enum motion_pattern kind, double dx, double dy,
                                       uint64_t *state)
{
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            const double u = x - dx, v = y - dy;
            const double texture = 128 + 30 * sin(0.31 * u + 0.2 * sin(0.13 * v)) + 30 * sin(0.27 * v - 0.11 * u) +
                                   25 * sin(0.07 * u + 0.09 * v) + 20 * sin(0.043 * u - 0.05 * v + 1);
            const int steps = ((int)floor(u / 6) + (int)floor(v / 10)) % 2 == 0 ? 40 : 200;
            const uint8_t grey[] = {0, 255, (uint8_t)random_below(state, 256), (uint8_t)texture, (uint8_t)steps};
            ((uint8_t *)plx_row(image, y))[x] = grey[kind];
        }
}

#endif
