/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/recovery.h"

#include "core/heartbeat.h"

enum event {
    EVENT_GOOD,      /* a frame without faults */
    EVENT_FAULTY,    /* a frame with faults */
    EVENT_LATE,      /* the engine is over a warn budget */
    EVENT_LOST,      /* it died, or is over a fatal budget */
    EVENT_EXHAUSTED, /* no fresh frame for PLX_RECOVERY_BUDGET_NS */
    EVENTS
};

/* The state machine. The orderly end (stopped) is the supervisor's own. */
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
    recovery->late = false;
    recovery->suspect = PLX_THREAD_WORK;
    for (int thread = 0; thread < PLX_THREAD_COUNT; thread++)
        recovery->activity[thread] = (struct plx_activity){PLX_WATCHED_IDLE, now_ns};
    recovery->activity[PLX_THREAD_WORK].doing = PLX_WATCHED_START;
}

void plx_recovery_frame(struct plx_recovery *recovery, int64_t now_ns, uint32_t health, int64_t period_ns, int64_t busy_ns)
{
    recovery->fresh = true;
    recovery->last_report_ns = now_ns;
    recovery->frame_ns = now_ns;
    recovery->activity[PLX_THREAD_WORK] = (struct plx_activity){PLX_WATCHED_PUBLISH, now_ns}; /* until it is told again */
    recovery->frame_period_ns = larger(period_ns, busy_ns);
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

void plx_recovery_waiting(struct plx_recovery *recovery, int64_t now_ns, uint32_t health, bool away)
{
    recovery->last_report_ns = now_ns;
    recovery->health |= health;
    /* Neither a new engine nor a new service brings a camera back; but somebody has to look for it, which a thread that is
     * stuck in a driver does not. */
    if (away && !is_late(recovery, PLX_THREAD_CAMERAS, now_ns)) {
        recovery->camera_lost_ns = now_ns;
        if (!recovery->fresh) /* it has started; what it waits for is the camera */
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

/* Up to when, at NOW_NS, no frame could be expected. */
static int64_t excused_until_ns(const struct plx_recovery *recovery, int64_t now_ns)
{
    return larger(recovery->camera_lost_ns, recovery->scheduled_ns < now_ns ? recovery->scheduled_ns : now_ns);
}

void plx_recovery_progress(struct plx_recovery *recovery, enum plx_thread thread, int doing, int64_t since_ns)
{
    const int64_t start_ns = larger(recovery->started_ns, recovery->camera_lost_ns);
    /* Up to the first frame all that the working thread does is the start; only a driver has a budget of its own then. */
    const bool starts = thread == PLX_THREAD_WORK && !recovery->fresh && doing != PLX_WATCHED_DRIVER_CALL;

    recovery->activity[thread] =
        starts ? (struct plx_activity){PLX_WATCHED_START, start_ns} : (struct plx_activity){doing, since_ns};
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

/* How far THREAD is over its fatal budget; negative: it is not. The working thread's reports are signs of life too. */
static int64_t overrun_ns(const struct plx_recovery *recovery, enum plx_thread thread, int64_t now_ns)
{
    const struct plx_activity *activity = &recovery->activity[thread];
    const int64_t last_report_ns =
        thread == PLX_THREAD_WORK ? larger(activity->since_ns, recovery->last_report_ns) : activity->since_ns;
    return now_ns - last_report_ns - plx_budget_fatal_ns(activity->doing, recovery->frame_period_ns);
}

/* The health table's word on what the threads are doing. */
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
    return worst_ns > 0;
}

bool plx_recovery_tick(struct plx_recovery *recovery, int64_t now_ns)
{
    const int64_t last_pair_ns = larger(larger(recovery->frame_ns, excused_until_ns(recovery, now_ns)), recovery->started_ns);
    const int64_t frame_budget_ns = plx_budget_fatal_ns(PLX_WATCHED_SOURCE, recovery->frame_period_ns);
    const int64_t pair_budget_ns =
        plx_budget_fatal_ns(recovery->fresh ? PLX_WATCHED_LEFT : PLX_WATCHED_START, recovery->frame_period_ns);
    const bool hangs = judge(recovery, now_ns);
    const bool starved = recovery->running && now_ns - last_pair_ns > pair_budget_ns;

    const bool silent = recovery->fresh && now_ns - recovery->frame_ns > frame_budget_ns;
    const bool scheduled = recovery->scheduled_ns != 0 && now_ns - recovery->scheduled_ns <= frame_budget_ns;

    if (hangs || (silent && !scheduled)) {
        lose(recovery);
    } else if (silent) { /* nothing to recover from, and yet no frames */
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
