/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline on one backend with pairs of the demonstration scene, in any format: what frames are compared and timed on. */
#ifndef PLX_TESTS_PARITY_STAND_H
#define PLX_TESTS_PARITY_STAND_H

#include "core/pipeline.h"

#define STAND_PAIRS 3

struct stand_kind {
    int width, height;
    enum plx_format format;
    bool distorted; /* the lenses', so that rectification has work to do */
    struct plx_pipeline_params params;
    const char *pictures; /* a folder with left.pgm and right.pgm, at least that large; NULL: the scene */
};

struct stand {
    struct plx_stages *stages;
    struct plx_pipeline *pipeline;
    struct plx_frame *frame;
    uint32_t bytes; /* of the frame */
    struct plx_raw raw[STAND_PAIRS][PLX_EYES];
};

/* The limits that a backend for KIND needs. */
struct plx_limits stand_limits(const struct stand_kind *kind);

/* The calibration that its pictures are taken to have. Exits with 1 if that cannot be. */
void stand_calibration(const struct stand_kind *kind, struct plx_stereo_calibration *ret_calibration);

/* Renders the pairs and creates the pipeline on STAGES, which STAND destroys from now on. Exits with 1, saying why, if that
 * cannot be. */
void stand_open(struct plx_stages *stages, const struct stand_kind *kind, struct stand *ret_stand);
void stand_close(struct stand *stand);

/* Pair NUMBER through the pipeline into stand->frame, whose stage times are then cleared. Returns what the pipeline returned.
 */
int stand_run(struct stand *stand, int number);

#endif
