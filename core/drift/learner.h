/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learns the drift of a calibration from matches and motion, and corrects it. What takes time runs in a thread of its own, of
 * ordinary priority: estimates, verdicts, new rectification maps, the caller's files. The thread of the frames hands it a copy
 * of the matches, and takes what it made between two later frames. It never waits, unless it is told to.
 */
#ifndef PLX_CORE_DRIFT_LEARNER_H
#define PLX_CORE_DRIFT_LEARNER_H

#include "core/base/text.h"
#include "core/drift/correction.h"
#include "core/geometry/calibration.h"

enum plx_correction_mode {
    PLX_CORRECTION_OFF,     /* nothing is corrected */
    PLX_CORRECTION_PROPOSE, /* what holds waits until somebody accepts it */
    PLX_CORRECTION_ROWS,    /* rows are corrected, columns proposed */
    PLX_CORRECTION_ALL
};

/* Why a correction is applied or proposed. */
struct plx_correction_evidence {
    bool applied;                        /* else proposed */
    bool gave_up;                        /* see plx_learner_gave_up */
    struct plx_correction before, after; /* in force until now; proposed or in force from now on */
    struct plx_drift_info drift;         /* of the matches, with BEFORE in force; rows_left: with AFTER */
    const struct plx_row_match *match;   /* [matches], [rows with BEFORE in force] */
    int matches;
    double focal_length; /* vertical, px */
};

/* What an earlier run or a command wants. */
struct plx_correction_order {
    uint32_t number; /* correction in force; 0: none */
    struct plx_correction correction;
    bool hold; /* what is learned is only proposed */
    bool off;  /* see plx_learner_gave_up */
};

/* Where corrections are kept; called by the learner's thread only. */
struct plx_correction_store {
    void *context;
    /* True if another correction than number ORDER->number shall be in force: sets both. Sets hold and off always. Called
     * several times a second. NULL: nobody wants any. */
    bool (*wanted)(void *context, struct plx_correction_order *order);
    /* Keeps EVIDENCE and returns its number, later than all before. Takes EVIDENCE->applied back if a command has changed what
     * is in force since it was decided: it is only proposed then. */
    uint32_t (*keep)(void *context, struct plx_correction_evidence *evidence);
};

struct plx_learner;

/* Without a store; results are taken at fixed frames then, for which these wait. NOMEM. */
int plx_learner_create(enum plx_correction_mode mode, const struct plx_stereo_calibration *calibration,
                       struct plx_learner **ret_learner);
void plx_learner_destroy(struct plx_learner *learner); /* NULL is fine; waits for the thread */

/* Before the first frame: uses STORE, and waits no more. The right picture's map if its correction is to be in force at once,
 * the learner's own until the next call; else NULL. */
const struct plx_remap *plx_learner_keep(struct plx_learner *learner, const struct plx_correction_store *store);

/* What was learned, for a later learner of the same calibration; its offset of disparities is not kept: motion begins anew. */
struct plx_learned {
    struct plx_row_drift drift;
    struct plx_correction_info state;
    uint32_t place;
    int since; /* matches since the last correction or proposal */
};

/* After a frame, without a store: what was learned, with the result of the estimate that is being made. */
void plx_learner_save(struct plx_learner *learner, struct plx_learned *ret_learned);

/* Before the only frame, without a store: looks at many places of it, and goes on from LEARNED (NULL: from nothing). The right
 * picture's map if a correction is in force, the learner's own until the next call; else NULL. */
const struct plx_remap *plx_learner_continue(struct plx_learner *learner, const struct plx_learned *learned);

/* How many places of this frame to look at, for struct plx_row_matches_find, and from which one on. */
int plx_learner_places(struct plx_learner *learner, int64_t capture_ns, uint32_t *ret_place);

/* Adds the COUNT matches of a frame. STEPS: of the motion up to this frame, which are read only now; NULL: none. */
void plx_learner_add(struct plx_learner *learner, const struct plx_row_match *match, int count,
                     const struct plx_motion_steps *steps);

/* The error of disparities of the calibration as in its file: what of it is sure enough for ego-motion to use, which the mode
 * does not ask, and the last estimate. 0: not known. */
void plx_learner_columns(const struct plx_learner *learner, struct plx_disparity_error *ret_used,
                         struct plx_disparity_error *ret_estimated);

/* The last estimate, less what was corrected since. */
const struct plx_drift_info *plx_learner_drift(const struct plx_learner *learner);
const struct plx_correction_info *plx_learner_correction(const struct plx_learner *learner);

/* Two corrections had to be taken back: what looks like drift is something else, and from now on it is only proposed, until
 * somebody accepts or takes back a correction; the store keeps that across runs. */
bool plx_learner_gave_up(const struct plx_learner *learner);

/* Before a frame: true if a new correction is in force from this frame on. *ret_map is the right picture's then, the learner's
 * own until the next call. */
bool plx_learner_take(struct plx_learner *learner, const struct plx_remap **ret_map);

#endif
