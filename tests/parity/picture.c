/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures that image stages and operations are compared on. */
#include "tests/parity/image.h"

uint64_t picture_state;

static void fill(struct twin *twin, enum picture picture)
{
    for (int y = 0; y < twin->want.height; y++) {
        uint8_t *row = plx_row(&twin->want, y);
        for (int i = 0; i < twin->want.width * (int)twin->want.type; i++) {
            const uint8_t value[PICTURES] = {0, 0xFF, (uint8_t)random_next(&picture_state), (uint8_t)(i / 3 + y * 5)};
            row[i] = value[picture];
        }
    }
    twin_share(twin);
}

struct twin picture_new(struct parity *parity, int width, int height, enum plx_type type, enum picture picture)
{
    struct twin twin = twin_new(parity->gpu, width, height, type);
    fill(&twin, picture);
    return twin;
}
