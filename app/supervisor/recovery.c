/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/recovery.h"

#include "app/budget.h"

enum event {
    EVENT_GOOD,   /* a frame without faults */
    EVENT_FAULTY, /* a frame with faults */
    EVENT_LATE,   /* the engine is over a warn budget */
    EVENT_LOST,   /* it died, or is over a fatal budget */
    EVENT_SPENT,  /* no fresh frame for PLX_RECOVERY_BUDGET_NS */
    EVENTS
};

/* The state machine. The orderly end (stopped) is the supervisor's own. */
static const enum plx_state next_state[][EVENTS] = {
#define ROW(state, late, lost)                                                                                                 \
    [PLX_STATE_##state] = {PLX_STATE_RUNNING, PLX_STATE_DEGRADED, PLX_STATE_##late, PLX_STATE_##lost, PLX_STATE_FAILED}
    /*  state      late        lost         (good: running, faulty: degraded, spent: failed) */
    ROW(STARTING, STARTING, STARTING),       ROW(RUNNING, DEGRADED, RECOVERING), ROW(DEGRADED, DEGRADED, RECOVERING),
    ROW(RECOVERING, RECOVERING, RECOVERING), ROW(FAILED, FAILED, FAILED),
};

static void meet(struct plx_recovery *recovery, enum event event)
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
    recovery->fresh = false;
    recovery->born_ns = now_ns;
    recovery->sign_ns = now_ns;
    recovery->doing = PLX_WATCHED_START;
    recovery->since_ns = now_ns;
    recovery->late = false;
}

void plx_recovery_frame(struct plx_recovery *recovery, int64_t now_ns, uint32_t health, int64_t period_ns, int64_t busy_ns)
{
    recovery->fresh = true;
    recovery->sign_ns = now_ns;
    recovery->frame_ns = now_ns;
    recovery->doing = PLX_WATCHED_PUBLISH; /* until it is told anew */
    recovery->since_ns = now_ns;
    recovery->pace_ns = larger(period_ns, busy_ns);
    recovery->health = health;
    meet(recovery, health ? EVENT_FAULTY : EVENT_GOOD);
    if (now_ns - recovery->born_ns >= PLX_STABLE_NS)
        recovery->backoff_ns = PLX_BACKOFF_MIN_NS;
}

void plx_recovery_waiting(struct plx_recovery *recovery, int64_t now_ns, uint32_t health, bool away)
{
    recovery->sign_ns = now_ns;
    recovery->health |= health;
    if (away) { /* neither a new engine nor a new service brings a camera back */
        recovery->away_ns = now_ns;
        if (!recovery->fresh) /* it has started; what it waits for is the camera */
            recovery->since_ns = now_ns;
    }
    if (health)
        meet(recovery, EVENT_LATE);
}

void plx_recovery_progress(struct plx_recovery *recovery, int doing, int64_t since_ns)
{
    if (!recovery->fresh) /* up to its first frame all of it is the start */
        return;
    recovery->doing = doing;
    recovery->since_ns = since_ns;
}

static void lose(struct plx_recovery *recovery)
{
    meet(recovery, EVENT_LOST);
    recovery->health |= PLX_HEALTH_NO_FRAMES;
}

static void back_off(struct plx_recovery *recovery, int64_t now_ns)
{
    recovery->start_ns = now_ns + recovery->backoff_ns;
    recovery->backoff_ns *= 2;
    if (recovery->backoff_ns > PLX_BACKOFF_MAX_NS)
        recovery->backoff_ns = PLX_BACKOFF_MAX_NS;
}

void plx_recovery_lacks(struct plx_recovery *recovery, int64_t now_ns)
{
    recovery->away_ns = now_ns;
}

void plx_recovery_postponed(struct plx_recovery *recovery, int64_t now_ns)
{
    plx_recovery_lacks(recovery, now_ns);
    back_off(recovery, now_ns);
}

void plx_recovery_died(struct plx_recovery *recovery, int64_t now_ns, bool planned)
{
    lose(recovery);
    recovery->running = false;
    if (planned) {
        recovery->start_ns = now_ns;
        return;
    }
    recovery->deaths++;
    back_off(recovery, now_ns);
}

/* The health table's word on what the engine is doing. */
static bool judge(struct plx_recovery *recovery, int64_t now_ns)
{
    const int64_t spent_ns = now_ns - recovery->since_ns;

    recovery->late = recovery->running && spent_ns > plx_budget_warn_ns(recovery->doing, recovery->pace_ns);
    if (recovery->late) {
        recovery->health |= plx_budget_health(recovery->doing);
        meet(recovery, EVENT_LATE);
    }
    return recovery->running &&
           larger(recovery->since_ns, recovery->sign_ns) + plx_budget_fatal_ns(recovery->doing, recovery->pace_ns) < now_ns;
}

bool plx_recovery_tick(struct plx_recovery *recovery, int64_t now_ns)
{
    const int64_t last_pair_ns = larger(larger(recovery->frame_ns, recovery->away_ns), recovery->born_ns);
    const int64_t frame_budget_ns = plx_budget_fatal_ns(PLX_WATCHED_SOURCE, recovery->pace_ns);
    const int64_t pair_budget_ns =
        plx_budget_fatal_ns(recovery->fresh ? PLX_WATCHED_LEFT : PLX_WATCHED_START, recovery->pace_ns);
    const bool hangs = judge(recovery, now_ns);
    const bool starved = recovery->running && now_ns - last_pair_ns > pair_budget_ns;

    if (hangs || (recovery->fresh && now_ns - recovery->frame_ns > frame_budget_ns))
        lose(recovery);
    if (!plx_recovery_is_well(recovery, now_ns))
        meet(recovery, EVENT_SPENT);
    return hangs || starved;
}

bool plx_recovery_wants_engine(const struct plx_recovery *recovery, int64_t now_ns)
{
    return !recovery->running && now_ns >= recovery->start_ns;
}

bool plx_recovery_is_well(const struct plx_recovery *recovery, int64_t now_ns)
{
    return now_ns - larger(recovery->frame_ns, recovery->away_ns) <= PLX_RECOVERY_BUDGET_NS;
}
