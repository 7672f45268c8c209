/* SPDX-License-Identifier: Apache-2.0 */
/* The worker of the corrections: a thread of ordinary priority that runs the learner's jobs beside the frames, makes the new
 * rectification maps, and keeps the corrections in a store. */
#ifndef PLX_APP_CORRECTIONS_WORKER_H
#define PLX_APP_CORRECTIONS_WORKER_H

#include "core/drift/learner.h"

/* Where corrections are kept. Called by the worker's thread only, but for the first call of WANTED, before the first frame. */
struct plx_correction_store {
    void *context;
    /* True if another correction than number ORDER->number shall be in force: sets both. Sets hold and off always. Called
     * several times a second. */
    bool (*wanted)(void *context, struct plx_correction_order *order);
    /* Keeps EVIDENCE and returns its number, later than all before. Takes EVIDENCE->applied back if a command has changed what
     * is in force since it was decided: it is only proposed then. */
    uint32_t (*keep)(void *context, struct plx_correction_evidence *evidence);
};

struct plx_worker;

/* For one pipeline of CALIBRATION, rectified. STORE's context must outlive the worker. NOMEM. */
int plx_worker_create(const struct plx_stereo_calibration *calibration, const struct plx_correction_store *store,
                      struct plx_worker **ret_worker);
void plx_worker_destroy(struct plx_worker *worker); /* NULL is fine; waits for the job that has begun */

/* For plx_pipeline_use_worker; WORKER must outlive the last frame. */
struct plx_correction_worker plx_worker_ops(struct plx_worker *worker);

#endif
