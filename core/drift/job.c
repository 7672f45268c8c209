/* SPDX-License-Identifier: Apache-2.0 */
#include "core/drift/job.h"

#include <math.h>

#include "core/drift/offset.h"

#define MIN_MATCHES 64
#define BUMP_PX 0.15     /* larger epipolar error than before */
#define TAKEN_BACK 0.5   /* so much of a correction, by the next one, takes it back */
#define MAX_TAKEN_BACK 2 /* then the learner gives up */
#define MAX_ROWS_PX 2.0  /* wrong by more, rows bend disparities */

/* The newest matches say something else than the estimate, which most others made. */
static bool camera_was_bumped(const struct plx_row_drift *drift)
{
    const struct plx_row_numbers number = plx_row_numbers_of_drift(&drift->info);
    int count;

    if (drift->count < 4 * PLX_ROWS_NEWEST_COUNT || drift->info.matches == 0)
        return false;
    return plx_row_drift_median(drift, PLX_ROWS_NEWEST, -1, &number, &count) > (double)drift->info.residual_px + BUMP_PX;
}

void plx_drift_info_set_disparities(struct plx_drift_info *info, const struct plx_disparity_estimate *estimate,
                                    const struct plx_correction *applied, double side)
{
    info->disparity_offset_px = info->curve_px = info->side_px = info->disparity_offset_deviation_px =
        info->curve_deviation_px = info->side_deviation_px = 0;
    if (estimate->steps == 0)
        return;
    info->disparity_offset_px = (float)estimate->error.offset - applied->disparity_offset_px;
    info->curve_px = (float)estimate->error.curve - applied->curve_px;
    info->side_px = info->disparity_offset_px + (float)side * info->curve_px;
    info->disparity_offset_deviation_px = (float)sqrt(estimate->covariance[0][0]);
    info->curve_deviation_px = (float)sqrt(estimate->covariance[1][1]);
    info->side_deviation_px = (float)sqrt(plx_disparity_variance_at(estimate, side));
}

/* True if AFTER differs from what was proposed last. */
static bool is_news(const struct plx_correction_info *state, const struct plx_correction *after)
{
    const struct plx_correction change = plx_correction_add(after, &state->proposed, -1);
    const double rows = fabs((double)change.pitch_rad) + fabs((double)change.roll_rad) + fabs((double)change.bend_rad) / 2 +
                        fabs((double)change.scale);
    return state->proposed_number == 0 || rows > 2e-4 || fabs((double)change.disparity_offset_px) > 0.1 ||
           fabs((double)change.curve_px) > 0.3;
}

static void decide(struct plx_drift_result *result, enum plx_drift_decision decision, const struct plx_correction *after)
{
    result->is_decided[decision] = true;
    result->after[decision] = *after;
}

/* Corrects the rows by CHANGE. One that is taken back, twice, was no drift. */
static void correct_rows(struct plx_drift_result *result, const struct plx_correction *change,
                         const struct plx_correction *after)
{
    struct plx_drift_memory *memory = &result->memory;
    const struct plx_row_numbers now = plx_row_numbers_of_correction(change),
                                 before = plx_row_numbers_of_correction(&memory->change);
    double along = 0, square = 0;

    for (int i = 0; i < PLX_ROW_NUMBERS; i++) {
        along += now.at[i] * before.at[i];
        square += before.at[i] * before.at[i];
    }
    memory->taken_back += square > 0 && along <= -TAKEN_BACK * square;
    result->gave_up = memory->taken_back >= MAX_TAKEN_BACK;
    memory->change = *change;
    memory->refines = true; /* wrong rows had bent the disparities */
    result->since = 0;
    decide(result, PLX_DECIDES_ROWS, after);
}

/* What new steps say of the disparities: what motion uses from now on, and whether the correction in force is to be changed,
 * by *ret_change. */
static bool judge_disparities(struct plx_drift_result *result, struct plx_correction *ret_change)
{
    const struct plx_disparity_drift *disparities = &result->memory.disparities;
    const struct plx_disparity_error in_force = plx_correction_disparity_error(&result->state.applied);
    struct plx_disparity_error change;

    if (!result->has_disparities)
        return false;
    if (plx_correction_of_disparities(disparities, &result->used, true, result->side, &change) == PLX_CORRECTION_HOLDS)
        result->used = disparities->part[PLX_STEPS_ALL].error;
    if (plx_correction_of_disparities(disparities, &in_force, result->memory.refines, result->side, &change) !=
        PLX_CORRECTION_HOLDS)
        return false;
    ret_change->disparity_offset_px = (float)change.offset;
    ret_change->curve_px = (float)change.curve;
    return true;
}

/* Decides what to apply or to propose by the estimates. */
static void judge(const struct plx_drift_job *job, struct plx_drift_result *result)
{
    const enum plx_correction_mode mode = job->order.hold || result->gave_up ? PLX_CORRECTION_PROPOSE : job->mode;
    const struct plx_correction *applied = &result->state.applied;
    static const struct plx_correction none;
    const bool first = plx_correction_same_rows(applied, &none) && result->state.proposed_number == 0;
    const bool fresh = first || result->since >= PLX_ROW_MATCHES / 2; /* the matches; disparities count steps */
    struct plx_correction rows = {0}, disparities = {0};

    const enum plx_correction_verdict of_rows =
        plx_correction_of_rows(&result->drift, applied, &job->calibration, job->width, job->height, &rows);
    const bool corrects_rows = fresh && of_rows == PLX_CORRECTION_HOLDS;
    if (!corrects_rows)
        rows = (struct plx_correction){0};
    /* Rows that are far off bend disparities: as long as nobody knows them, disparities wait. */
    const bool straight = of_rows != PLX_CORRECTION_UNKNOWN && (double)result->drift.info.max_epipolar_error_px < MAX_ROWS_PX;
    const bool corrects_disparities = straight && judge_disparities(result, &disparities);
    const struct plx_correction with_rows = plx_correction_add(applied, &rows, 1);
    if (corrects_rows && mode >= PLX_CORRECTION_ROWS)
        correct_rows(result, &rows, &with_rows);
    const struct plx_correction with_both = plx_correction_add(&with_rows, &disparities, 1);
    if (corrects_disparities && mode == PLX_CORRECTION_ALL) {
        decide(result, PLX_DECIDES_DISPARITIES, &with_both);
        result->memory.refines = !result->memory.disparities.is_full;
    }
    if ((corrects_rows && mode < PLX_CORRECTION_ROWS) || (corrects_disparities && mode < PLX_CORRECTION_ALL))
        decide(result, PLX_DECIDES_PROPOSAL, &with_both);
    result->decides_rows = corrects_rows;
}

/* Takes over what is wanted. */
static void obey(const struct plx_drift_job *job, struct plx_drift_result *result)
{
    const struct plx_correction_order *order = &job->order;

    if (job->is_ordered || (job->gave_up && !order->off)) { /* by a person: what the learner did before counts no more */
        result->memory.change = (struct plx_correction){0};
        result->memory.taken_back = 0;
    }
    result->gave_up = order->off;
    result->changed = job->is_ordered;
    if (!job->is_ordered)
        return;
    result->state = (struct plx_correction_info){.number = order->number, .applied = order->correction};
    result->since = 0;
}

void plx_drift_job_run(const struct plx_drift_job *job, struct plx_drift_result *ret_result)
{
    *ret_result = (struct plx_drift_result){.has_disparities = job->has_steps,
                                            .used = job->used,
                                            .state = job->state,
                                            .memory = job->memory,
                                            .since = job->since,
                                            .side = plx_side_square(&job->calibration, job->width)};
    ret_result->drift = job->drift;
    if (job->has_steps)
        plx_disparity_drift_measure(&job->steps, &ret_result->memory.disparities);
    obey(job, ret_result);
    if (ret_result->changed || job->drift.count < MIN_MATCHES) /* the matches are of the correction before, or few */
        return;
    plx_row_drift_estimate(&ret_result->drift);
    ret_result->forget = camera_was_bumped(&ret_result->drift);
    if (!ret_result->forget && job->mode != PLX_CORRECTION_OFF)
        judge(job, ret_result);
}

bool plx_drift_result_next(struct plx_drift_result *result, struct plx_correction_evidence *ret_evidence)
{
    for (; result->next < PLX_DECISIONS; result->next++) {
        const struct plx_correction *after = &result->after[result->next];
        const bool proposes = result->next == PLX_DECIDES_PROPOSAL;
        if (!result->is_decided[result->next] || (proposes && !is_news(&result->state, after)))
            continue;
        *ret_evidence = (struct plx_correction_evidence){.applied = !proposes,
                                                         .gave_up = result->gave_up,
                                                         .before = result->state.applied,
                                                         .after = *after,
                                                         .drift = result->drift.info,
                                                         .match = result->drift.match,
                                                         .matches = result->drift.count,
                                                         .focal_length = result->drift.focal_length};
        plx_drift_info_set_disparities(&ret_evidence->drift, &result->memory.disparities.part[PLX_STEPS_ALL],
                                       &ret_evidence->before, result->side);
        return true;
    }
    return false;
}

void plx_drift_result_settle(struct plx_drift_result *result, bool is_applied, uint32_t number)
{
    struct plx_correction_info *state = &result->state;
    const struct plx_correction *after = &result->after[result->next];

    if (result->next == PLX_DECIDES_PROPOSAL && result->decides_rows)
        result->since = 0;
    if (is_applied) {
        state->number = number;
        state->applied = *after;
        result->changed = true;
    } else {
        state->proposed_number = number;
        state->proposed = *after;
    }
    result->next++;
}

void plx_drift_result_settle_all(struct plx_drift_result *result)
{
    const struct plx_correction_info *state = &result->state;
    struct plx_correction_evidence evidence;

    while (plx_drift_result_next(result, &evidence)) {
        const uint32_t last = state->number > state->proposed_number ? state->number : state->proposed_number;
        plx_drift_result_settle(result, evidence.applied, last + 1);
    }
}
