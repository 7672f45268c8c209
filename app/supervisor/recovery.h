/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the supervisor decides, as a function of what it was told and of the time: the service's state, when the engine is
 * to be started, when it counts as hung, and whether systemd may be told that all is well. No clock, no process: plain data.
 * All times are the service's (app/supervisor/service_clock.h), nanoseconds. Budgets of stages and cameras: core/heartbeat.c.
 */
#ifndef PLX_APP_SUPERVISOR_RECOVERY_H
#define PLX_APP_SUPERVISOR_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/clock.h"
#include "core/heartbeat.h"

#define PLX_BACKOFF_MIN_NS (100 * PLX_NS_PER_MS)
#define PLX_BACKOFF_MAX_NS (5 * PLX_NS_PER_S)
#define PLX_RECOVERY_BUDGET_NS (30 * PLX_NS_PER_S) /* without a fresh frame for so long the service has FAILED */
#define PLX_STABLE_NS (5 * PLX_NS_PER_S)           /* an engine that ran for so long earns the shortest back-off again */

/* What a thread of the engine does, and since when. */
struct plx_activity {
    int doing; /* enum plx_watched */
    int64_t since_ns;
};

struct plx_recovery {
    enum plx_state state;
    uint32_t health;        /* enum plx_health */
    bool running;           /* there is an engine process */
    bool fresh;             /* it has published a frame */
    int64_t started_ns;     /* its start */
    int64_t last_report_ns; /* its last sign of life */
    struct plx_activity activity[PLX_THREAD_COUNT];
    enum plx_thread suspect; /* the thread that is furthest over its budget; none is: the working thread */
    bool late;               /* it does what it does for longer than the health table allows */
    bool unkillable;         /* the engine was killed, and does not die */
    int64_t frame_ns;        /* last published frame of any engine; before the first: the service's start */
    int64_t camera_lost_ns;  /* when the engine last said that cameras are gone and looked for */
    int64_t scheduled_ns;    /* when the source's timetable has its next pair; until then nothing is awaited */
    int64_t start_ns;        /* no engine: when to start one */
    int64_t backoff_ns;      /* the next pause before a start */
    int64_t frame_period_ns; /* from one pair to the next, or what the last one took if that is more */
    uint64_t deaths;
};

void plx_recovery_init(struct plx_recovery *recovery, int64_t now_ns);

/* What happened. */
void plx_recovery_started(struct plx_recovery *recovery, int64_t now_ns);
void plx_recovery_frame(struct plx_recovery *recovery, int64_t now_ns, uint32_t health, int64_t period_ns, int64_t busy_ns);
void plx_recovery_waiting(struct plx_recovery *recovery, int64_t now_ns, uint32_t health, bool away);
void plx_recovery_died(struct plx_recovery *recovery, int64_t now_ns, bool planned); /* planned: start the next at once */

/* The source, a recording, has its next pair at DUE_NS by its own timetable: until then the engine starves of nothing. */
void plx_recovery_scheduled(struct plx_recovery *recovery, int64_t now_ns, int64_t scheduled_ns);

/* What frames need is not there, and who needs it has said so: neither a new engine nor a new service would bring it. */
void plx_recovery_lacks_resource(struct plx_recovery *recovery, int64_t now_ns);
/* The same, without an engine that could die of it: the next attempt comes after the back-off. */
void plx_recovery_start_postponed(struct plx_recovery *recovery, int64_t now_ns);

/* What THREAD of the engine marked (core/heartbeat.h); to be told before each tick. */
void plx_recovery_progress(struct plx_recovery *recovery, enum plx_thread thread, int doing, int64_t since_ns);

/* The engine was killed some time ago, and is still there: a driver holds it. Until it has died no other is started, and
 * nothing is well. */
void plx_recovery_unkillable(struct plx_recovery *recovery);

/* What the suspect does. */
static inline const struct plx_activity *plx_recovery_activity(const struct plx_recovery *recovery)
{
    return &recovery->activity[recovery->suspect];
}

/* Lets time pass: updates the state. Returns true while the engine must be killed, because it hangs. */
bool plx_recovery_tick(struct plx_recovery *recovery, int64_t now_ns);

/* True when an engine should be started now. */
bool plx_recovery_wants_engine(const struct plx_recovery *recovery, int64_t now_ns);

/* True while frames are published or recovery is inside its budget: then systemd's watchdog is fed. */
bool plx_recovery_is_well(const struct plx_recovery *recovery, int64_t now_ns);

#endif
