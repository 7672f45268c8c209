/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline on one backend with pairs of the demonstration scene, in any format, for checks that compare or time frames. */
#ifndef PLX_APP_SELFTEST_FIXTURE_H
#define PLX_APP_SELFTEST_FIXTURE_H

#include "app/selftest/check.h"
#include "core/pipeline/pipeline.h"

#define FIXTURE_PAIRS 4

struct fixture_kind {
    int width, height;
    enum plx_format format;
    bool distorted; /* a calibration with lens distortion, so that rectification resamples */
    struct plx_pipeline_params params;
    const struct plx_image *images; /* left and right, U8 and at least as large; NULL: the scene is drawn */
};

struct fixture {
    struct plx_stages *stages;
    struct plx_pipeline *pipeline;
    struct plx_frame *frame;
    uint32_t bytes; /* size of the frame */
    struct plx_raw raw[FIXTURE_PAIRS][PLX_EYES];
    uint32_t stage_us[PLX_STAGE_COUNT]; /* times of the newest frame */
};

/* The limits that a backend for KIND needs. */
struct plx_limits fixture_limits(const struct fixture_kind *kind);

/* The calibration that the pipeline for KIND uses. Returns 0, or a negative plx_error with the reason. */
int fixture_calibration(const struct fixture_kind *kind, struct plx_stereo_calibration *ret_calibration,
                        struct plx_error_message *message);

/* Renders the pairs (100 ms apart, seed 1) and creates the pipeline on STAGES, which fixture_close destroys. Returns
 * 0; or a negative plx_error with the reason: STAGES is then destroyed too. */
int fixture_open(struct plx_stages *stages, const struct fixture_kind *kind, struct fixture *ret_fixture,
                 struct plx_error_message *message);
void fixture_close(struct fixture *fixture);

/* Processes pair NUMBER % FIXTURE_PAIRS into fixture->frame and moves its stage times, which differ from run to run. Returns
 * the pipeline's result. */
int fixture_run(struct fixture *fixture, int number);

/* --- for checks: after an error both set OUTCOME and return false --- */

/* Grey pairs of an ideal camera, on a new backend. */
bool fixture_open_check(enum plx_backend_kind backend, int width, int height, const struct plx_pipeline_params *params,
                        struct fixture *ret_fixture, struct check_outcome *outcome);
bool fixture_run_check(struct fixture *fixture, int number, struct check_outcome *outcome);

#endif
