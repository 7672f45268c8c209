/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor's decisions, as functions of events and time: the service's state, when an engine starts, when it counts as
 * hung, which processor it uses, and whether systemd's watchdog is fed. No clock, no process: plain data.
 * All times are the service's (app/supervisor/service_clock.h), nanoseconds. Budgets of stages and cameras:
 * core/checks/health_table.c.
 */
#ifndef PLX_APP_SUPERVISOR_RECOVERY_H
#define PLX_APP_SUPERVISOR_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/clock.h"
#include "core/base/period.h"
#include "core/checks/health_table.h"

#define PLX_BACKOFF_MIN_NS (100 * PLX_NS_PER_MS)
#define PLX_BACKOFF_MAX_NS (5 * PLX_NS_PER_S)
#define PLX_RECOVERY_BUDGET_NS (30 * PLX_NS_PER_S) /* without a new frame for this time the service has FAILED */
#define PLX_STABLE_NS (5 * PLX_NS_PER_S)           /* after an engine has run this long, the back-off is the shortest again */

/* What a thread of the engine is doing, and since when. */
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
    enum plx_thread suspect; /* the thread that is furthest over its budget; if none is, the working thread */
    bool late;               /* its activity takes longer than the health table allows */
    bool held_up;            /* only the time in wait of a processor excuses it: it is not replaced */
    bool unkillable;         /* the engine does not die of SIGKILL */
    int64_t frame_ns;        /* last published frame of any engine; before the first: the service's start */
    int64_t camera_lost_ns;  /* last report of the engine that a camera is lost and looked for */
    int64_t scheduled_ns;    /* when the recording's next pair is due; no pair is expected before */
    int64_t start_ns;        /* no engine: when to start one */
    int64_t backoff_ns;      /* the next pause before a start */
    struct plx_period busy;  /* processing times of the engine's pairs */
    int64_t frame_period_ns; /* the larger of the interval between pairs and the median of the processing times */
    int64_t run_delay_ns;    /* how long the engine, late, has waited for a processor since its last frame */
    uint64_t deaths;
};

void plx_recovery_init(struct plx_recovery *recovery, int64_t now_ns);

/* Events of the engine. */
void plx_recovery_started(struct plx_recovery *recovery, int64_t now_ns);
void plx_recovery_frame(struct plx_recovery *recovery, int64_t now_ns, uint32_t health, int64_t period_ns, int64_t busy_ns);
void plx_recovery_waiting(struct plx_recovery *recovery, int64_t now_ns, uint32_t health, bool is_camera_lost);
void plx_recovery_died(struct plx_recovery *recovery, int64_t now_ns, bool planned); /* planned: start the next at once */

/* The source, a recording, has its next pair at SCHEDULED_NS: no frame is expected before. */
void plx_recovery_scheduled(struct plx_recovery *recovery, int64_t now_ns, int64_t scheduled_ns);

/* The engine reports a missing resource: neither a new engine nor a new service would bring it. */
void plx_recovery_lacks_resource(struct plx_recovery *recovery, int64_t now_ns);
/* The same at a start that failed without an engine: the next attempt comes after the back-off. */
void plx_recovery_start_postponed(struct plx_recovery *recovery, int64_t now_ns);

/* The heartbeat of THREAD (core/base/heartbeat.h); call it before each tick. */
void plx_recovery_progress(struct plx_recovery *recovery, enum plx_thread thread, int doing, int64_t since_ns);

/* The engine, which is late, waited NS for a processor since the last tick: other programs keep it from running, and a new
 * engine would wait as long. */
void plx_recovery_delayed(struct plx_recovery *recovery, int64_t ns);

/* The engine got SIGKILL and still exists: a driver holds it. Until it has died no other engine is started, and the watchdog is
 * not fed. */
void plx_recovery_unkillable(struct plx_recovery *recovery);

/* What the suspect is doing. */
static inline const struct plx_activity *plx_recovery_activity(const struct plx_recovery *recovery)
{
    return &recovery->activity[recovery->suspect];
}

/* Updates the state for the time NOW_NS. True while the engine hangs and must be killed. */
bool plx_recovery_tick(struct plx_recovery *recovery, int64_t now_ns);

/* True when an engine should be started now. */
bool plx_recovery_wants_engine(const struct plx_recovery *recovery, int64_t now_ns);

/* True while frames are published or recovery is within its budget: then systemd's watchdog is fed. */
bool plx_recovery_is_well(const struct plx_recovery *recovery, int64_t now_ns);

/*
 * The fallback: the processor of the engines when the GPU fails. After several losses in a row the CPU works, at its own rate
 * and flagged, until a probe finds that the GPU works again.
 */
#define PLX_GPU_FALLBACK_LOSSES 3                         /* losses in a row before the CPU replaces the GPU */
#define PLX_GPU_FALLBACK_PAUSE_MIN_NS (30 * PLX_NS_PER_S) /* before the GPU is probed; doubled each time */
#define PLX_GPU_FALLBACK_PAUSE_MAX_NS (600 * PLX_NS_PER_S)

/* Zeroed = nothing is known of a GPU. */
struct plx_gpu_fallback {
    bool worked;      /* the GPU has made frames: a later frame of the CPU is a fallback */
    bool active;      /* engines use the CPU */
    int losses;       /* since an engine last ran stably on the GPU */
    int64_t retry_ns; /* active: when to probe the GPU */
    int64_t pause_ns; /* the current pause; 0 = none yet */
};

/* The end of an engine that used the GPU. */
struct plx_engine_end {
    bool failed, gpu_lost; /* it reported a failure, and the GPU as its cause */
    int signal;            /* the signal that ended it; 0: none */
    bool hung;             /* the supervisor sent the signal, because it hung */
    int doing;             /* enum plx_watched: its last activity, or the one that hung */
};

/* True if the GPU is the cause: the engine reports it, or it crashed or hung while the GPU was working. An engine that ends
 * while it waits for its source, publishes or starts, or is killed from outside, is no loss of the GPU. */
bool plx_gpu_fallback_is_loss(const struct plx_engine_end *end);

/* An engine published a frame. STABLE: it has run for PLX_STABLE_NS. If the engine chose the CPU and the GPU worked before, the
 * fallback is active too. */
void plx_gpu_fallback_frame(struct plx_gpu_fallback *gpu_fallback, int64_t now_ns, bool on_gpu, bool stable);

/* Counts a loss of the GPU. */
void plx_gpu_fallback_lost(struct plx_gpu_fallback *gpu_fallback, int64_t now_ns);

/* True when the GPU should be probed now. */
bool plx_gpu_fallback_wants_probe(const struct plx_gpu_fallback *gpu_fallback, int64_t now_ns);

/* The probe's answer. If the GPU WORKS, the next engine uses it; one more loss ends that again. */
void plx_gpu_fallback_probed(struct plx_gpu_fallback *gpu_fallback, int64_t now_ns, bool works);

#endif
