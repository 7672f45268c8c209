/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/recovery.h"

#include <signal.h>

#include "core/checks/health_table.h"
#include "core/pipeline/stages.h"

enum event {
    EVENT_GOOD,      /* a frame without faults */
    EVENT_FAULTY,    /* a frame with faults */
    EVENT_LATE,      /* the engine is over a warning budget */
    EVENT_LOST,      /* it died, or is over a fatal budget */
    EVENT_EXHAUSTED, /* no fresh frame for PLX_RECOVERY_BUDGET_NS */
    EVENTS
};

/* The state machine. The supervisor itself sets the state STOPPED. */
static const enum plx_state next_state[][EVENTS] = {
#define ROW(state, late, lost)                                                                                                 \
    [PLX_STATE_##state] = {PLX_STATE_RUNNING, PLX_STATE_DEGRADED, PLX_STATE_##late, PLX_STATE_##lost, PLX_STATE_FAILED}
    /*  state      late        lost         (good: running, faulty: degraded, exhausted: failed) */
    ROW(STARTING, STARTING, STARTING),       ROW(RUNNING, DEGRADED, RECOVERING), ROW(DEGRADED, DEGRADED, RECOVERING),
    ROW(RECOVERING, RECOVERING, RECOVERING), ROW(FAILED, FAILED, FAILED),
};

static void step(struct plx_recovery *recovery, enum event event)
{
    recovery->state = next_state[recovery->state][event];
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void plx_recovery_init(struct plx_recovery *recovery, int64_t now_ns)
{
    *recovery = (struct plx_recovery){
        .state = PLX_STATE_STARTING,
        .frame_ns = now_ns,
        .start_ns = now_ns,
        .backoff_ns = PLX_BACKOFF_MIN_NS,
    };
}

void plx_recovery_started(struct plx_recovery *recovery, int64_t now_ns)
{
    recovery->running = true;
    recovery->scheduled_ns = 0;
    recovery->fresh = false;
    recovery->started_ns = now_ns;
    recovery->last_report_ns = now_ns;
    recovery->late = recovery->held_up = false;
    recovery->busy = (struct plx_period){0};
    recovery->run_delay_ns = 0;
    recovery->suspect = PLX_THREAD_WORK;
    for (int thread = 0; thread < PLX_THREAD_COUNT; thread++)
        recovery->activity[thread] = (struct plx_activity){PLX_HEARTBEAT_IDLE, now_ns};
    recovery->activity[PLX_THREAD_WORK].doing = PLX_WATCHED_START;
}

void plx_recovery_frame(struct plx_recovery *recovery, int64_t now_ns, uint32_t health, int64_t period_ns, int64_t busy_ns)
{
    recovery->fresh = true;
    recovery->last_report_ns = now_ns;
    recovery->frame_ns = now_ns;
    recovery->activity[PLX_THREAD_WORK] = (struct plx_activity){PLX_WATCHED_PUBLISH, now_ns}; /* until the next heartbeat */
    plx_period_add(&recovery->busy, busy_ns);
    recovery->frame_period_ns = larger(period_ns, plx_period_ns(&recovery->busy));
    recovery->run_delay_ns = 0;
    recovery->health = health;
    step(recovery, health ? EVENT_FAULTY : EVENT_GOOD);
    if (now_ns - recovery->started_ns >= PLX_STABLE_NS)
        recovery->backoff_ns = PLX_BACKOFF_MIN_NS;
}

static bool is_late(const struct plx_recovery *recovery, enum plx_thread thread, int64_t now_ns)
{
    const struct plx_activity *activity = &recovery->activity[thread];
    return recovery->running && now_ns - activity->since_ns > plx_budget_warn_ns(activity->doing, recovery->frame_period_ns);
}

void plx_recovery_waiting(struct plx_recovery *recovery, int64_t now_ns, uint32_t health, bool is_camera_lost)
{
    recovery->last_report_ns = now_ns;
    recovery->health |= health;
    /* Neither a new engine nor a new service brings a camera back. But a thread has to look for the camera, and one that hangs
     * in a driver does not. */
    if (is_camera_lost && !is_late(recovery, PLX_THREAD_CAMERAS, now_ns)) {
        recovery->camera_lost_ns = now_ns;
        if (!recovery->fresh) /* the start is complete except for the camera */
            recovery->activity[PLX_THREAD_WORK] = (struct plx_activity){PLX_WATCHED_START, now_ns};
    }
    if (health)
        step(recovery, EVENT_LATE);
}

void plx_recovery_scheduled(struct plx_recovery *recovery, int64_t now_ns, int64_t scheduled_ns)
{
    recovery->last_report_ns = now_ns;
    recovery->scheduled_ns = scheduled_ns;
}

/* The time until which no frame can be expected, as of NOW_NS. */
static int64_t excused_until_ns(const struct plx_recovery *recovery, int64_t now_ns)
{
    return larger(recovery->camera_lost_ns, recovery->scheduled_ns < now_ns ? recovery->scheduled_ns : now_ns);
}

void plx_recovery_progress(struct plx_recovery *recovery, enum plx_thread thread, int doing, int64_t since_ns)
{
    const int64_t start_ns = larger(recovery->started_ns, recovery->camera_lost_ns);
    /* Before the first frame every activity of the working thread counts as the start, except a driver call. */
    const bool starts = thread == PLX_THREAD_WORK && !recovery->fresh && doing != PLX_WATCHED_DRIVER_CALL;

    recovery->activity[thread] =
        starts ? (struct plx_activity){PLX_WATCHED_START, start_ns} : (struct plx_activity){doing, since_ns};
}

void plx_recovery_delayed(struct plx_recovery *recovery, int64_t ns)
{
    recovery->run_delay_ns += ns;
}

void plx_recovery_unkillable(struct plx_recovery *recovery)
{
    recovery->unkillable = true;
    step(recovery, EVENT_EXHAUSTED);
}

static void lose(struct plx_recovery *recovery)
{
    step(recovery, EVENT_LOST);
    recovery->health |= PLX_HEALTH_NO_FRAMES;
}

static void back_off(struct plx_recovery *recovery, int64_t now_ns)
{
    recovery->start_ns = now_ns + recovery->backoff_ns;
    recovery->backoff_ns *= 2;
    if (recovery->backoff_ns > PLX_BACKOFF_MAX_NS)
        recovery->backoff_ns = PLX_BACKOFF_MAX_NS;
}

void plx_recovery_lacks_resource(struct plx_recovery *recovery, int64_t now_ns)
{
    recovery->camera_lost_ns = now_ns;
}

void plx_recovery_start_postponed(struct plx_recovery *recovery, int64_t now_ns)
{
    plx_recovery_lacks_resource(recovery, now_ns);
    back_off(recovery, now_ns);
}

void plx_recovery_died(struct plx_recovery *recovery, int64_t now_ns, bool planned)
{
    lose(recovery);
    recovery->running = false;
    recovery->unkillable = false;
    if (planned) {
        recovery->start_ns = now_ns;
        return;
    }
    recovery->deaths++;
    back_off(recovery, now_ns);
}

/* How far THREAD is over its fatal budget, the time in wait of a processor included; negative: within it. The working thread's
 * reports count like heartbeats. */
static int64_t overrun_ns(const struct plx_recovery *recovery, enum plx_thread thread, int64_t now_ns)
{
    const struct plx_activity *activity = &recovery->activity[thread];
    const int64_t last_report_ns =
        thread == PLX_THREAD_WORK ? larger(activity->since_ns, recovery->last_report_ns) : activity->since_ns;
    return now_ns - last_report_ns - plx_budget_fatal_ns(activity->doing, recovery->frame_period_ns);
}

/* Compares the threads' activities with the health table; true if one is over its fatal budget, and not only for want of a
 * processor. */
static bool judge(struct plx_recovery *recovery, int64_t now_ns)
{
    int64_t worst_ns = INT64_MIN;

    recovery->late = false;
    recovery->suspect = PLX_THREAD_WORK;
    for (enum plx_thread thread = 0; thread < PLX_THREAD_COUNT && recovery->running; thread++) {
        const int64_t over_ns = overrun_ns(recovery, thread, now_ns);
        if (!is_late(recovery, thread, now_ns))
            continue;
        recovery->late = true;
        recovery->health |= plx_budget_health(recovery->activity[thread].doing);
        if (plx_budget_health(recovery->activity[thread].doing) != 0)
            step(recovery, EVENT_LATE);
        if (over_ns > worst_ns) {
            worst_ns = over_ns;
            recovery->suspect = thread;
        }
    }
    recovery->held_up = worst_ns > 0 && worst_ns <= recovery->run_delay_ns;
    return worst_ns > recovery->run_delay_ns;
}

bool plx_recovery_tick(struct plx_recovery *recovery, int64_t now_ns)
{
    const int64_t last_pair_ns = larger(larger(recovery->frame_ns, excused_until_ns(recovery, now_ns)), recovery->started_ns);
    const int64_t frame_budget_ns = plx_budget_fatal_ns(PLX_WATCHED_SOURCE, recovery->frame_period_ns);
    const int64_t pair_budget_ns =
        plx_budget_fatal_ns(recovery->fresh ? PLX_WATCHED_LEFT : PLX_WATCHED_START, recovery->frame_period_ns);
    const bool hangs = judge(recovery, now_ns);
    const bool starved = recovery->running && now_ns - last_pair_ns - recovery->run_delay_ns > pair_budget_ns;
    const bool silent = recovery->fresh && now_ns - recovery->frame_ns > frame_budget_ns;
    const bool scheduled = recovery->scheduled_ns != 0 && now_ns - recovery->scheduled_ns <= frame_budget_ns;

    if (hangs || (silent && !scheduled)) {
        lose(recovery);
    } else if (silent) { /* the engine is alive, but there are no frames */
        recovery->health |= PLX_HEALTH_NO_FRAMES;
        step(recovery, EVENT_FAULTY);
    }
    if (!plx_recovery_is_well(recovery, now_ns))
        step(recovery, EVENT_EXHAUSTED);
    return hangs || starved;
}

bool plx_recovery_wants_engine(const struct plx_recovery *recovery, int64_t now_ns)
{
    return !recovery->running && now_ns >= recovery->start_ns;
}

bool plx_recovery_is_well(const struct plx_recovery *recovery, int64_t now_ns)
{
    return !recovery->unkillable &&
           now_ns - larger(recovery->frame_ns, excused_until_ns(recovery, now_ns)) <= PLX_RECOVERY_BUDGET_NS;
}

/* --- the CPU instead of a GPU that fails -------------------------------------------------------------------------- */

bool plx_gpu_fallback_is_loss(const struct plx_engine_end *end)
{
    const bool at_work =
        end->doing == PLX_WATCHED_GPU || (end->doing < PLX_WATCHED_STAGES && plx_stage_is_of_backend(end->doing));

    if (end->failed)
        return end->gpu_lost;
    return at_work && end->signal != 0 && (end->hung || end->signal != SIGKILL);
}

/* Doubles the pause up to its maximum. */
static void pause_longer(struct plx_gpu_fallback *gpu_fallback, int64_t now_ns)
{
    gpu_fallback->pause_ns = gpu_fallback->pause_ns == 0 ? PLX_GPU_FALLBACK_PAUSE_MIN_NS : 2 * gpu_fallback->pause_ns;
    if (gpu_fallback->pause_ns > PLX_GPU_FALLBACK_PAUSE_MAX_NS)
        gpu_fallback->pause_ns = PLX_GPU_FALLBACK_PAUSE_MAX_NS;
    gpu_fallback->retry_ns = now_ns + gpu_fallback->pause_ns;
}

static void activate(struct plx_gpu_fallback *gpu_fallback, int64_t now_ns)
{
    gpu_fallback->active = true;
    pause_longer(gpu_fallback, now_ns);
}

void plx_gpu_fallback_frame(struct plx_gpu_fallback *gpu_fallback, int64_t now_ns, bool on_gpu, bool stable)
{
    if (!on_gpu && gpu_fallback->worked && !gpu_fallback->active)
        activate(gpu_fallback, now_ns);
    if (!on_gpu)
        return;
    gpu_fallback->worked = true;
    if (stable) {
        gpu_fallback->losses = 0;
        gpu_fallback->pause_ns = 0;
    }
}

void plx_gpu_fallback_lost(struct plx_gpu_fallback *gpu_fallback, int64_t now_ns)
{
    if (++gpu_fallback->losses >= PLX_GPU_FALLBACK_LOSSES && !gpu_fallback->active)
        activate(gpu_fallback, now_ns);
}

bool plx_gpu_fallback_wants_probe(const struct plx_gpu_fallback *gpu_fallback, int64_t now_ns)
{
    return gpu_fallback->active && now_ns >= gpu_fallback->retry_ns;
}

void plx_gpu_fallback_probed(struct plx_gpu_fallback *gpu_fallback, int64_t now_ns, bool works)
{
    if (works)
        gpu_fallback->active = false;
    else
        pause_longer(gpu_fallback, now_ns);
}
