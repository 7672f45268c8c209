/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns that image stages and operations are compared on. */
#include "tests/parity/image.h"

uint64_t pattern_state;

static void fill(struct twin *twin, enum pattern pattern)
{
    for (int y = 0; y < twin->want.height; y++) {
        uint8_t *row = plx_row(&twin->want, y);
        for (int i = 0; i < twin->want.width * (int)twin->want.type; i++) {
            const uint8_t value[PATTERNS] = {0, 0xFF, (uint8_t)random_next(&pattern_state), (uint8_t)(i / 3 + y * 5)};
            row[i] = value[pattern];
        }
    }
    twin_share(twin);
}

struct twin pattern_new(struct parity *parity, int width, int height, enum plx_type type, enum pattern pattern)
{
    struct twin twin = twin_new(parity->gpu, width, height, type);
    fill(&twin, pattern);
    return twin;
}
