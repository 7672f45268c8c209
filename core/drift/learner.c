/* SPDX-License-Identifier: Apache-2.0 */
#include "core/drift/learner.h"

#include <stdlib.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "core/drift/matches.h"
#include "core/drift/offset.h"

#define EACH 32                          /* matches, or frames, between two jobs */
#define LAG 2                            /* frames from a job's begin until its result is taken */
#define REFRESH_NS (350 * PLX_NS_PER_MS) /* between looks once the memory is full: it spans two minutes */
#define EACH_STEPS 8                     /* between two estimates of the error of disparities, which take some 5 ms, */
#define EACH_NS (500 * PLX_NS_PER_MS)    /* and of time */

struct plx_learner {
    enum plx_correction_mode mode;
    bool single; /* pictures that are no sequence */
    struct plx_correction_worker worker;
    bool has_worker;
    struct plx_stereo_calibration calibration;
    struct plx_calibration_info info;
    double side; /* x^2 at the farther side of the right image */

    struct plx_row_drift drift;
    struct plx_disparity_estimate estimate; /* error of the calibration as in its file */
    struct plx_disparity_error used;        /* what holds of it; motion uses it whatever is in force */
    struct plx_correction_info state;
    struct plx_drift_memory memory;
    uint32_t place;
    int64_t due_ns, capture_ns; /* when places are due again; of the newest frame with places */
    int64_t steps_ns;           /* when the error of disparities may be estimated again */
    int steps_added;            /* steps->added at the last estimate of that error */
    int frames, job_frames, since;
    bool gave_up;

    bool is_asked; /* a job has begun, whose result is not taken yet */
    struct plx_drift_job job;
    struct plx_drift_result result; /* without a worker */
    struct plx_remap map;
};

int plx_learner_create(enum plx_correction_mode mode, const struct plx_stereo_calibration *calibration,
                       struct plx_learner **ret_learner)
{
    struct plx_learner *learner = calloc(1, sizeof *learner);
    if (!learner)
        return PLX_ERR_NOMEM;

    learner->mode = mode;
    learner->calibration = *calibration;
    plx_calibration_info(calibration, &learner->info);
    plx_row_drift_init(&learner->drift, learner->info.fy);
    learner->side = plx_side_square(&learner->info, calibration->rectified_width);
    learner->map = (struct plx_remap){.width = calibration->rectified_width, .height = calibration->rectified_height};
    learner->map.entry = malloc((size_t)learner->map.width * (size_t)learner->map.height * sizeof *learner->map.entry);
    if (!learner->map.entry) {
        free(learner);
        return PLX_ERR_NOMEM;
    }
    *ret_learner = learner;
    return 0;
}

void plx_learner_destroy(struct plx_learner *learner)
{
    if (!learner)
        return;
    free(learner->map.entry);
    free(learner);
}

static const struct plx_remap *fill_map(struct plx_learner *learner, const struct plx_correction *correction)
{
    plx_remap_fill(&learner->calibration, PLX_RIGHT, correction, &learner->map);
    return &learner->map;
}

const struct plx_remap *plx_learner_use_worker(struct plx_learner *learner, const struct plx_correction_worker *worker)
{
    struct plx_correction_order order = {.number = learner->state.number, .correction = learner->state.applied};

    learner->worker = *worker;
    learner->has_worker = true;
    learner->is_asked = false;
    if (learner->mode == PLX_CORRECTION_OFF)
        return NULL;
    const bool changed = worker->wanted(worker->context, &order);
    learner->gave_up = order.off;
    if (!changed)
        return NULL;
    learner->state.number = order.number;
    learner->state.applied = order.correction;
    return fill_map(learner, &order.correction);
}

int plx_learner_places(struct plx_learner *learner, int64_t capture_ns, uint32_t *ret_place)
{
    const bool full = learner->drift.count == PLX_ROW_MATCHES;

    if (!learner->single && full && capture_ns >= learner->due_ns - REFRESH_NS && capture_ns < learner->due_ns)
        return 0;
    const int few = learner->drift.count < PLX_FEW_MATCHES ? PLX_PLACES_FIRST : PLX_PLACES_LATER;
    const int places = learner->single ? PLX_PLACES_SINGLE : few;
    learner->due_ns = capture_ns + REFRESH_NS;
    learner->capture_ns = capture_ns;
    *ret_place = learner->place;
    learner->place += (uint32_t)places;
    return places;
}

/* Whether the error of disparities is due for an estimate. */
static bool has_steps(const struct plx_learner *learner, const struct plx_motion_steps *steps)
{
    return steps && steps->count >= PLX_STEPS_MIN && steps->added - learner->steps_added >= EACH_STEPS &&
           learner->capture_ns >= learner->steps_ns;
}

/* The next job; STEPS NULL: it does not estimate the error of disparities. In parts, so that steps are not copied where there
 * are none. */
static void fill_job(struct plx_learner *learner, const struct plx_motion_steps *steps)
{
    struct plx_drift_job *job = &learner->job;

    job->mode = learner->mode;
    job->calibration = learner->info;
    job->width = learner->calibration.rectified_width;
    job->height = learner->calibration.rectified_height;
    job->drift = learner->drift;
    job->used = learner->used;
    job->state = learner->state;
    job->memory = learner->memory;
    job->order = (struct plx_correction_order){learner->state.number, learner->state.applied, false, learner->gave_up};
    job->is_ordered = false;
    job->gave_up = learner->gave_up;
    job->since = learner->since;
    job->has_steps = steps != NULL;
    if (steps)
        job->steps = *steps;
}

void plx_learner_add(struct plx_learner *learner, const struct plx_row_match *match, int count,
                     const struct plx_motion_steps *steps)
{
    const bool is_due = has_steps(learner, steps);

    for (int i = 0; i < count; i++) {
        struct plx_row_match dated = match[i];
        dated.capture_ns = learner->capture_ns;
        plx_row_drift_add(&learner->drift, &dated);
    }
    learner->since += count;
    learner->frames++;
    if (learner->is_asked || (learner->drift.unsolved < EACH && learner->frames < EACH && !is_due))
        return;
    fill_job(learner, is_due ? steps : NULL);
    if (learner->has_worker && !learner->worker.ask(learner->worker.context, &learner->job))
        return;
    learner->is_asked = true;
    learner->frames = learner->job_frames = learner->drift.unsolved = 0;
    if (is_due) {
        learner->steps_added = steps->added;
        learner->steps_ns = learner->capture_ns + EACH_NS;
    }
}

const struct plx_drift_info *plx_learner_drift(const struct plx_learner *learner)
{
    return &learner->drift.info;
}

void plx_learner_disparity_errors(const struct plx_learner *learner, struct plx_disparity_error *ret_used,
                                  struct plx_disparity_error *ret_estimated)
{
    *ret_used = learner->used;
    *ret_estimated = learner->estimate.steps > 0 ? learner->estimate.error : learner->used;
}

const struct plx_correction_info *plx_learner_correction(const struct plx_learner *learner)
{
    return &learner->state;
}

bool plx_learner_gave_up(const struct plx_learner *learner)
{
    return learner->gave_up;
}

/* Runs the job in the calling thread. */
static const struct plx_drift_result *run_job(struct plx_learner *learner)
{
    struct plx_drift_result *result = &learner->result;

    plx_drift_job_run(&learner->job, result);
    plx_drift_result_settle_all(result);
    if (result->changed)
        result->map = fill_map(learner, &result->state.applied);
    return result;
}

/* Makes the frames' state that of RESULT. */
static void adopt(struct plx_learner *learner, const struct plx_drift_result *result)
{
    const bool rows = !plx_correction_same_rows(&result->state.applied, &learner->state.applied);

    learner->drift.info = result->drift.info;
    if (result->since == 0)
        learner->since = 0;
    if (result->forget)
        plx_row_drift_forget(&learner->drift, PLX_ROWS_NEWEST_COUNT);
    if (result->changed) {
        const struct plx_correction change = plx_correction_add(&result->state.applied, &learner->state.applied, -1);
        plx_row_drift_correct(&learner->drift, &change);
    }
    learner->state = result->state;
    learner->memory = result->memory;
    learner->gave_up = result->gave_up;
    if (result->has_disparities) {
        learner->estimate = result->memory.disparities.part[PLX_STEPS_ALL];
        learner->used = result->used;
    }
    if (rows) { /* wrong rows had bent the estimate: until there is another, nothing is known */
        learner->estimate = (struct plx_disparity_estimate){.steps = 0};
        learner->memory.disparities = (struct plx_disparity_drift){.is_full = false};
    }
    plx_drift_info_set_disparities(&learner->drift.info, &learner->estimate, &learner->state.applied, learner->side);
}

bool plx_learner_take(struct plx_learner *learner, const struct plx_remap **ret_map)
{
    if (!learner->is_asked || ++learner->job_frames < LAG)
        return false;
    const struct plx_drift_result *result =
        learner->has_worker ? learner->worker.take(learner->worker.context) : run_job(learner);
    if (!result)
        return false;
    learner->is_asked = false;
    adopt(learner, result);
    *ret_map = result->map;
    return result->changed;
}

void plx_learner_save(struct plx_learner *learner, struct plx_learned *ret_learned)
{
    const struct plx_remap *map;

    learner->job_frames = LAG;
    plx_learner_take(learner, &map);
    *ret_learned = (struct plx_learned){learner->drift, learner->state, learner->place, learner->since};
}

const struct plx_remap *plx_learner_continue(struct plx_learner *learner, const struct plx_learned *learned)
{
    learner->single = learner->drift.single = true;
    if (!learned)
        return NULL;
    learner->drift = learned->drift;
    learner->drift.single = true;
    learner->state = learned->state;
    learner->place = learned->place;
    learner->since = learned->since;
    return learner->state.number == 0 ? NULL : fill_map(learner, &learner->state.applied);
}
