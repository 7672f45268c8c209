/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The health table: the threads of the engine, what each of them may be doing, and how long each activity may take. A thread
 * marks its activity in its heartbeat (core/base/heartbeat.h). To add a thread: a row in plx_thread, its activity in
 * plx_watched, its budget in health_table.c.
 */
#ifndef PLX_CORE_CHECKS_HEALTH_TABLE_H
#define PLX_CORE_CHECKS_HEALTH_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/heartbeat.h"

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
    PLX_WATCHED_COUNT
};

_Static_assert(PLX_WATCHED_COUNT <= PLX_HEARTBEAT_IDLE, "a heartbeat has a byte for the activity");

/* Zeroed: no thread has joined. */
struct plx_heartbeats {
    struct plx_heartbeat thread[PLX_THREAD_COUNT];
};

/* The heartbeat of THREAD, to be joined; NULL if HEARTBEATS is. */
static inline struct plx_heartbeat *plx_heartbeat_of(struct plx_heartbeats *heartbeats, enum plx_thread thread)
{
    return heartbeats ? &heartbeats->thread[thread] : NULL;
}

/* A row of the health table. PERIOD_NS: from one pair to the next, or the processing time of a pair if that is longer. WHAT is
 * an enum plx_watched or PLX_HEARTBEAT_IDLE; another number is judged as the start. */
int64_t plx_budget_warn_ns(int what, int64_t period_ns);  /* a longer activity is flagged */
int64_t plx_budget_fatal_ns(int what, int64_t period_ns); /* a longer one ends the engine */
int64_t plx_budget_fresh_ns(int64_t period_ns);           /* how long after its capture a pair is fresh; at most 3 s */
uint32_t plx_budget_health(int what);                     /* the flag, an enum plx_health */
const char *plx_budget_name(int what);                    /* "stage sgm"; static storage */
const char *plx_budget_thread(int thread);                /* "the working thread" for an enum plx_thread; static storage */

#endif
