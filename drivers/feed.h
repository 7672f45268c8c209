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

/* Frees the feed of a stopped source; captures that are still with the reader end with it. NULL is fine. */
void plx_feed_destroy(struct plx_feed *feed);

/* What a source that is fed so begins with. MAKE fills its feed, in the feed's thread: it calls plx_feed_begin, fills, and
 * plx_feed_publish, again and again, and returns when begin gives PLX_FEED_STOPPED or when there is no more. Its result, with a
 * sentence in MESSAGE, is what the reader gets after the last picture. */
struct plx_fed_source {
    struct plx_source base;
    struct plx_feed *feed;
    int (*make)(struct plx_fed_source *self, struct plx_error_message *message);
};

/* The ops of such sources; SOURCE is a struct plx_fed_source. Stop ends the thread and forgets what was not read. */
int plx_fed_start(struct plx_source *source, struct plx_error_message *message);
void plx_fed_stop(struct plx_source *source);
int plx_fed_next(struct plx_source *source, int64_t deadline_ns, struct plx_capture *ret_capture);
void plx_fed_release(struct plx_source *source, struct plx_capture *capture);

/* --- for MAKE --- */

/* A pair to fill: RET_DATA[eye] has the bytes given at creation. Returns its number, PLX_FEED_FULL if the reader holds
 * everything (LATEST only: this picture is lost), PLX_FEED_STOPPED when it is time to return. */
enum { PLX_FEED_FULL = -1, PLX_FEED_STOPPED = -2 };
int plx_feed_begin(struct plx_feed *feed, void *ret_data[PLX_EYES]);

/* Hands EYE of pair NUMBER to the reader: IMAGE, U8 or U16, a view of its data, with the rest of CAPTURE as given. The left eye
 * goes first; both must go. */
void plx_feed_publish(struct plx_feed *feed, int number, enum plx_eye eye, const struct plx_image *image,
                      const struct plx_capture *capture);

/* Sleeps until DEADLINE_NS; false if it is time to return. */
bool plx_feed_sleep_until(struct plx_feed *feed, int64_t deadline_ns);

#endif
