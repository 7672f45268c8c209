/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded queue of pairs between a thread that produces pictures and the reader. The producer fills one eye after the other;
 * the reader takes them in that order. Buffers are allocated at creation.
 */
#ifndef PLX_DRIVERS_PAIR_QUEUE_H
#define PLX_DRIVERS_PAIR_QUEUE_H

#include "core/source/source.h"

struct plx_pair_queue;
struct plx_stages;

/* What the producer does when every buffer is in use. */
enum plx_pair_queue_mode {
    PLX_PAIR_QUEUE_WAIT,      /* waits: nothing is lost */
    PLX_PAIR_QUEUE_LATEST,    /* overwrites the oldest pair that was not read, as a camera does */
    PLX_PAIR_QUEUE_ON_DEMAND, /* begins a pair only when the reader finds the queue empty */
};

/* PAIRS pairs of buffers of BYTES each, from STAGES' alloc; STAGES must outlive the queue. NOMEM. */
int plx_pair_queue_create(struct plx_stages *stages, enum plx_pair_queue_mode mode, int pairs, size_t bytes,
                          struct plx_pair_queue **ret_queue);

/* Frees the queue of a stopped source; captures that the reader holds become invalid. NULL is fine. */
void plx_pair_queue_destroy(struct plx_pair_queue *queue);

/* A source with a producer thread; the first member of such a source. MAKE runs in that thread: it calls
 * plx_pair_queue_begin_pair and plx_pair_queue_publish again and again, and returns when begin gives PLX_PAIR_QUEUE_STOPPED or
 * when there is no more. The reader gets its result and MESSAGE after the last picture. */
struct plx_queued_source {
    struct plx_source base;
    struct plx_pair_queue *queue;
    int (*make)(struct plx_queued_source *self, struct plx_error_message *message);
};

/* The operations of such sources; SOURCE is a struct plx_queued_source. Stop ends the thread and drops what was not read. */
int plx_queued_source_start(struct plx_source *source, struct plx_error_message *message);
void plx_queued_source_stop(struct plx_source *source);
int plx_queued_source_next(struct plx_source *source, int64_t deadline_ns, struct plx_capture *ret_capture);
void plx_queued_source_release(struct plx_source *source, struct plx_capture *capture);

/* clang-format off */
#define PLX_QUEUED_SOURCE_OPS .start = plx_queued_source_start, .stop = plx_queued_source_stop, \
    .next = plx_queued_source_next, .release = plx_queued_source_release
/* clang-format on */

/* --- for MAKE ----------------------------------------------------------------------------------------------------- */

/* Begins a pair: RET_DATA[eye] has the bytes given at creation. Returns its number; PLX_PAIR_QUEUE_FULL if the reader holds
 * everything (LATEST only: this pair is lost); PLX_PAIR_QUEUE_STOPPED when MAKE must return. */
enum { PLX_PAIR_QUEUE_FULL = -1, PLX_PAIR_QUEUE_STOPPED = -2 };
int plx_pair_queue_begin_pair(struct plx_pair_queue *queue, void *ret_data[PLX_EYES]);

/* Hands EYE of pair NUMBER to the reader. RAW is a view of its data; CAPTURE gives the other fields. The left
 * eye goes first; both must go. */
void plx_pair_queue_publish(struct plx_pair_queue *queue, int number, enum plx_eye eye, const struct plx_raw *raw,
                            const struct plx_capture *capture);

/* Sleeps until DEADLINE_NS; false if MAKE must return. */
bool plx_pair_queue_sleep_until(struct plx_pair_queue *queue, int64_t deadline_ns);

#endif
