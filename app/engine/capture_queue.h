/* SPDX-License-Identifier: Apache-2.0 */
/* Taking pairs from the source: the newest one, and what was seen of the cameras meanwhile. */
#ifndef PLX_APP_ENGINE_CAPTURE_QUEUE_H
#define PLX_APP_ENGINE_CAPTURE_QUEUE_H

#include <signal.h>

#include "core/pairing.h"

struct plx_capture_queue {
    struct plx_source *source;
    double rate_hz;            /* the source's, as last seen */
    int64_t period_ns;         /* of that; 0 = as fast as possible */
    int64_t tolerance_ns;      /* of a pair, as configured; 0 = a quarter of the period */
    int64_t seen_ns[PLX_EYES]; /* when each eye gave its last picture */
    struct plx_pairing pairing;
    struct plx_capture pair[PLX_EYES]; /* the newest; a buffer of NULL needs no release */
    uint32_t health;                   /* seen by source and pairing; who publishes it clears it */
    uint32_t away;                     /* cameras that the source has lost and looks for, as flags; until the next pair */
    uint64_t skipped;                  /* whole pairs, since the start */
};

/* SOURCE, not started yet, stays the caller's. TOLERANCE_NS of a pair, 0 = a quarter of the period. */
void plx_capture_queue_init(struct plx_capture_queue *queue, struct plx_source *source, int64_t tolerance_ns);

/* The source has been started: from now on its cameras may be silent. */
void plx_capture_queue_start(struct plx_capture_queue *queue);

/* Waits for the next pair, after the last one was released. If several have come, takes the newest and skips the others; from
 * a source without a rate of its own nothing is skipped. Ends early where *STOP is set. TIMEOUT, or what ended the source. */
int plx_capture_queue_next(struct plx_capture_queue *queue, const volatile sig_atomic_t *stop);

/* Gives the pair that was taken back to the source; fine if there is none. */
void plx_capture_queue_release(struct plx_capture_queue *queue);

/* Cameras that have given no picture for longer than the health table allows, as flags. */
uint32_t plx_capture_queue_silent_eyes(const struct plx_capture_queue *queue);

#endif
