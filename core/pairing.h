/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins left and right captures into pairs by their capture time. Plain data: it keeps captures, calls nobody, and tells the
 * caller which ones to release. Within one eye captures come in order of time; either eye may come late or lose some.
 */
#ifndef PLX_CORE_PAIRING_H
#define PLX_CORE_PAIRING_H

#include "core/source.h"

#define PLX_PAIRING_QUEUE 3  /* captures of one eye that wait for the other; a source gives PLX_SOURCE_MIN_PAIRS */
#define PLX_PAIRING_DESYNC 2 /* captures of each eye that find no partner, in a row, before this counts as a fault */

struct plx_pairing {
    int64_t tolerance_ns; /* largest difference within a pair */
    int64_t drift_ns;     /* a pair with a larger one is DESYNC all the same; as TOLERANCE_NS, unless set after init */
    struct plx_capture waiting[PLX_PAIRING_QUEUE]; /* oldest first, all of one eye: as soon as both had one, one had to go */
    int waiting_count;
    enum plx_eye waiting_eye;
    struct plx_pairing_eye {
        bool seen;
        int64_t last_ns;
        uint32_t last_sequence;
        uint64_t dropped;   /* missing from the camera's numbering */
        uint64_t unmatched; /* captures that found no partner */
        int unmatched_run;  /* of those, since the last pair */
    } eye[PLX_EYES];
};

/* What one push gave. Every capture that was pushed comes out once: in a pair or in release. */
struct plx_pairing_result {
    bool paired;
    struct plx_capture pair[PLX_EYES];                 /* the caller's, to be released after use */
    struct plx_capture release[PLX_PAIRING_QUEUE + 1]; /* to be released now */
    int release_count;
    uint32_t health; /* DROPPED, DESYNC, TIMESTAMP, as seen at this push, and what the captures themselves carried */
};

/* A quarter of the period at RATE_HZ (of 30 Hz where that is 0). */
int64_t plx_pairing_default_tolerance_ns(double rate_hz);

/* TOLERANCE_NS > 0. */
void plx_pairing_init(struct plx_pairing *pairing, int64_t tolerance_ns);

/* Takes CAPTURE over. A side-by-side capture passes straight through: the pair's right side is a copy whose buffer is NULL, so
 * that releasing both sides releases it once. A timestamp that does not increase is flagged, and what waited of that eye is
 * given up: its clock may have been set back. ARG if it holds no eye; it then stays the caller's. */
int plx_pairing_push(struct plx_pairing *pairing, const struct plx_capture *capture, struct plx_pairing_result *ret_result);

/* Gives up all that waits (before a source is stopped or reopened) and forgets times and numbers; counts stay. */
void plx_pairing_flush(struct plx_pairing *pairing, struct plx_pairing_result *ret_result);

#endif
