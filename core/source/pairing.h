/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs left and right captures by their capture time. It calls no source: each result lists the captures that the caller must
 * release. The captures of one eye arrive in time order; either eye may be late or lose captures.
 */
#ifndef PLX_CORE_SOURCE_PAIRING_H
#define PLX_CORE_SOURCE_PAIRING_H

#include "core/source/source.h"

#define PLX_PAIRING_QUEUE 3  /* captures of one eye that wait for the other; a source gives PLX_SOURCE_MIN_PAIRS */
#define PLX_PAIRING_DESYNC 2 /* unpaired captures of both eyes in a row that are a fault */

struct plx_pairing {
    int64_t tolerance_ns; /* largest difference within a pair */
    int64_t drift_ns;     /* a pair with a larger difference is flagged DESYNC; TOLERANCE_NS, unless set after init */
    struct plx_capture waiting[PLX_PAIRING_QUEUE]; /* oldest first; of one eye only */
    int waiting_count;
    enum plx_eye waiting_eye;
    struct plx_pairing_eye {
        bool seen;
        int64_t last_ns;
        uint32_t last_sequence;
        uint64_t dropped;   /* missing from the camera's numbering */
        uint64_t unmatched; /* captures without a partner */
        int unmatched_run;  /* those since the last pair */
    } eye[PLX_EYES];
};

/* The result of one push. Every pushed capture is returned once: in a pair or in release. */
struct plx_pairing_result {
    bool paired;
    struct plx_capture pair[PLX_EYES];                 /* the caller's, to be released after use */
    struct plx_capture release[PLX_PAIRING_QUEUE + 1]; /* to be released now */
    int release_count;
    uint32_t health; /* DROPPED, DESYNC, TIMESTAMP of this push, and the flags of the captures */
};

/* A quarter of the period at RATE_HZ; 0 counts as 30 Hz. */
int64_t plx_pairing_default_tolerance_ns(double rate_hz);

/* TOLERANCE_NS > 0. */
void plx_pairing_init(struct plx_pairing *pairing, int64_t tolerance_ns);

/* Takes CAPTURE over. A side-by-side capture is a pair at once: the right side is a copy whose buffer is NULL, so that
 * releasing both sides releases the buffer once. A timestamp that does not increase is flagged, and waiting captures of that
 * eye are discarded: its clock may have been set back. ARG if CAPTURE holds no eye; it then stays the caller's. */
int plx_pairing_push(struct plx_pairing *pairing, const struct plx_capture *capture, struct plx_pairing_result *ret_result);

/* Discards all waiting captures (before a source is stopped or reopened), times and sequence numbers; counters stay. */
void plx_pairing_flush(struct plx_pairing *pairing, struct plx_pairing_result *ret_result);

#endif
