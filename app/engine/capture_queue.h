/* SPDX-License-Identifier: Apache-2.0 */
/* The capture queue: takes captures from the source, pairs them, and keeps the newest pair and the health of the cameras. */
#ifndef PLX_APP_ENGINE_CAPTURE_QUEUE_H
#define PLX_APP_ENGINE_CAPTURE_QUEUE_H

#include <signal.h>

#include "core/base/period.h"
#include "core/source/pairing.h"

struct plx_capture_queue {
    struct plx_source *source;
    double rate_hz;            /* the source's rate at the last check */
    int64_t period_ns;         /* the source's period; 0 = as fast as possible */
    struct plx_period seen;    /* intervals of the pairs that were taken, the source's own period first */
    int64_t taken_ns;          /* capture time of the last pair that was taken; 0 = none */
    int64_t tolerance_ns;      /* a pair's tolerance, as configured; 0 = a quarter of the period */
    int64_t seen_ns[PLX_EYES]; /* time of each eye's last picture */
    struct plx_pairing pairing;
    struct plx_capture pair[PLX_EYES]; /* the newest pair; a NULL buffer needs no release */
    uint32_t health;                   /* from source and pairing since the last frame; the publisher clears it */
    uint32_t lost_cameras;             /* cameras that the source has lost and looks for, as flags, until the next pair */
    bool old;                          /* the last pair was dropped for its age */
    uint64_t skipped;                  /* whole pairs, since the start; also those that were too old */
};

/* SOURCE, not started yet, stays the caller's. TOLERANCE_NS of a pair, 0 = a quarter of the period. */
void plx_capture_queue_init(struct plx_capture_queue *queue, struct plx_source *source, int64_t tolerance_ns);

/* The source has been started: the silence of its cameras counts from now on. */
void plx_capture_queue_start(struct plx_capture_queue *queue);

/* Waits for the next pair, after the last one was released. If several are there, takes the newest and skips the others; a
 * source without a rate skips none. Ends early if *STOP is set. TIMEOUT, or the error that ended the source. */
int plx_capture_queue_next(struct plx_capture_queue *queue, const volatile sig_atomic_t *stop);

/* How old a pair may be that a robot acts by, from its capture on (plx_budget_fresh_ns); 0 if capture times are not those of a
 * clock, because the source gives pairs as fast as they are taken. */
int64_t plx_capture_queue_fresh_ns(const struct plx_capture_queue *queue);

/* Returns the present pair to the source; fine if there is none. */
void plx_capture_queue_release(struct plx_capture_queue *queue);

/* Cameras without a picture for longer than the health table allows, as flags. */
uint32_t plx_capture_queue_silent_eyes(const struct plx_capture_queue *queue);

#endif
