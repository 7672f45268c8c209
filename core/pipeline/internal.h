/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a pipeline, which create.c makes, and of the frame that its steps compute. */
#ifndef PLX_CORE_PIPELINE_INTERNAL_H
#define PLX_CORE_PIPELINE_INTERNAL_H

#include "core/checks/alignment.h"
#include "core/checks/mount_check.h"
#include "core/checks/picture_check.h"
#include "core/colour/white_balance.h"
#include "core/drift/learner.h"
#include "core/drift/skew.h"
#include "core/ground/columns.h"
#include "core/ground/history.h"
#include "core/ground/obstacles.h"
#include "core/ground/segments.h"
#include "core/motion/corners.h"
#include "core/motion/motion.h"
#include "core/pipeline/pipeline.h"
#include "core/pipeline/plan.h"
#include "core/pipeline/stages.h"
#include "core/verdict/speed.h"

#define PLX_PIPELINE_BUFFERS 48
#define PLX_BUFFER_ALIGNMENT 256 /* bytes, as ops->alloc */

/* One frame while it is computed. */
struct plx_frame_context {
    struct plx_pipeline *pipeline;
    struct plx_stages *stages;                /* the pipeline's, */
    const struct plx_stages_ops *ops;         /* their calls */
    const struct plx_pipeline_params *params; /* and its parameters */
    const struct plx_raw *raw;                /* [PLX_EYES] */
    int64_t capture_ns;                       /* capture time of the left picture */
    struct plx_frame *frame;
    struct plx_image image[PLX_IMAGES]; /* where stages read and write; no data: not in this frame */
    struct plx_image seen[PLX_IMAGES];  /* the same where the CPU does */
};

/* What stages find in a frame beside its planes, in shared memory. Each array has the alignment of a buffer of its own. */
struct plx_results {
    _Alignas(PLX_BUFFER_ALIGNMENT) struct plx_region regions[PLX_MAX_OBSTACLES];
    _Alignas(PLX_BUFFER_ALIGNMENT) uint32_t region_count;
    _Alignas(PLX_BUFFER_ALIGNMENT) struct plx_ground_prior prior;      /* written before the frame, for its stage ground */
    _Alignas(PLX_BUFFER_ALIGNMENT) struct plx_predictions predictions; /* likewise, for its stage segments */
    _Alignas(PLX_BUFFER_ALIGNMENT) struct plx_flow_job flow;           /* likewise, for its stages pyramid and flow */
    _Alignas(PLX_BUFFER_ALIGNMENT) struct plx_flow_found found[PLX_MAX_CORNERS]; /* by another search in the same frame */
    _Alignas(PLX_BUFFER_ALIGNMENT) struct plx_template_match match[PLX_ALIGNMENT_MATCHES];
    _Alignas(PLX_BUFFER_ALIGNMENT) uint32_t masked[PLX_EYES];
};

struct plx_pipeline {
    struct plx_stages *stages;
    struct plx_pipeline_params params;
    struct plx_calibration_info calibration;
    bool raw;          /* frames without a calibration: pictures and histograms only */
    int width, height; /* size of the frame's images */
    struct plx_plane plane[PLX_PLANE_COUNT];
    uint32_t bytes;

    bool identity[PLX_EYES]; /* published as captured: convert writes where rectify would */
    struct plx_remap map[PLX_EYES];
    struct plx_filter filter;
    struct plx_white_balance white_balance;
    struct plx_development development;
    struct plx_ground_params ground_params;
    struct plx_motion *motion;                /* NULL: switched off */
    struct plx_columns_params columns_params; /* with those of the mask */
    struct plx_segments_params segments_params;
    float blind_within_m; /* as in struct plx_frame */
    struct plx_error_info errors;
    struct plx_ground_history ground_history;
    struct plx_tracks *tracks;
    struct plx_local_map *local_map; /* NULL: switched off */
    struct plx_zones *zones;         /* NULL: there are none */
    struct plx_speed speed;

    struct plx_plan plan;
    struct plx_image image[PLX_IMAGES]; /* as in struct plx_frame_context; of planes in the frame the view without data */
    struct plx_image seen[PLX_IMAGES];
    void *device_planes; /* where stages write planes, laid out as the frame; NULL: in the frame itself */
    struct plx_results *results;

    int checked_pairs; /* by the three checks that follow, up to as many as they need */
    struct plx_frozen_check frozen[PLX_EYES];
    struct plx_brightness_check brightness;
    struct plx_sharpness_check sharpness;
    struct plx_alignment alignment;
    struct plx_mount_check mount_check;
    int64_t skew_ns; /* the next pair's right capture time minus left */
    struct plx_skew skew;
    struct plx_learner *learner; /* NULL for raw frames */

    void *buffer[PLX_PIPELINE_BUFFERS]; /* everything above that ops->alloc gave */
    int buffers;
};

/* steps_cpu.c: the steps that run on the CPU with every backend. They return 0, but for those that call the backend:
 * correction writes local memory, motion may search again. */
int plx_step_correction(const struct plx_step *step, void *context);
int plx_step_ground_prior(const struct plx_step *step, void *context);
int plx_step_develop(const struct plx_step *step, void *context);
int plx_step_white_balance(const struct plx_step *step, void *context);
int plx_step_predict(const struct plx_step *step, void *context);
int plx_step_expect_corners(const struct plx_step *step, void *context);
int plx_step_check_pictures(const struct plx_step *step, void *context);
int plx_step_check_sharpness(const struct plx_step *step, void *context);
int plx_step_motion(const struct plx_step *step, void *context);
int plx_step_geometry(const struct plx_step *step, void *context);
int plx_step_obstacles(const struct plx_step *step, void *context);
int plx_step_tracks(const struct plx_step *step, void *context);
int plx_step_alignment(const struct plx_step *step, void *context);
int plx_step_drift(const struct plx_step *step, void *context);
int plx_step_mount(const struct plx_step *step, void *context);
int plx_step_blindness(const struct plx_step *step, void *context);
int plx_step_map(const struct plx_step *step, void *context);
int plx_step_zones(const struct plx_step *step, void *context);

/* Puts MADE in force as the map of the right images. The error of the backend. */
int plx_pipeline_write_map(struct plx_pipeline *pipeline, const struct plx_remap *made);

/* Both pyramids of the left image, where stages find them. */
void plx_pipeline_pyramids(const struct plx_frame_context *context, struct plx_pyramid ret[2]);

/* One eye's rows of an image that has those of the left one above those of the right one. */
static inline struct plx_image plx_eye_rows(const struct plx_image *both, int eye)
{
    struct plx_image rows = *both;
    rows.height /= PLX_EYES;
    rows.data = plx_row(&rows, eye * rows.height);
    return rows;
}

#endif
