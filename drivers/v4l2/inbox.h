/* SPDX-License-Identifier: Apache-2.0 */
/* What waits between the thread of the cameras and the reader: a few pictures of each camera, news, and the terms. Thread-safe.
 */
#ifndef PLX_V4L2_INBOX_H
#define PLX_V4L2_INBOX_H

#include <pthread.h>

#include "core/source.h"

#define PLX_V4L2_WAITING 3 /* pictures of one camera; before the next comes, the oldest goes back */

struct plx_v4l2_inbox {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t reader;
    bool open;                        /* more may come */
    uint32_t health;                  /* to be told: what happened without a picture */
    struct plx_error_message message; /* of that */
    double rate_hz;                   /* the terms agreed with the cameras: 0 = they do not say */
    struct plx_error_message note;    /* and what differs from the wish, until it is read */
    int count;
    struct plx_capture ready[PLX_EYES * PLX_V4L2_WAITING]; /* oldest first; buffers are struct plx_v4l2_slot */
};

int plx_v4l2_inbox_init(struct plx_v4l2_inbox *inbox); /* NOMEM */
void plx_v4l2_inbox_finish(struct plx_v4l2_inbox *inbox);

void plx_v4l2_inbox_open(struct plx_v4l2_inbox *inbox);
void plx_v4l2_inbox_close(struct plx_v4l2_inbox *inbox); /* gives back what was not read */

/* For the cameras. TELL keeps MESSAGE as the sentence; AGREE adds NOTE to what was noted before. */
void plx_v4l2_inbox_put(struct plx_v4l2_inbox *inbox, const struct plx_capture *capture);
void plx_v4l2_inbox_tell(struct plx_v4l2_inbox *inbox, uint32_t health, const struct plx_error_message *message);
void plx_v4l2_inbox_agree(struct plx_v4l2_inbox *inbox, double rate_hz, const struct plx_error_message *note);

/* For the reader: the terms, NOTE only where it is new and has a text; and as `next` of a source. MESSAGE gets the sentence,
 * also of news. */
void plx_v4l2_inbox_terms(struct plx_v4l2_inbox *inbox, double *ret_rate_hz, struct plx_error_message *note);
int plx_v4l2_inbox_take(struct plx_v4l2_inbox *inbox, int64_t deadline_ns, struct plx_capture *ret_capture,
                        struct plx_error_message *message);

#endif
