/* SPDX-License-Identifier: Apache-2.0 */
/* Stage corners, the strongest corner of each cell, and stage corner_disparities. */
#include <parallax/error.h>

#include "core/motion/corners.h"
#include "cpu/internal.h"

struct corners_job {
    const struct plx_kernels *kernels;
    const struct plx_image *left, *cells;
};

static void find_in_row(void *argument, int row)
{
    const struct corners_job *job = argument;
    job->kernels->corners(job->left, job->cells, row);
}

int plx_cpu_corners(struct plx_stages *self, const struct plx_image *left, const struct plx_image *ret_cells)
{
    struct plx_cpu *cpu = plx_cpu(self);
    struct corners_job job = {cpu->kernels, left, ret_cells};

    const int result = PLX_CPU_CHECK_IMAGES(cpu, {left, PLX_U8});
    if (result < 0)
        return result;
    if (!plx_corner_cells_ok(left->width, left->height, ret_cells))
        return PLX_ERR_ARG;
    plx_pool_run_rows(cpu->pool, ret_cells->height, find_in_row, &job);
    return 0;
}

/* --- disparities -------------------------------------------------------------------------------------------------- */

struct disparities_job {
    const struct plx_image *disparity, *cells;
};

static void enter_disparities(void *argument, int row)
{
    const struct disparities_job *job = argument;
    const struct plx_image *d = job->disparity;
    struct plx_corner_cell *cell = plx_row(job->cells, row);

    for (int i = 0; i < job->cells->width; i++)
        if (cell[i].strength > 0)
            cell[i].disparity = plx_corner_disparity(d->data, d->pitch, d->width, d->height, cell[i].x, cell[i].y);
}

int plx_cpu_corner_disparities(struct plx_stages *self, const struct plx_image *disparity, const struct plx_flow_job *flow,
                               const struct plx_image *cells, struct plx_flow_found *found)
{
    struct plx_cpu *cpu = plx_cpu(self);
    struct disparities_job job = {disparity, cells};

    const int result = PLX_CPU_CHECK_IMAGES(cpu, {disparity, PLX_U16});
    if (result < 0)
        return result;
    if (!plx_corner_cells_ok(disparity->width, disparity->height, cells))
        return PLX_ERR_ARG;
    plx_pool_run_rows(cpu->pool, cells->height, enter_disparities, &job);
    for (uint32_t i = 0; i < flow->count && i < PLX_MAX_CORNERS; i++)
        found[i].disparity = plx_disparity_between(disparity, found[i].at[0], found[i].at[1]);
    return 0;
}
