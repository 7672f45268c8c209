/* SPDX-License-Identifier: Apache-2.0 */
/* What a run learns of each calibration, from one unrelated pair to the next. */
#include <stdlib.h>

#include <parallax/error.h>

#include "app/cli/offline/run.h"

/* A sequence keeps its pipeline; without a calibration nobody knows whether two pairs are of one camera. */
static bool is_shared(const struct plx_run *run)
{
    return run->calibrated && !run->pairs.sequence;
}

static struct plx_run_learned *find(const struct plx_run *run)
{
    const struct plx_stereo_calibration *calibration = plx_local_pipeline_calibration(run->pipeline);

    for (int i = 0; i < run->learned_count; i++)
        if (plx_calibration_equals(&run->learned[i].calibration, calibration) &&
            run->learned[i].calibration.corrected == calibration->corrected)
            return &run->learned[i];
    return NULL;
}

int plx_run_keep_learned(struct plx_run *run)
{
    if (!is_shared(run))
        return 0;
    struct plx_run_learned *known = find(run);
    if (!known) {
        struct plx_run_learned *grown = realloc(run->learned, ((size_t)run->learned_count + 1) * sizeof *grown);
        if (!grown)
            return PLX_ERR_NOMEM;
        run->learned = grown;
        known = &grown[run->learned_count++];
        known->calibration = *plx_local_pipeline_calibration(run->pipeline);
    }
    plx_local_pipeline_save(run->pipeline, &known->state);
    return 0;
}

int plx_run_continue_learned(struct plx_run *run)
{
    if (!is_shared(run))
        return 0;
    const struct plx_run_learned *known = find(run);
    const struct plx_pipeline_state nothing = {.single = true};
    return plx_local_pipeline_restore(run->pipeline, known ? &known->state : &nothing);
}
