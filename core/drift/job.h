/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job of the learner (core/drift/learner.h): estimates, verdicts and decisions on corrections, from a copy of the matches,
 * the steps and the state. Plain data and pure functions, without thread, clock or file: the same job always has the same
 * result.
 */
#ifndef PLX_CORE_DRIFT_JOB_H
#define PLX_CORE_DRIFT_JOB_H

#include "core/drift/correction.h"
#include "core/geometry/calibration.h"

enum plx_correction_mode {
    PLX_CORRECTION_OFF,     /* nothing is corrected */
    PLX_CORRECTION_PROPOSE, /* what holds waits until somebody accepts it */
    PLX_CORRECTION_ROWS,    /* rows are corrected, disparities proposed */
    PLX_CORRECTION_ALL
};

/* Why a correction is applied or proposed. */
struct plx_correction_evidence {
    bool applied;                        /* else proposed */
    bool gave_up;                        /* see plx_learner_gave_up */
    struct plx_correction before, after; /* in force until now; proposed or in force from now on */
    struct plx_drift_info drift;         /* what matches show with BEFORE in force; residual_px: with AFTER */
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

/* What a job leaves to the next one. */
struct plx_drift_memory {
    struct plx_correction change; /* what the last correction of the rows has changed */
    int taken_back;               /* how often a correction undid half or more of the one before */
    bool refines;                 /* the correction of the disparities in force is from few steps, or from wrong rows */
    struct plx_disparity_drift disparities; /* the last estimate that holds */
};

struct plx_drift_job {
    enum plx_correction_mode mode;
    struct plx_calibration_info calibration;
    int width, height; /* size of the rectified image */
    struct plx_row_drift drift;
    struct plx_disparity_error used;  /* by motion, whatever is in force */
    struct plx_correction_info state; /* in force, and proposed */
    struct plx_drift_memory memory;
    struct plx_correction_order order; /* the learner orders what is in force already; a worker may overwrite it */
    bool is_ordered;                   /* ORDER is another correction than the one in force */
    bool gave_up;
    int since;      /* matches since the last correction or proposal */
    bool has_steps; /* else the disparities are not estimated anew */
    struct plx_motion_steps steps;
};

/* In the order in which they are settled. */
enum plx_drift_decision { PLX_DECIDES_ROWS, PLX_DECIDES_DISPARITIES, PLX_DECIDES_PROPOSAL, PLX_DECISIONS };

struct plx_drift_result {
    struct plx_row_drift drift; /* as in the job, with the new estimate */
    bool has_disparities;       /* memory.disparities is new */
    struct plx_disparity_error used;
    struct plx_correction_info state;
    struct plx_drift_memory memory;
    bool forget;  /* a camera was bumped: only the newest matches count */
    bool changed; /* another correction is in force */
    bool gave_up;
    int since;
    double side; /* x^2 at the farther side of the right image */

    bool is_decided[PLX_DECISIONS], decides_rows; /* DECIDES_ROWS: also if they are only proposed */
    struct plx_correction after[PLX_DECISIONS];
    enum plx_drift_decision next; /* to be settled */

    const struct plx_remap *map; /* for the right image if CHANGED: whoever runs the job fills and owns it */
};

/* Makes *ret_result of JOB, all but the map. Takes milliseconds; allocates nothing. Its decisions are then to be settled. */
void plx_drift_job_run(const struct plx_drift_job *job, struct plx_drift_result *ret_result);

/* True while a decision is to be settled: *ret_evidence is about it. Points into RESULT. */
bool plx_drift_result_next(struct plx_drift_result *result, struct plx_correction_evidence *ret_evidence);

/* The decision has NUMBER, and is in force if IS_APPLIED, else proposed. */
void plx_drift_result_settle(struct plx_drift_result *result, bool is_applied, uint32_t number);

/* Settles all decisions as they were made, with the numbers that follow: where nobody keeps corrections. */
void plx_drift_result_settle_all(struct plx_drift_result *result);

/* Puts what ESTIMATE says of the disparities, less what APPLIED corrects, into INFO. SIDE: as in the result. */
void plx_drift_info_set_disparities(struct plx_drift_info *info, const struct plx_disparity_estimate *estimate,
                                    const struct plx_correction *applied, double side);

#endif
