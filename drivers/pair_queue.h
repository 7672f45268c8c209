/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounded store between a thread that makes pictures and the thread that reads them. It holds a few pairs; the maker fills
 * one eye after the other, the reader takes them in that order. Buffers are allocated at creation.
 */
#ifndef PLX_DRIVERS_PAIR_QUEUE_H
#define PLX_DRIVERS_PAIR_QUEUE_H

#include "core/source.h"

struct plx_pair_queue;
struct plx_stages;

/* What the maker does when every pair of buffers is in use. */
enum plx_pair_queue_mode {
    PLX_PAIR_QUEUE_WAIT,      /* waits: nothing is lost */
    PLX_PAIR_QUEUE_LATEST,    /* takes back the oldest pair that was not read, as a camera does */
    PLX_PAIR_QUEUE_ON_DEMAND, /* does not even begin before the reader asks and finds nothing */
};

/* PAIRS pairs of buffers of BYTES each, from STAGES' alloc; STAGES must outlive the queue. NOMEM. */
int plx_pair_queue_create(struct plx_stages *stages, enum plx_pair_queue_mode mode, int pairs, size_t bytes,
                          struct plx_pair_queue **ret_queue);

/* Frees the feed of a stopped source; captures that are still with the reader end with it. NULL is fine. */
void plx_pair_queue_destroy(struct plx_pair_queue *queue);

/* What a source that is fed so begins with. MAKE fills its queue, in the feed's thread: it calls plx_pair_queue_begin_pair,
 * fills, and plx_pair_queue_publish, again and again, and returns when begin gives PLX_PAIR_QUEUE_STOPPED or when there is no
 * more. Its result, with a sentence in MESSAGE, is what the reader gets after the last picture. */
struct plx_queued_source {
    struct plx_source base;
    struct plx_pair_queue *queue;
    int (*make)(struct plx_queued_source *self, struct plx_error_message *message);
};

/* The ops of such sources; SOURCE is a struct plx_queued_source. Stop ends the thread and forgets what was not read. */
int plx_queued_source_start(struct plx_source *source, struct plx_error_message *message);
void plx_queued_source_stop(struct plx_source *source);
int plx_queued_source_next(struct plx_source *source, int64_t deadline_ns, struct plx_capture *ret_capture);
void plx_queued_source_release(struct plx_source *source, struct plx_capture *capture);

/* --- for MAKE --- */

/* A pair to fill: RET_DATA[eye] has the bytes given at creation. Returns its number, PLX_PAIR_QUEUE_FULL if the reader holds
 * everything (LATEST only: this picture is lost), PLX_PAIR_QUEUE_STOPPED when it is time to return. */
enum { PLX_PAIR_QUEUE_FULL = -1, PLX_PAIR_QUEUE_STOPPED = -2 };
int plx_pair_queue_begin_pair(struct plx_pair_queue *queue, void *ret_data[PLX_EYES]);

/* Hands EYE of pair NUMBER to the reader: IMAGE, U8 or U16, a view of its data, with the rest of CAPTURE as given. The left eye
 * goes first; both must go. */
void plx_pair_queue_publish(struct plx_pair_queue *queue, int number, enum plx_eye eye, const struct plx_image *image,
                            const struct plx_capture *capture);

/* Sleeps until DEADLINE_NS; false if it is time to return. */
bool plx_pair_queue_sleep_until(struct plx_pair_queue *queue, int64_t deadline_ns);

#endif
