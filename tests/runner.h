/* SPDX-License-Identifier: Apache-2.0 */
/* The whole pipeline on pairs of 8-bit images, for tests that judge its results. */
#ifndef PLX_TESTS_RUNNER_H
#define PLX_TESTS_RUNNER_H

#include "core/pipeline/pipeline.h"
#include "drivers/synthetic/scene.h"

struct runner {
    struct plx_stages *stages; /* the caller's */
    struct plx_pipeline *pipeline;
    struct plx_frame *frame;        /* last pair, with its planes */
    struct plx_image raw[PLX_EYES]; /* U8, to be filled before each run */
};

/* Exits with a reason if something is wrong. */
void runner_create(struct plx_stages *stages, const struct plx_pipeline_params *params, int width, int height,
                   const struct plx_calibration_info *calibration, struct runner *ret_runner);
void runner_destroy(struct runner *runner);

/* The same for SCENE at D 64 on a CPU backend of its own, which the caller destroys; regions use the strict disparity, and
 * there is a dense one for records of stixels only. */
void runner_create_for_scene(const struct plx_scene *scene, enum plx_obstacle_method method, struct plx_stages **ret_stages,
                             struct runner *ret_runner);
/* Draws SCENE at TIME_S into runner->raw; noise depends on FRAME_INDEX. */
void runner_draw(struct runner *runner, const struct plx_scene *scene, double time_s, uint32_t frame_index);

/* Processes runner->raw into runner->frame; a negative plx_error on failure. */
int runner_run(struct runner *runner, int64_t capture_ns);

#endif
