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
    struct plx_capture pair[PLX_EYES]; /* that was taken; a buffer of NULL needs no release */
    struct plx_capture next[PLX_EYES]; /* the newest after it, if it has come */
    uint32_t health;                   /* seen by source and pairing; who publishes it clears it */
    uint32_t away;                     /* cameras that the source has lost and looks for, as flags; until the next pair */
    uint64_t skipped;                  /* whole pairs, since the start */
};

/* SOURCE, not started yet, stays the caller's. TOLERANCE_NS of a pair, 0 = a quarter of the period. */
void plx_capture_queue_init(struct plx_capture_queue *intake, struct plx_source *source, int64_t tolerance_ns);

/* The source has been started: from now on its cameras may be silent. */
void plx_capture_queue_start(struct plx_capture_queue *intake);

/* Waits for a pair and takes it, when the one before was released; of several that have come the newest, the others are
 * skipped. A source without a rate of its own is never skipped. Ends early where *STOP is set. TIMEOUT, or why there will be no
 * more. */
int plx_capture_queue_next(struct plx_capture_queue *intake, const volatile sig_atomic_t *stop);

/* Without waiting: the pair [PLX_EYES] that the next call of next will take unless a newer one comes until then; NULL if none
 * has come. It stays the intake's, until that call. */
struct plx_capture *plx_capture_queue_peek(struct plx_capture_queue *intake, const volatile sig_atomic_t *stop);

/* Gives the pair that was taken back to the source; fine if there is none. */
void plx_capture_queue_release(struct plx_capture_queue *intake);

/* Gives back all pairs, at the end. */
void plx_capture_queue_close(struct plx_capture_queue *intake);

/* Cameras that have given no picture for longer than the health table allows, as flags. */
uint32_t plx_capture_queue_silent_eyes(const struct plx_capture_queue *intake);

#endif
