/* SPDX-License-Identifier: Apache-2.0 */
/* The demonstration scene as raw pairs in memory of a backend, and a pipeline on them. */
#ifndef PLX_TESTS_TARGET_SCENE_PAIRS_H
#define PLX_TESTS_TARGET_SCENE_PAIRS_H

#include "core/pipeline.h"
#include "tests/target/check.h"

#define SCENE_PAIRS 4
#define SCENE_PERIOD_NS INT64_C(100000000)

struct scene_pairs {
    struct plx_stages *stages;
    struct plx_pipeline *pipeline;
    struct plx_frame *frame;
    uint32_t frame_bytes;
    struct plx_raw raw[SCENE_PAIRS][PLX_EYES];
};

/* Backend, pictures (SCENE_PERIOD_NS apart, seed 1), pipeline and frame. False if that cannot be, with OUTCOME saying why; it
 * is then closed. */
bool scene_pairs_open(enum plx_backend_kind kind, int width, int height, const struct plx_pipeline_params *params,
                      struct scene_pairs *ret, struct check_outcome *outcome);
void scene_pairs_close(struct scene_pairs *pairs);

/* Pair NUMBER through the pipeline into pairs->frame; false on an error, which OUTCOME says. */
bool scene_pairs_run(struct scene_pairs *pairs, int number, struct check_outcome *outcome);

#endif
