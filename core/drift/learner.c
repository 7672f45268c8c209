/* SPDX-License-Identifier: Apache-2.0 */
#include "core/drift/learner.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "core/drift/matches.h"
#include "core/drift/offset.h"

#define EACH 32 /* matches, or frames, between two jobs */
#define MIN_MATCHES 64
#define LAG 2                            /* frames from a job's begin until its result is taken */
#define REFRESH_NS (350 * PLX_NS_PER_MS) /* between looks once the memory is full: it spans two minutes */
#define KNOCK_PX 0.15                    /* more rows than before */
#define TAKEN_BACK 0.5                   /* so much of a correction, by the next one, takes it back */
#define MAX_TAKEN_BACK 2                 /* then the learner gives up */
#define EACH_STEPS 8                     /* between two estimates of the columns, which take some 5 ms, */
#define EACH_NS (500 * PLX_NS_PER_MS)    /* and of time */
#define MAX_ROWS_PX 2.0                  /* wrong by more, rows bend disparities */

enum phase { IDLE, ASKED, DONE };

/* What the thread gets, and what it makes of it. */
struct job {
    struct plx_row_drift drift;
    bool has_steps; /* else the columns are not estimated anew */
    struct plx_motion_steps steps;
    struct plx_column_drift columns;
    struct plx_disparity_error used;
    struct plx_correction_info state; /* of the thread: ahead of the frames by what they have not taken yet */
    bool forget;                      /* the cameras were knocked: only the newest matches count */
    bool changed;                     /* another correction in force; the map is made */
    bool gave_up;
    int since; /* matches since the last correction or proposal */
};

struct plx_learner {
    enum plx_correction_mode mode;
    bool waits, single; /* pictures that are no sequence */
    struct plx_correction_store store;
    struct plx_stereo_calibration calibration;
    struct plx_calibration_info info;

    /* of the thread of the frames */
    struct plx_row_drift drift;
    struct plx_disparity_estimate columns; /* of the calibration as in its file */
    struct plx_disparity_error used;       /* what holds of it; motion uses it whatever is in force */
    struct plx_correction_info state;
    uint32_t place;
    int64_t look_ns, capture_ns; /* when places are due again; of the newest frame with places */
    int64_t steps_ns;            /* when columns may be estimated again */
    int steps_added;             /* of the last estimate of columns */
    int frames, job_frames, since;
    bool gave_up;

    /* of the other thread while a job is ASKED, else of the thread of the frames */
    struct job job;
    struct plx_remap map;
    bool hold;
    struct plx_correction change; /* what the last correction of the rows has changed */
    int taken_back;               /* how often a correction undid half or more of the one before */
    double side;                  /* x^2 at the farther side of the right picture */
    bool refines;                 /* the correction of the columns in force is from few steps, or from wrong rows */

    _Atomic int phase; /* enum phase. ASKED is stored with release order after the job, and DONE after its result; each side
                          loads with acquire order before it reads the other's part */
    atomic_bool ends;
    sem_t asked, done;
    pthread_t thread;
};

/* The newest matches say something else than the estimate, which most others made. */
static bool was_knocked(const struct plx_row_drift *drift)
{
    const struct plx_correction number = {
        drift->info.pitch_rad, drift->info.roll_rad, drift->info.bend_rad, drift->info.scale, 0, 0};
    int count;

    if (drift->count < 4 * PLX_ROWS_NEWEST_COUNT || drift->info.matches == 0)
        return false;
    return plx_row_drift_median(drift, PLX_ROWS_NEWEST, -1, &number, &count) > (double)drift->info.rows_left + KNOCK_PX;
}

/* What ESTIMATE says of the columns, less what APPLIED corrects, into RET. */
static void tell_columns(const struct plx_learner *learner, const struct plx_disparity_estimate *estimate,
                         const struct plx_correction *applied, struct plx_drift_info *ret)
{
    ret->offset = ret->curve = ret->side = ret->offset_deviation = ret->curve_deviation = ret->side_deviation = 0;
    if (estimate->steps == 0)
        return;
    ret->offset = (float)estimate->error.offset - applied->columns;
    ret->curve = (float)estimate->error.curve - applied->curve;
    ret->side = ret->offset + (float)learner->side * ret->curve;
    ret->offset_deviation = (float)sqrt(estimate->covariance[0][0]);
    ret->curve_deviation = (float)sqrt(estimate->covariance[1][1]);
    ret->side_deviation = (float)sqrt(plx_disparity_variance_at(estimate, learner->side));
}

static void keep(struct plx_learner *learner, const struct plx_correction *after, bool applied)
{
    struct job *job = &learner->job;
    const struct plx_correction_store *store = &learner->store;
    struct plx_drift_info drift = job->drift.info;
    tell_columns(learner, &job->columns.part[PLX_STEPS_ALL], &job->state.applied, &drift);
    struct plx_correction_evidence evidence = {.applied = applied,
                                               .gave_up = job->gave_up,
                                               .before = job->state.applied,
                                               .after = *after,
                                               .drift = drift,
                                               .match = job->drift.match,
                                               .matches = job->drift.count,
                                               .focal_length = job->drift.focal_length};
    const uint32_t last = job->state.number > job->state.proposed_number ? job->state.number : job->state.proposed_number;
    const uint32_t number = store->keep ? store->keep(store->context, &evidence) : last + 1;

    if (evidence.applied) {
        job->state.number = number;
        job->state.applied = *after;
        job->changed = true;
    } else {
        job->state.proposed_number = number;
        job->state.proposed = *after;
    }
}

/* True if AFTER differs from what was proposed last. */
static bool is_news(const struct plx_correction_info *state, const struct plx_correction *after)
{
    const struct plx_correction change = plx_correction_add(after, &state->proposed, -1);
    const double rows = fabs((double)change.pitch_rad) + fabs((double)change.roll_rad) + fabs((double)change.bend_rad) / 2 +
                        fabs((double)change.scale);
    return state->proposed_number == 0 || rows > 2e-4 || fabs((double)change.columns) > 0.1 || fabs((double)change.curve) > 0.3;
}

/* Corrects the rows by CHANGE. One that is taken back, twice, was no drift. */
static void correct_rows(struct plx_learner *learner, const struct plx_correction *change, const struct plx_correction *after)
{
    double now[PLX_CORRECTION_ROW_NUMBERS], before[PLX_CORRECTION_ROW_NUMBERS], along = 0, square = 0;

    plx_correction_row_numbers(change, now);
    plx_correction_row_numbers(&learner->change, before);
    for (int i = 0; i < PLX_CORRECTION_ROW_NUMBERS; i++) {
        along += now[i] * before[i];
        square += before[i] * before[i];
    }
    learner->taken_back += square > 0 && along <= -TAKEN_BACK * square;
    learner->job.gave_up = learner->taken_back >= MAX_TAKEN_BACK;
    learner->change = *change;
    learner->refines = true; /* wrong rows had bent the columns */
    keep(learner, after, true);
}

/* What the steps say of the columns: what motion uses from now on, and whether the correction in force is to be changed, by
 * *ret_change. */
static bool judge_columns(struct plx_learner *learner, struct plx_correction *ret_change)
{
    struct job *job = &learner->job;
    const struct plx_disparity_error in_force = plx_correction_columns(&job->state.applied);
    struct plx_disparity_error change;

    if (!job->has_steps)
        return false;
    if (plx_correction_of_columns(&job->columns, &job->used, true, learner->side, &change) == PLX_CORRECTION_HOLDS)
        job->used = job->columns.part[PLX_STEPS_ALL].error;
    if (plx_correction_of_columns(&job->columns, &in_force, learner->refines, learner->side, &change) != PLX_CORRECTION_HOLDS)
        return false;
    ret_change->columns = (float)change.offset;
    ret_change->curve = (float)change.curve;
    return true;
}

/* Applies or proposes what the estimates carry. */
static void judge(struct plx_learner *learner)
{
    struct job *job = &learner->job;
    const enum plx_correction_mode mode = learner->hold || job->gave_up ? PLX_CORRECTION_PROPOSE : learner->mode;
    const struct plx_stereo_calibration *calibration = &learner->calibration;
    static const struct plx_correction none;
    const bool first = plx_correction_same_rows(&job->state.applied, &none) && job->state.proposed_number == 0;
    const bool fresh = first || job->since >= PLX_ROW_MATCHES / 2; /* the matches; columns count steps */
    struct plx_correction rows = {0}, columns = {0};

    const enum plx_correction_verdict of_rows = plx_correction_of_rows(
        &job->drift, &job->state.applied, &learner->info, calibration->rectified_width, calibration->rectified_height, &rows);
    const bool row = fresh && of_rows == PLX_CORRECTION_HOLDS;
    if (!row)
        rows = (struct plx_correction){0};
    /* Rows that are far off bend disparities: as long as nobody knows them, columns wait. */
    const bool straight = of_rows != PLX_CORRECTION_UNKNOWN && (double)job->drift.info.worst_rows < MAX_ROWS_PX;
    const bool column = straight && judge_columns(learner, &columns);
    const struct plx_correction with_rows = plx_correction_add(&job->state.applied, &rows, 1);
    if (row && mode >= PLX_CORRECTION_ROWS)
        correct_rows(learner, &rows, &with_rows);
    const struct plx_correction with_both = plx_correction_add(&with_rows, &columns, 1);
    if (column && mode == PLX_CORRECTION_ALL) {
        keep(learner, &with_both, true);
        learner->refines = !job->columns.is_full;
    }
    const bool waits = (row && mode < PLX_CORRECTION_ROWS) || (column && mode < PLX_CORRECTION_ALL);
    const bool proposes = waits && is_news(&job->state, &with_both);
    if (proposes)
        keep(learner, &with_both, false);
    if (row && (proposes || mode >= PLX_CORRECTION_ROWS))
        job->since = 0;
}

/* Takes over what the store wants. True if that is another correction. */
static bool obey(struct plx_learner *learner)
{
    struct job *job = &learner->job;
    const struct plx_correction_store *store = &learner->store;
    struct plx_correction_order order = {.number = job->state.number, .correction = job->state.applied};

    if (!store->wanted)
        return false;
    const bool changed = store->wanted(store->context, &order);
    learner->hold = order.hold;
    if (changed || (job->gave_up && !order.off)) { /* by a person: what the learner did before counts no more */
        learner->change = (struct plx_correction){0};
        learner->taken_back = 0;
    }
    job->gave_up = order.off;
    if (!changed)
        return false;
    job->state = (struct plx_correction_info){.number = order.number, .applied = order.correction};
    job->since = 0;
    return true;
}

static void work(struct plx_learner *learner)
{
    struct job *job = &learner->job;

    job->forget = false;
    if (job->has_steps)
        plx_column_drift_measure(&job->steps, &job->columns);
    job->changed = obey(learner);
    if (!job->changed && job->drift.count >= MIN_MATCHES) { /* else the matches are of the correction before */
        plx_row_drift_estimate(&job->drift);
        job->forget = was_knocked(&job->drift);
        if (!job->forget && learner->mode != PLX_CORRECTION_OFF)
            judge(learner);
    }
    if (!job->changed)
        return;
    plx_remap_fill(&learner->calibration, PLX_RIGHT, &job->state.applied, &learner->map);
}

static void *run(void *context)
{
    struct plx_learner *learner = context;

    for (;;) {
        while (sem_wait(&learner->asked) < 0 && errno == EINTR)
            ;
        if (atomic_load_explicit(&learner->ends, memory_order_relaxed)) /* sem_post orders it */
            return NULL;
        work(learner);
        atomic_store_explicit(&learner->phase, DONE, memory_order_release);
        sem_post(&learner->done);
    }
}

/* A thread of ordinary priority, also where the caller's is higher: a map takes longer than a frame. */
static int start_thread(struct plx_learner *learner)
{
    const struct sched_param ordinary = {.sched_priority = 0};
    pthread_attr_t attr;

    if (pthread_attr_init(&attr) != 0)
        return PLX_ERR_NOMEM;
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
    pthread_attr_setschedparam(&attr, &ordinary);
    const int result = pthread_create(&learner->thread, &attr, run, learner);
    pthread_attr_destroy(&attr);
    return result == 0 ? 0 : PLX_ERR_NOMEM;
}

static void release(struct plx_learner *learner)
{
    sem_destroy(&learner->asked);
    sem_destroy(&learner->done);
    free(learner->map.entry);
    free(learner);
}

int plx_learner_create(enum plx_correction_mode mode, const struct plx_stereo_calibration *calibration,
                       struct plx_learner **ret_learner)
{
    struct plx_learner *learner = calloc(1, sizeof *learner);
    if (!learner)
        return PLX_ERR_NOMEM;

    learner->mode = mode;
    learner->waits = true;
    learner->calibration = *calibration;
    plx_calibration_info(calibration, &learner->info);
    plx_row_drift_init(&learner->drift, learner->info.fy);
    learner->side = plx_side_square(&learner->info, calibration->rectified_width);
    learner->map = (struct plx_remap){.width = calibration->rectified_width, .height = calibration->rectified_height};
    const size_t bytes = (size_t)learner->map.width * (size_t)learner->map.height * sizeof *learner->map.entry;
    learner->map.entry = malloc(bytes);
    sem_init(&learner->asked, 0, 0);
    sem_init(&learner->done, 0, 0);
    if (!learner->map.entry || start_thread(learner) < 0) {
        release(learner);
        return PLX_ERR_NOMEM;
    }
    *ret_learner = learner;
    return 0;
}

void plx_learner_destroy(struct plx_learner *learner)
{
    if (!learner)
        return;
    atomic_store_explicit(&learner->ends, true, memory_order_relaxed);
    sem_post(&learner->asked);
    pthread_join(learner->thread, NULL);
    release(learner);
}

const struct plx_remap *plx_learner_keep(struct plx_learner *learner, const struct plx_correction_store *store)
{
    struct plx_correction_order order = {.number = learner->state.number, .correction = learner->state.applied};

    learner->store = *store;
    learner->waits = false;
    const bool changed = store->wanted(store->context, &order);
    learner->hold = order.hold;
    learner->gave_up = order.off;
    if (!changed)
        return NULL;
    learner->state.number = order.number;
    learner->state.applied = order.correction;
    plx_remap_fill(&learner->calibration, PLX_RIGHT, &order.correction, &learner->map);
    return &learner->map;
}

int plx_learner_places(struct plx_learner *learner, int64_t capture_ns, uint32_t *ret_place)
{
    const bool full = learner->drift.count == PLX_ROW_MATCHES;

    if (!learner->single && full && capture_ns >= learner->look_ns - REFRESH_NS && capture_ns < learner->look_ns)
        return 0;
    const int few = learner->drift.count < PLX_FEW_MATCHES ? PLX_PLACES_FIRST : PLX_PLACES_LATER;
    const int places = learner->single ? PLX_PLACES_SINGLE : few;
    learner->look_ns = capture_ns + REFRESH_NS;
    learner->capture_ns = capture_ns;
    *ret_place = learner->place;
    learner->place += (uint32_t)places;
    return places;
}

/* Whether the columns are due for an estimate. */
static bool has_steps(const struct plx_learner *learner, const struct plx_motion_steps *steps)
{
    return steps && steps->count >= PLX_STEPS_MIN && steps->added - learner->steps_added >= EACH_STEPS &&
           learner->capture_ns >= learner->steps_ns;
}

void plx_learner_add(struct plx_learner *learner, const struct plx_row_match *match, int count,
                     const struct plx_motion_steps *steps)
{
    const bool columns = has_steps(learner, steps);

    for (int i = 0; i < count; i++) {
        struct plx_row_match dated = match[i];
        dated.capture_ns = learner->capture_ns;
        plx_row_drift_add(&learner->drift, &dated);
    }
    learner->since += count;
    learner->frames++;
    if (atomic_load_explicit(&learner->phase, memory_order_acquire) != IDLE ||
        (learner->drift.unsolved < EACH && learner->frames < EACH && !columns))
        return;
    learner->frames = learner->job_frames = learner->drift.unsolved = 0;
    learner->job.drift = learner->drift;
    learner->job.has_steps = columns;
    if (columns) {
        learner->job.steps = *steps;
        learner->steps_added = steps->added;
        learner->steps_ns = learner->capture_ns + EACH_NS;
    }
    learner->job.used = learner->used;
    learner->job.state = learner->state;
    learner->job.since = learner->since;
    learner->job.gave_up = learner->gave_up;
    atomic_store_explicit(&learner->phase, ASKED, memory_order_release);
    sem_post(&learner->asked);
}

const struct plx_drift_info *plx_learner_drift(const struct plx_learner *learner)
{
    return &learner->drift.info;
}

void plx_learner_columns(const struct plx_learner *learner, struct plx_disparity_error *ret_used,
                         struct plx_disparity_error *ret_estimated)
{
    *ret_used = learner->used;
    *ret_estimated = learner->columns.steps > 0 ? learner->columns.error : learner->used;
}

const struct plx_correction_info *plx_learner_correction(const struct plx_learner *learner)
{
    return &learner->state;
}

/* Makes the frames' state that of the finished job. */
static void adopt(struct plx_learner *learner)
{
    struct job *job = &learner->job;
    const bool rows = !plx_correction_same_rows(&job->state.applied, &learner->state.applied);

    learner->drift.info = job->drift.info;
    if (job->since == 0)
        learner->since = 0;
    if (job->forget)
        plx_row_drift_forget(&learner->drift, PLX_ROWS_NEWEST_COUNT);
    if (job->changed) {
        const struct plx_correction change = plx_correction_add(&job->state.applied, &learner->state.applied, -1);
        plx_row_drift_correct(&learner->drift, &change);
    }
    learner->state = job->state;
    if (job->has_steps) {
        learner->columns = job->columns.part[PLX_STEPS_ALL];
        learner->used = job->used;
    }
    if (rows) { /* wrong rows had bent the estimate: until there is another, nothing is known */
        learner->columns = (struct plx_disparity_estimate){.steps = 0};
        job->columns = (struct plx_column_drift){.is_full = false};
    }
    tell_columns(learner, &learner->columns, &learner->state.applied, &learner->drift.info);
    learner->gave_up = job->gave_up;
}

bool plx_learner_gave_up(const struct plx_learner *learner)
{
    return learner->gave_up;
}

bool plx_learner_take(struct plx_learner *learner, const struct plx_remap **ret_map)
{
    int phase = atomic_load_explicit(&learner->phase, memory_order_acquire);

    if (phase == IDLE || ++learner->job_frames < LAG)
        return false;
    if (learner->waits) {
        while (sem_wait(&learner->done) < 0 && errno == EINTR)
            ;
    } else if (phase != DONE || sem_trywait(&learner->done) < 0) {
        return false;
    }
    adopt(learner);
    *ret_map = &learner->map;
    /* The map is the thread's again with the next job, which begins after this frame at the earliest. */
    atomic_store_explicit(&learner->phase, IDLE, memory_order_relaxed);
    return learner->job.changed;
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
    if (learner->state.number == 0)
        return NULL;
    plx_remap_fill(&learner->calibration, PLX_RIGHT, &learner->state.applied, &learner->map);
    return &learner->map;
}
