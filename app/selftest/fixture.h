/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline on one backend with pairs of the demonstration scene, in any format: what frames are compared and timed on. */
#ifndef PLX_APP_SELFTEST_FIXTURE_H
#define PLX_APP_SELFTEST_FIXTURE_H

#include "app/selftest/check.h"
#include "core/pipeline/pipeline.h"

#define FIXTURE_PAIRS 4

struct fixture_kind {
    int width, height;
    enum plx_format format;
    bool distorted; /* the lenses', so that rectification has work to do */
    struct plx_pipeline_params params;
    const struct plx_image *pictures; /* left and right, U8 and at least as large; NULL: the scene */
};

struct fixture {
    struct plx_stages *stages;
    struct plx_pipeline *pipeline;
    struct plx_frame *frame;
    uint32_t bytes; /* of the frame */
    struct plx_raw raw[FIXTURE_PAIRS][PLX_EYES];
};

/* The limits that a backend for KIND needs. */
struct plx_limits fixture_limits(const struct fixture_kind *kind);

/* The calibration that its pictures are taken to have. Returns 0, or a negative plx_error with the reason. */
int fixture_calibration(const struct fixture_kind *kind, struct plx_stereo_calibration *ret_calibration,
                        struct plx_error_message *message);

/* Renders the pairs (100 ms apart, seed 1) and creates the pipeline on STAGES, which RET_FIXTURE destroys from now on. Returns
 * 0; or a negative plx_error with the reason, and everything is closed, STAGES too. */
int fixture_open(struct plx_stages *stages, const struct fixture_kind *kind, struct fixture *ret_fixture,
                 struct plx_error_message *message);
void fixture_close(struct fixture *fixture);

/* Pair NUMBER through the pipeline into fixture->frame, whose stage times are then cleared. Returns what the pipeline returned.
 */
int fixture_run(struct fixture *fixture, int number);

/* --- for checks: OUTCOME says what went wrong, and false is returned --- */

/* Grey pairs of an ideal camera, on a new backend. */
bool fixture_open_check(enum plx_backend_kind backend, int width, int height, const struct plx_pipeline_params *params,
                        struct fixture *ret_fixture, struct check_outcome *outcome);
bool fixture_run_check(struct fixture *fixture, int number, struct check_outcome *outcome);

#endif
