/* SPDX-License-Identifier: Apache-2.0 */
/* Where free ground ends. The arithmetic is core/ground/free_ground.h. */
#include "core/ground/free_ground.h"

#include <stdlib.h>

#include <parallax/error.h>

#include "cpu/internal.h"

#define TOGETHER 16 /* columns of a task: the cells that they look at share cache lines */

struct job {
    const struct plx_image *disparity;
    const struct plx_ground *ground;
    const struct plx_columns_params *params;
    struct plx_ground_view view;
    struct plx_bend rise, drop;
    bool can_rise;
    int columns;
    struct plx_scan *scan;
    struct plx_column_ends ends;
};

/* Takes a search to the next cell. False when the search has ended. The noise is a division, and most points are nearer to the
 * ramp than the least step. */
static bool search_cell(const struct job *job, struct plx_bend_search *search, const struct plx_bend *bend,
                        const struct plx_ground_point *point)
{
    int least = bend->min_mm;
    if (point->disparity > 0 && search->base > 0 && abs(plx_bend_step(search, bend, point)) >= least)
        least = plx_bend_least(bend, &job->view, point->disparity);
    plx_bend_add(search, bend, point, least);
    return plx_bend_goes_on(search, bend);
}

static void find_ends(const struct job *job, int x)
{
    const struct plx_image *disparity = job->disparity;
    const struct plx_scan *scan = &job->scan[x];
    const struct plx_bend rise = job->rise, drop = job->drop;
    const int at = plx_ground_point_x(disparity->width, x), edge = plx_scan_drop(scan);
    struct plx_bend_search rise_search = {0}, drop_search = {0};
    bool rises = job->can_rise, drops = edge > 0;

    for (int y = disparity->height / PLX_CELL_HEIGHT - 1; y >= 0 && (rises || drops); y--) {
        const uint16_t value = ((const uint16_t *)plx_row(disparity, PLX_CELL_HEIGHT * y))[at];
        const struct plx_ground_point point = plx_ground_point_make(job->params, job->ground, &job->view, value, x, y);
        if (rises)
            rises = search_cell(job, &rise_search, &rise, &point);
        if (drops)
            drops = search_cell(job, &drop_search, &drop, &point);
    }
    job->ends.free[x] = scan->free;
    job->ends.rise[x] = (uint16_t)plx_bend_found(&rise_search, &rise);
    job->ends.drop[x] = plx_bend_found(&drop_search, &drop) > 0 ? (uint16_t)edge : (uint16_t)0;
}

static void find_ends_of_group(void *argument, int group)
{
    const struct job *job = argument;
    for (int x = TOGETHER * group; x < TOGETHER * (group + 1) && x < job->columns; x++)
        find_ends(job, x);
}

int plx_cpu_free_ground(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                        const struct plx_columns_params *params, const struct plx_calibration_info *calibration,
                        const struct plx_image *scan)
{
    const struct plx_cpu *cpu = plx_cpu(self);

    if (!plx_free_ground_ok(disparity, params, scan))
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, disparity))
        return PLX_ERR_RANGE;
    const int columns = scan->width;
    struct job job = {.disparity = disparity,
                      .ground = ground,
                      .params = params,
                      .view = plx_ground_view_make(ground, calibration, plx_ground_view_depth(calibration)),
                      .rise = plx_bend_of_rise(params),
                      .drop = plx_bend_of_drop(params),
                      .can_rise = plx_ground_can_rise(ground),
                      .columns = columns,
                      .scan = scan->data,
                      .ends = {cpu->column_ends, cpu->column_ends + columns, cpu->column_ends + 2 * columns}};
    plx_pool_run(cpu->pool, (columns + TOGETHER - 1) / TOGETHER, find_ends_of_group, &job);
    for (int x = 0; x < columns; x++)
        plx_free_ground_join(&job.ends, columns, x, &job.scan[x]);
    return 0;
}
