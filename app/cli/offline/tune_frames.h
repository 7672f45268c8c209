/* SPDX-License-Identifier: Apache-2.0 */
/* Times of whole frames with each GPU schedule, for `parallax tune`. */
#ifndef PLX_APP_CLI_OFFLINE_TUNE_FRAMES_H
#define PLX_APP_CLI_OFFLINE_TUNE_FRAMES_H

#include <stdbool.h>

#include "app/selftest/fixture.h"
#include "gpu/gpu.h"

#define PLX_TUNE_TURNS 15
#define PLX_TUNE_FRAMES (PLX_TUNE_TURNS * FIXTURE_PAIRS) /* frames that are timed with each schedule */

struct plx_tune_time {
    bool runs;               /* false: the GPU takes another schedule instead, and there are no times */
    double frame_ms, sgm_ms; /* medians: the whole frame, with all waiting; stage sgm within it */
};

/*
 * Processes frames of FIXTURE, a new one of KIND on the GPU backend, with each schedule in turn, so that a load or a clock that
 * changes meanwhile meets all of them. No correction of the calibration begins meanwhile: in the service a thread of its own
 * computes it. Takes seconds. Then the backend chooses by itself again. NOMEM, LOST; MESSAGE says where.
 */
int plx_tune_frames(struct fixture *fixture, const struct fixture_kind *kind, struct plx_tune_time ret_time[PLX_GPU_SCHEDULES],
                    struct plx_error_message *message);

/* The schedule with the least time of a whole frame; -1 if none runs. */
int plx_tune_fastest(const struct plx_tune_time time[PLX_GPU_SCHEDULES]);

#endif
