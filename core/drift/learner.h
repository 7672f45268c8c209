/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learns the drift of a calibration from matches and motion, and corrects it. What takes time is a job (core/drift/job.h) on a
 * copy of the matches: a worker runs it beside the frames, which never wait for it. Without a worker the thread of the frames
 * runs it, and the same pictures always give the same frames.
 */
#ifndef PLX_CORE_DRIFT_LEARNER_H
#define PLX_CORE_DRIFT_LEARNER_H

#include "core/drift/job.h"

/* Runs jobs beside the frames. Called by the thread of the frames; but for WANTED, nothing blocks or allocates. */
struct plx_correction_worker {
    void *context;
    /* Before the first frame: as in struct plx_correction_store (app/corrections/worker.h). May read files. */
    bool (*wanted)(void *context, struct plx_correction_order *order);
    /* Copies JOB and begins it. False if it takes none now. */
    bool (*ask)(void *context, const struct plx_drift_job *job);
    /* The result of the last job, once, with its map if the correction changed: the worker's own until the next ask. NULL: the
     * job is not done. */
    const struct plx_drift_result *(*take)(void *context);
};

struct plx_learner;

/* Without a worker: a job is run in the call that takes its result, a fixed number of frames after it began. NOMEM. */
int plx_learner_create(enum plx_correction_mode mode, const struct plx_stereo_calibration *calibration,
                       struct plx_learner **ret_learner);
void plx_learner_destroy(struct plx_learner *learner); /* NULL is fine */

/* Before the first frame: WORKER runs the jobs, and must outlive the last frame. The right image's map if the correction that
 * it wants is to be in force at once, the learner's own until the next call; else NULL. */
const struct plx_remap *plx_learner_use_worker(struct plx_learner *learner, const struct plx_correction_worker *worker);

/* What was learned, for a later learner of the same calibration; its offset of disparities is not kept: motion begins anew. */
struct plx_learned {
    struct plx_row_drift drift;
    struct plx_correction_info state;
    uint32_t place;
    int since; /* matches since the last correction or proposal */
};

/* After a frame, without a worker: what was learned, with the result of the job that has begun. */
void plx_learner_save(struct plx_learner *learner, struct plx_learned *ret_learned);

/* Before the only frame, without a worker: looks at many places of it, and goes on from LEARNED (NULL: from nothing). The right
 * image's map if a correction is in force, the learner's own until the next call; else NULL. */
const struct plx_remap *plx_learner_continue(struct plx_learner *learner, const struct plx_learned *learned);

/* How many places of this frame to look at, for struct plx_row_matches_find, and from which one on. */
int plx_learner_places(struct plx_learner *learner, int64_t capture_ns, uint32_t *ret_place);

/* Adds the COUNT matches of a frame. STEPS: of the motion up to this frame, which are read only now; NULL: none. */
void plx_learner_add(struct plx_learner *learner, const struct plx_row_match *match, int count,
                     const struct plx_motion_steps *steps);

/* The error of disparities of the calibration as in its file: what of it is sure enough for ego-motion to use, which the mode
 * does not ask, and the last estimate. 0: not known. */
void plx_learner_disparity_errors(const struct plx_learner *learner, struct plx_disparity_error *ret_used,
                                  struct plx_disparity_error *ret_estimated);

/* The last estimate, less what was corrected since. */
const struct plx_drift_info *plx_learner_drift(const struct plx_learner *learner);
const struct plx_correction_info *plx_learner_correction(const struct plx_learner *learner);

/* Two corrections had to be taken back: what looks like drift is something else, and from now on it is only proposed, until
 * somebody accepts or takes back a correction; the history keeps that across runs. */
bool plx_learner_gave_up(const struct plx_learner *learner);

/* Before a frame: true if a new correction is in force from this frame on. *ret_map is the right image's then, until
 * the next call of plx_learner_add. */
bool plx_learner_take(struct plx_learner *learner, const struct plx_remap **ret_map);

#endif
