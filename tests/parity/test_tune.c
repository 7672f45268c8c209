/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `parallax tune` on this GPU: whole frames have a time with each schedule that runs, which is printed, and the backend chooses
 * by itself again afterwards. `test_gpu_tune [WIDTH HEIGHT DISPARITIES]`, 320 240 64 by default.
 */
#include <stdio.h>
#include <stdlib.h>

#include "app/cli/offline/tune_frames.h"
#include "gpu/internal.h"
#include "tests/parity/parity.h"

static const struct row {
    const char *name;
    int paths;
    enum plx_motion_source motion;
    bool sweeps; /* run */
} table[] = {
    {"8 paths, ego-motion", 8, PLX_MOTION_VISUAL, true},
    {"8 paths", 8, PLX_MOTION_NONE, true},
    {"4 paths", 4, PLX_MOTION_NONE, false},
};

static int size[] = {320, 240, 64}; /* width, height, disparities */

/* Frames end behind stage sgm, so they take longer. */
static int check_times(const struct row *row, const struct plx_tune_time *time)
{
    int failed = 0;
    for (int schedule = 0; schedule < PLX_GPU_SCHEDULES; schedule++) {
        const bool expected = schedule != PLX_SWEEPS || row->sweeps;
        const struct plx_tune_time *got = &time[schedule];
        printf("%d x %d, D %d, %s, %s: ", size[0], size[1], size[2], row->name, plx_gpu_schedule_name(schedule));
        if (got->runs)
            printf("frame %.3f ms, sgm %.3f ms", got->frame_ms, got->sgm_ms);
        else
            printf("does not run");
        const bool right = got->runs == expected && (!expected || (got->sgm_ms > 0 && got->frame_ms > got->sgm_ms));
        printf("%s\n", right ? "" : "; wrong");
        failed |= !right;
    }
    return failed;
}

static int check(int index)
{
    const struct row *row = &table[index];
    struct fixture_kind kind = {size[0], size[1], PLX_FORMAT_GREY, true, {.refine = false}, NULL};
    struct plx_tune_time time[PLX_GPU_SCHEDULES];
    struct plx_error_message message = {""};
    struct plx_stages *stages;
    struct fixture fixture;

    plx_pipeline_params_default(&kind.params);
    kind.params.match.disparities = size[2];
    kind.params.match.paths = row->paths;
    kind.params.motion = row->motion;
    const struct plx_limits limits = fixture_limits(&kind);
    parity_must(plx_gpu_create(&limits, &stages, &message), &message);
    parity_must(fixture_open(stages, &kind, &fixture, &message), &message);
    const struct plx_frame *frame = fixture.frame;
    parity_must(plx_tune_frames(&fixture, &kind, time, &message), &message);
    int failed = check_times(row, time);
    if (plx_gpu(stages)->schedule >= 0 || fixture.frame != frame) {
        printf("%s: a schedule or a frame is left behind\n", row->name);
        failed = 1;
    }
    fixture_close(&fixture);
    return failed;
}

int main(int argc, char **argv)
{
    const struct plx_limits limits = {.width = 64, .height = 64, .disparities = 64};
    struct plx_error_message message = {""};
    struct plx_stages *stages;

    for (int i = 1; i < argc && i <= PARITY_COUNT(size); i++)
        size[i - 1] = atoi(argv[i]);
    if (plx_gpu_create(&limits, &stages, &message) < 0) {
        printf("skipped: %s\n", message.text);
        return 77;
    }
    stages->ops->destroy(stages);
    return parity_rows(PARITY_COUNT(table), check);
}
