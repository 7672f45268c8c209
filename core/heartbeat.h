/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heartbeats: what each thread of the engine is doing and since when, one word a thread, in memory that the supervisor reads.
 * A thread joins the table once; whatever it calls then marks without knowing the table. How long each thing may take:
 * app/budget.c. To add a thread: a row in plx_thread, in plx_watched what it does, in app/budget.c for how long.
 */
#ifndef PLX_CORE_HEARTBEAT_H
#define PLX_CORE_HEARTBEAT_H

#include <stdatomic.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/clock.h"

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

/* What is watched: the stages by their own numbers, and what lies around them. */
enum plx_watched {
    PLX_WATCHED_STAGES = PLX_STAGE_COUNT, /* below: enum plx_stage */
    PLX_WATCHED_SOURCE = PLX_STAGE_COUNT, /* waiting for a pair */
    PLX_WATCHED_PUBLISH,                  /* after the stages: into the ring, and exposure */
    PLX_WATCHED_START,                    /* opening everything, up to the first frame */
    PLX_WATCHED_LEFT,                     /* a camera between two pictures */
    PLX_WATCHED_RIGHT,
    PLX_WATCHED_GPU,         /* opening the GPU */
    PLX_WATCHED_CAMERAS,     /* serving the cameras, one round of it */
    PLX_WATCHED_DRIVER_CALL, /* one call of a camera's driver */
    PLX_WATCHED_FEED,        /* rendering or reading one pair */
    PLX_WATCHED_DECODE,      /* decoding one picture */
    PLX_WATCHED_SENSORS,     /* reading one file of the system */
    PLX_WATCHED_IDLE,        /* waiting for work, for as long as it takes */
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

/* The calling thread is THREAD from now on, and is idle. HEARTBEATS NULL: nobody watches, and its marks go nowhere. */
void plx_heartbeat_join(struct plx_heartbeats *heartbeats, enum plx_thread thread);
/* The calling thread is about to end: nobody waits for a mark of it any more. */
void plx_heartbeat_leave(void);

/* The calling thread begins WHAT (enum plx_watched) now, also if that is what it did before: marking again is what shows that
 * it advances. Returns what it did before, to be marked again where WHAT was a part of that. A thread that never joined marks
 * nothing. */
int plx_heartbeat_busy(int what);
static inline void plx_heartbeat_idle(void)
{
    plx_heartbeat_busy(PLX_WATCHED_IDLE);
}

/* The same for one heartbeat by its address; NULL is fine. */
void plx_heartbeat_mark(struct plx_heartbeat *heartbeat, int what);

/* What it is doing (never marked: idle); *ret_since_ns: since when, CLOCK_MONOTONIC. */
int plx_heartbeat_read(const struct plx_heartbeat *heartbeat, int64_t *ret_since_ns);

#endif
