/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heartbeats: what each thread of the engine is doing and since when, one word a thread, in memory that the supervisor reads;
 * and the health table: how long each activity may take. A thread joins once; the functions that it calls then mark its
 * heartbeat without knowing the table. To add a thread: a row in plx_thread, its activity in plx_watched, its budget in
 * heartbeat.c.
 */
#ifndef PLX_CORE_BASE_HEARTBEAT_H
#define PLX_CORE_BASE_HEARTBEAT_H

#include <stdatomic.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/clock.h"

#define PLX_DECODE_THREADS 4

/* The threads of an engine that have a heartbeat. The compute threads of a backend have none: the working thread waits for
 * them within a stage, and its heartbeat tells. */
enum plx_thread {
    PLX_THREAD_WORK,    /* the engine's main thread: pairs, pipeline, publishing */
    PLX_THREAD_CAMERAS, /* takes pictures, sets controls, looks for cameras */
    PLX_THREAD_FEED,    /* renders or reads the pictures of a synthetic or replayed source */
    PLX_THREAD_DECODE,  /* the first of PLX_DECODE_THREADS that decode pictures */
    PLX_THREAD_SENSORS = PLX_THREAD_DECODE + PLX_DECODE_THREADS, /* reads memory pressure and temperatures */
    PLX_THREAD_COUNT
};

/* The activities that are watched: the stages by their own numbers, then the others. */
enum plx_watched {
    PLX_WATCHED_STAGES = PLX_STAGE_COUNT, /* below: enum plx_stage */
    PLX_WATCHED_SOURCE = PLX_STAGE_COUNT, /* waiting for a pair */
    PLX_WATCHED_PUBLISH,                  /* after the stages: publishing in the ring, and exposure */
    PLX_WATCHED_START,                    /* opening everything, up to the first frame */
    PLX_WATCHED_LEFT,                     /* a camera between two pictures */
    PLX_WATCHED_RIGHT,
    PLX_WATCHED_GPU,         /* opening the GPU */
    PLX_WATCHED_CAMERAS,     /* one round of serving the cameras */
    PLX_WATCHED_DRIVER_CALL, /* one call of a camera's driver */
    PLX_WATCHED_FEED,        /* rendering or reading one pair */
    PLX_WATCHED_DECODE,      /* decoding one picture */
    PLX_WATCHED_SENSORS,     /* reading one file of the system */
    PLX_WATCHED_IDLE,        /* waiting for work, without a limit */
    PLX_WATCHED_COUNT
};

/* One word, so that it is never torn: microseconds of CLOCK_MONOTONIC times 256, plus what. 0: never marked. */
struct plx_heartbeat {
    _Atomic(uint64_t) word;
};

/* Zeroed: no thread has joined. */
struct plx_heartbeats {
    struct plx_heartbeat thread[PLX_THREAD_COUNT];
};

/* The calling thread is THREAD from now on, and idle. HEARTBEATS NULL: nobody watches, and its marks are dropped. */
void plx_heartbeat_join(struct plx_heartbeats *heartbeats, enum plx_thread thread);
/* The calling thread is about to end: it is idle and no longer watched. */
void plx_heartbeat_leave(void);

/* The calling thread begins WHAT (enum plx_watched) now; marking the same activity again shows progress. Returns the activity
 * before, to be marked again if WHAT was a part of it. A thread that never joined marks nothing. */
int plx_heartbeat_busy(int what);
static inline void plx_heartbeat_idle(void)
{
    plx_heartbeat_busy(PLX_WATCHED_IDLE);
}

/* The same for one heartbeat by its address; NULL is fine. */
void plx_heartbeat_mark(struct plx_heartbeat *heartbeat, int what);

/* The activity of HEARTBEAT (never marked: idle); *ret_since_ns: its begin, CLOCK_MONOTONIC. */
int plx_heartbeat_read(const struct plx_heartbeat *heartbeat, int64_t *ret_since_ns);

/* The health table. PERIOD_NS: from one pair to the next, or the processing time of a pair if that is longer. WHAT is an enum
 * plx_watched; another number is judged as the start. */
int64_t plx_budget_warn_ns(int what, int64_t period_ns);  /* a longer activity is flagged */
int64_t plx_budget_fatal_ns(int what, int64_t period_ns); /* a longer one ends the engine */
int64_t plx_budget_fresh_ns(int64_t period_ns);           /* how long after its capture a pair is fresh; at most 3 s */
uint32_t plx_budget_health(int what);                     /* the flag, an enum plx_health */
const char *plx_budget_name(int what);                    /* "stage sgm"; static storage */
const char *plx_budget_thread(int thread);                /* of an enum plx_thread: "the working thread"; static storage */

#endif
