/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/offline/tune_frames.h"

#include <stdlib.h>

#include <parallax/error.h>

#include "core/base/clock.h"

#define WARM_TURNS 2

/* The backend records a frame's calls, schedule included, once for each frame buffer: so each schedule has a buffer of its
 * own. */
struct samples {
    struct plx_frame *frame; /* NULL: the schedule does not run */
    double frame_ms[PLX_TUNE_FRAMES], sgm_ms[PLX_TUNE_FRAMES];
};

/* --- the worker of the corrections: begins nothing ---------------------------------------------------------------------- */

static bool want_nothing(void *context, struct plx_correction_order *order)
{
    (void)context;
    (void)order;
    return false;
}

static bool refuse_job(void *context, const struct plx_drift_job *job)
{
    (void)context;
    (void)job;
    return false;
}

static const struct plx_drift_result *take_nothing(void *context)
{
    (void)context;
    return NULL;
}

/* --- times --------------------------------------------------------------------------------------------------------------- */

static int fail(const struct plx_stages *stages, int result, const char *schedule, struct plx_error_message *message)
{
    return plx_fail(message, result, "cannot measure %s: %s", schedule,
                    stages->message.text[0] != '\0' ? stages->message.text : plx_strerror(result));
}

/* Gives a buffer to each schedule that the backend takes if it is asked to. */
static int allocate(struct fixture *fixture, const struct fixture_kind *kind, struct samples *samples,
                    struct plx_error_message *message)
{
    struct plx_stages *stages = fixture->stages;
    struct plx_gpu_plan plan;
    void *frame;

    for (int schedule = 0; schedule < PLX_GPU_SCHEDULES; schedule++) {
        plx_gpu_set_schedule(stages, schedule);
        plx_gpu_plan(stages, kind->width, kind->height, &kind->params.match, &plan);
        if (plan.schedule != schedule)
            continue;
        const int result = stages->ops->alloc(stages, fixture->bytes, &frame);
        if (result < 0)
            return fail(stages, result, plx_gpu_schedule_name(schedule), message);
        samples[schedule].frame = frame;
    }
    return 0;
}

/* Processes each pair once, from frame NUMBER on; the times go to place AT and those behind it unless AT is negative. */
static int run_turn(struct fixture *fixture, int schedule, int number, int at, struct samples *samples)
{
    fixture->frame = samples->frame;
    plx_gpu_set_schedule(fixture->stages, schedule);
    for (int i = 0; i < FIXTURE_PAIRS; i++) {
        const int64_t start_ns = plx_now_ns();
        const int result = fixture_run(fixture, number + i);
        if (result < 0)
            return result;
        if (at < 0)
            continue;
        samples->frame_ms[at + i] = (double)(plx_now_ns() - start_ns) / PLX_NS_PER_MS;
        samples->sgm_ms[at + i] = fixture->stage_us[PLX_STAGE_SGM] / 1000.0;
    }
    return 0;
}

static int run_turns(struct fixture *fixture, struct samples *samples, struct plx_error_message *message)
{
    int number = 0;

    for (int turn = -WARM_TURNS; turn < PLX_TUNE_TURNS; turn++) {
        for (int schedule = 0; schedule < PLX_GPU_SCHEDULES; schedule++) {
            if (!samples[schedule].frame)
                continue;
            const int result = run_turn(fixture, schedule, number, turn * FIXTURE_PAIRS, &samples[schedule]);
            if (result < 0)
                return fail(fixture->stages, result, plx_gpu_schedule_name(schedule), message);
            number += FIXTURE_PAIRS;
        }
    }
    return 0;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value)
{
    qsort(value, PLX_TUNE_FRAMES, sizeof *value, ascending);
    return value[PLX_TUNE_FRAMES / 2];
}

int plx_tune_frames(struct fixture *fixture, const struct fixture_kind *kind, struct plx_tune_time ret_time[PLX_GPU_SCHEDULES],
                    struct plx_error_message *message)
{
    const struct plx_correction_worker worker = {NULL, want_nothing, refuse_job, take_nothing};
    struct plx_stages *stages = fixture->stages;
    struct plx_frame *own = fixture->frame;
    struct samples samples[PLX_GPU_SCHEDULES] = {{.frame = NULL}};

    int result = plx_pipeline_use_worker(fixture->pipeline, &worker);
    if (result < 0)
        return fail(stages, result, "a frame", message);
    result = allocate(fixture, kind, samples, message);
    if (result == 0)
        result = run_turns(fixture, samples, message);
    fixture->frame = own;
    plx_gpu_set_schedule(stages, -1);
    for (int schedule = 0; schedule < PLX_GPU_SCHEDULES; schedule++) {
        struct samples *taken = &samples[schedule];
        if (result == 0 && taken->frame)
            ret_time[schedule] = (struct plx_tune_time){true, median(taken->frame_ms), median(taken->sgm_ms)};
        else if (result == 0)
            ret_time[schedule] = (struct plx_tune_time){.runs = false};
        stages->ops->free(stages, taken->frame);
    }
    return result;
}

int plx_tune_fastest(const struct plx_tune_time time[PLX_GPU_SCHEDULES])
{
    int fastest = -1;

    for (int schedule = 0; schedule < PLX_GPU_SCHEDULES; schedule++)
        if (time[schedule].runs && (fastest < 0 || time[schedule].frame_ms < time[fastest].frame_ms))
            fastest = schedule;
    return fastest;
}
