/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/runtime/schedule.h"

static const char *const names[PLX_GPU_SCHEDULES] = {
    [PLX_LINES_REGISTERS] = "lines-registers",
    [PLX_LINES_PREFETCH] = "lines-prefetch",
    [PLX_SWEEPS] = "sweeps",
};

/*
 * A GPU within the processor shares the processor's slow memory and has little cache: sweeps, which move the least. On others,
 * where more warps of lines wait than fit, there is always another warp to go on with: as many as fit, with the fewest
 * instructions. Else the longest lines set the time: few warps that prefetch. The factor is measured: docs/performance.md.
 */
static enum plx_sgm_schedule default_schedule(const struct plx_gpu *gpu, int width, int height, const struct plx_match *match)
{
    if (gpu->integrated && plx_sgm_can_sweep(match))
        return PLX_SWEEPS;
    return plx_lines_load(width, height, match).warps > 1.25 * gpu->lines_resident ? PLX_LINES_REGISTERS : PLX_LINES_PREFETCH;
}

enum plx_sgm_schedule plx_gpu_sgm_schedule(const struct plx_gpu *gpu, int width, int height, const struct plx_match *match)
{
    if (gpu->schedule < 0 || (gpu->schedule == PLX_SWEEPS && !plx_sgm_can_sweep(match)))
        return default_schedule(gpu, width, height, match);
    return (enum plx_sgm_schedule)gpu->schedule;
}

const char *plx_gpu_schedule_name(int schedule)
{
    return schedule >= 0 && schedule < PLX_GPU_SCHEDULES ? names[schedule] : NULL;
}

int plx_gpu_set_schedule(struct plx_stages *stages, int schedule)
{
    if (schedule >= PLX_GPU_SCHEDULES)
        return PLX_ERR_ARG;
    plx_gpu(stages)->schedule = schedule;
    plx_gpu_frames_forget(plx_gpu(stages)); /* recordings hold the one before */
    return 0;
}

void plx_gpu_plan(const struct plx_stages *stages, int width, int height, const struct plx_match *match,
                  struct plx_gpu_plan *ret_plan)
{
    const struct plx_gpu *gpu = (const struct plx_gpu *)stages;
    const struct plx_lines_load load = plx_lines_load(width, height, match);
    *ret_plan = (struct plx_gpu_plan){.schedule = (int)plx_gpu_sgm_schedule(gpu, width, height, match),
                                      .warps = load.warps,
                                      .resident = gpu->lines_resident,
                                      .waste = load.waste};
}
