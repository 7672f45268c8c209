/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pipeline/step.h"

#include "core/base/clock.h"
#include "core/base/heartbeat.h"

int plx_step_run(const struct plx_step *step, void *context)
{
    if (step->stage != PLX_NO_STAGE)
        plx_heartbeat_busy((int)step->stage);
    return step->run(step, context);
}

int plx_steps_run(const struct plx_step *step, int steps, void *context, uint32_t *ret_stage_us)
{
    int64_t start_ns = plx_now_ns();
    int result = 0;

    for (int i = 0; i < steps && result == 0; i++) {
        result = plx_step_run(&step[i], context);
        const int64_t end_ns = plx_now_ns();
        if (step[i].stage != PLX_NO_STAGE)
            ret_stage_us[step[i].stage] += (uint32_t)((end_ns - start_ns) / PLX_NS_PER_US);
        start_ns = end_ns;
    }
    return result;
}

int plx_run_frame_in_order(struct plx_stages *stages, const struct plx_frame_run *run)
{
    (void)stages;
    return plx_steps_run(run->step, run->backend_steps + run->beside_steps, run->context, run->ret_stage_us);
}
