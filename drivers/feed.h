/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounded store between a thread that makes pictures and the thread that reads them. It holds a few pairs; the maker fills
 * one eye after the other, the reader takes them in that order. Buffers are allocated at creation.
 */
#ifndef PLX_DRIVERS_FEED_H
#define PLX_DRIVERS_FEED_H

#include "core/source.h"

struct plx_feed;
struct plx_stages;

/* What the maker does when every pair of buffers is in use. */
enum plx_feed_mode {
    PLX_FEED_WAIT,      /* waits: nothing is lost */
    PLX_FEED_LATEST,    /* takes back the oldest pair that was not read, as a camera does */
    PLX_FEED_ON_DEMAND, /* does not even begin before the reader asks and finds nothing */
};

/* PAIRS pairs of buffers of BYTES each, from STAGES' alloc; STAGES must outlive the feed. NOMEM. */
int plx_feed_create(struct plx_stages *stages, enum plx_feed_mode mode, int pairs, size_t bytes, struct plx_feed **ret_feed);

/* Stops, then frees; captures that are still with the reader end with it. NULL is fine. */
void plx_feed_destroy(struct plx_feed *feed);

/* Starts MAKE(ARGUMENT) in a thread; it calls plx_feed_begin, fills, plx_feed_publish, and returns when begin gives NULL or
 * when there is no more. Its result is what the reader gets after the last picture; with a sentence in WHY. NOMEM. */
int plx_feed_start(struct plx_feed *feed, int (*make)(void *argument, struct plx_why *why), void *argument);

/* Ends the thread and forgets what was not read. */
void plx_feed_stop(struct plx_feed *feed);

/* --- the maker's side --- */

/* A pair to fill: RET_DATA[eye] has the bytes given at creation. Returns its number, PLX_FEED_FULL if the reader holds
 * everything (LATEST only: this picture is lost), PLX_FEED_STOPPED when it is time to return. */
enum { PLX_FEED_FULL = -1, PLX_FEED_STOPPED = -2 };
int plx_feed_begin(struct plx_feed *feed, void *ret_data[PLX_EYES]);

/* Hands EYE of pair NUMBER to the reader. The left eye goes first; both must go. */
void plx_feed_publish(struct plx_feed *feed, int number, enum plx_eye eye, const struct plx_capture *capture);

/* Sleeps until DEADLINE_NS; false if it is time to return. */
bool plx_feed_sleep_until(struct plx_feed *feed, int64_t deadline_ns);

/* --- the reader's side: as the source's ops of the same names --- */

int plx_feed_next(struct plx_feed *feed, int64_t deadline_ns, struct plx_capture *ret_capture, struct plx_why *why);
void plx_feed_release(struct plx_feed *feed, struct plx_capture *capture);

#endif
