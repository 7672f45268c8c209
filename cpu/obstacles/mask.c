/* SPDX-License-Identifier: Apache-2.0 */
/* Stage mask: what is in range and stands above the ground. */
#include <parallax/error.h>

#include "core/ground.h"
#include "cpu/internal.h"

struct job {
    const struct plx_image *disparity, *mask;
    const struct plx_ground *ground;
    const struct plx_mask_params *params;
};

static void mask_row(void *argument, int y)
{
    const struct job *job = argument;
    const uint16_t *disparity = plx_row(job->disparity, y);
    uint8_t *mask = plx_row(job->mask, y);

    for (int x = 0; x < job->disparity->width; x++)
        mask[x] = plx_is_obstacle(job->ground, job->params, x, y, disparity[x]) ? 255 : 0;
}

int plx_cpu_mask(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                 const struct plx_mask_params *params, const struct plx_image *ret_mask)
{
    struct plx_cpu *cpu = plx_cpu(self);
    struct job job = {disparity, ret_mask, ground, params};

    if (!plx_image_ok(disparity, PLX_U16) || !plx_image_ok(ret_mask, PLX_U8) || !plx_same_size(disparity, ret_mask))
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, disparity))
        return PLX_ERR_RANGE;
    plx_pool_run(cpu->pool, disparity->height, mask_row, &job);
    return 0;
}
