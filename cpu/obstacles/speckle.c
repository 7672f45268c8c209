/* SPDX-License-Identifier: Apache-2.0 */
/* Stage speckle: small patches of disparity that stand apart from what surrounds them are invalid. */
#include <string.h>

#include <parallax/error.h>

#include "cpu/internal.h"
#include "cpu/obstacles/components.h"

int plx_cpu_speckle(struct plx_stages *self, const struct plx_image *src, const struct plx_speckle *speckle,
                    const struct plx_image *dst)
{
    const struct plx_cpu *cpu = plx_cpu(self);
    struct plx_components *c = cpu->components;

    if (!plx_image_ok(src, PLX_U16) || !plx_image_ok(dst, PLX_U16) || !plx_same_size(src, dst) || speckle->max_step < 0)
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, src))
        return PLX_ERR_RANGE;

    plx_components_find(c, NULL, src, speckle->max_step, PLX_CONNECT_4);
    for (int y = 0; y < src->height; y++) {
        uint16_t *row = plx_row(dst, y);
        memcpy(row, plx_row(src, y), (size_t)src->width * sizeof *row);
        for (uint32_t i = c->row[y]; i < c->row[y + 1]; i++) {
            const struct plx_run run = c->run[i];
            if ((int64_t)c->area[c->root[i]] < speckle->max_size)
                memset(row + run.x0, 0xFF, (size_t)(run.x1 - run.x0) * sizeof *row);
        }
    }
    return 0;
}
