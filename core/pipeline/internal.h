/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a pipeline, which create.c makes, and of the frame that process.c and steps.c compute. */
#ifndef PLX_CORE_PIPELINE_INTERNAL_H
#define PLX_CORE_PIPELINE_INTERNAL_H

#include "core/drift/learner.h"
#include "core/drift/skew.h"
#include "core/geometry/alignment.h"
#include "core/ground/columns.h"
#include "core/ground/history.h"
#include "core/ground/obstacles.h"
#include "core/ground/records.h"
#include "core/motion/motion.h"
#include "core/pipeline/picture_check.h"
#include "core/pipeline/pipeline.h"
#include "core/pipeline/stages.h"
#include "core/verdict/speed.h"

#define PLX_PIPELINE_BUFFERS 48
#define PLX_BUFFER_ALIGNMENT 256 /* bytes, as ops->alloc */

/* What makes the strict disparity, in order. The last step that is on writes the frame's plane. Ground, columns and obstacles
 * read what there is before even, whose means would join things that are far away and little apart in depth. */
enum plx_strict_step {
    PLX_STRICT_CHECK,
    PLX_STRICT_SPECKLE,
    PLX_STRICT_TEMPORAL,
    PLX_STRICT_EVEN,
    PLX_STRICT_AGREE,
    PLX_STRICT_STEPS
};

/* One frame while it is computed. */
struct plx_frame_context {
    struct plx_pipeline *pipeline;
    const struct plx_raw *raw; /* [PLX_EYES] */
    int64_t capture_ns;        /* of the left picture */
    struct plx_frame *frame;
    struct plx_image plane[PLX_PLANE_COUNT]; /* where stages write it */
    struct plx_image grey[PLX_EYES];         /* raw luma */
    struct plx_image rectified[PLX_EYES];
    enum plx_stage stage; /* that runs */
    int64_t stage_start_ns;
    int result;              /* of the stages so far; after a failure later stages do nothing */
    int64_t looked_ns;       /* when the look at the pictures beside the stages ended; 0: there was none */
    uint32_t picture_health; /* what was found there */
};

/* What stages find in a frame beside its planes, in shared memory. Each array has the alignment of a buffer of its own. */
struct plx_results {
    _Alignas(PLX_BUFFER_ALIGNMENT) struct plx_region regions[PLX_MAX_OBSTACLES];
    _Alignas(PLX_BUFFER_ALIGNMENT) uint32_t region_count;
    _Alignas(PLX_BUFFER_ALIGNMENT) struct plx_ground ground;
    _Alignas(PLX_BUFFER_ALIGNMENT) struct plx_ground_prior prior;      /* written before the frame, for its stage ground */
    _Alignas(PLX_BUFFER_ALIGNMENT) struct plx_predictions predictions; /* likewise, for its stage records */
    _Alignas(PLX_BUFFER_ALIGNMENT) struct plx_template_match match[PLX_ALIGNMENT_MATCHES];
    _Alignas(PLX_BUFFER_ALIGNMENT) uint32_t masked[PLX_EYES];
};

struct plx_pipeline {
    struct plx_stages *stages;
    struct plx_pipeline_params params;
    struct plx_calibration_info calibration;
    bool raw;          /* frames without a calibration: pictures and histograms only */
    int width, height; /* of the frame's images */
    struct plx_plane plane[PLX_PLANE_COUNT];
    uint32_t bytes;

    bool identity[PLX_EYES]; /* published as captured: convert writes where rectify would */
    struct plx_remap map[PLX_EYES];
    struct plx_filter filter;
    struct plx_ground_params ground_params;
    struct plx_motion *motion;                /* NULL: switched off */
    struct plx_columns_params columns_params; /* with those of the mask */
    struct plx_records_params records_params;
    float blind_within_m; /* as in struct plx_frame */
    struct plx_ground_history ground_history;
    struct plx_tracks *tracks;
    struct plx_local_map *local_map; /* NULL: switched off */
    struct plx_zones *zones;         /* NULL: there are none */
    struct plx_speed speed;

    void *device_planes;               /* where stages write planes, laid out as the frame; NULL: in the frame itself */
    struct plx_image grey[PLX_EYES];   /* U8 raw size */
    struct plx_image right;            /* U8 rectified, where it is not published */
    struct plx_image right_seen;       /* the same where the CPU reads it: a copy, where outputs are copied */
    struct plx_image smooth[PLX_EYES]; /* U8 prefiltered */
    struct plx_features features[PLX_EYES];
    struct plx_candidates candidates;
    struct plx_image median_left, median_right; /* U16 */
    struct plx_image strict[PLX_STRICT_STEPS];  /* U16 what each step but the last leaves to the next */
    struct plx_image history;                   /* U16 temporal filter's */
    struct plx_image distinct;                  /* U8 the left picture, 0 where its texture repeats; no data: not looked for */
    struct plx_image dense_median, dense_checked; /* U16 intermediate images of dense */
    struct plx_image mask, opened;                /* U8 */
    struct plx_image labels;                      /* U32 */
    struct plx_results *results;
    struct plx_ground *ground; /* where stages write it: results->ground, or local memory */

    int checked_pairs; /* by the three checks that follow, up to as many as they need */
    struct plx_frozen_check frozen[PLX_EYES];
    struct plx_brightness_check brightness;
    struct plx_sharpness_check sharpness;
    struct plx_alignment alignment;
    struct plx_mount_check mount_check;
    int64_t skew_ns; /* of the next pair: right capture time minus left */
    struct plx_skew skew;
    struct plx_learner *learner; /* NULL for raw frames */

    void *buffer[PLX_PIPELINE_BUFFERS]; /* everything above that ops->alloc gave */
    int buffers;
};

/* steps.c: which stages of the backend work on which images. They return 0 or an error of the backend. */
int plx_step_convert(struct plx_frame_context *context);
int plx_step_histogram(struct plx_frame_context *context);
int plx_step_rectify(struct plx_frame_context *context);
int plx_step_match_rows(struct plx_frame_context *context);
int plx_step_prefilter(struct plx_frame_context *context);
int plx_step_census(struct plx_frame_context *context);
int plx_step_sgm(struct plx_frame_context *context);
int plx_step_check(struct plx_frame_context *context);
int plx_step_refine(struct plx_frame_context *context);
int plx_step_ground(struct plx_frame_context *context);
int plx_step_columns(struct plx_frame_context *context);
int plx_step_obstacles(struct plx_frame_context *context);

/* The stage that completes plane ID; where the strict disparity has more steps than the check, that of DISPARITY is refine. */
enum plx_stage plx_pipeline_plane_stage(enum plx_plane_id id);

/* One eye's rows of the histogram plane. */
static inline struct plx_image plx_eye_bins(const struct plx_image *histogram, int eye)
{
    struct plx_image bins = *histogram;
    bins.height /= PLX_EYES;
    bins.data = plx_row(&bins, eye * bins.height);
    return bins;
}

static inline bool prefilter_on(const struct plx_pipeline *pipeline)
{
    return pipeline->params.prefilter_width > 1 || pipeline->params.prefilter_height > 1;
}

static inline bool speckle_on(const struct plx_pipeline *pipeline)
{
    return pipeline->params.refine && pipeline->params.speckle.max_size > 0;
}

static inline bool temporal_on(const struct plx_pipeline *pipeline)
{
    return pipeline->params.refine && pipeline->params.temporal.max_step > 0;
}

static inline bool has_stixel_records(const struct plx_pipeline_params *params)
{
    return params->obstacles && params->obstacle.records == PLX_RECORDS_STIXELS;
}

static inline bool has_dense(const struct plx_pipeline_params *params)
{
    return params->refine && params->dense;
}

static inline bool strict_step_on(const struct plx_pipeline *pipeline, enum plx_strict_step step)
{
    const struct plx_match *match = &pipeline->params.match;
    const bool on[PLX_STRICT_STEPS] = {true, speckle_on(pipeline), temporal_on(pipeline), match->even,
                                       match->agree && has_dense(&pipeline->params)};
    return on[step];
}

/* The last step that is on. */
static inline enum plx_strict_step strict_last(const struct plx_pipeline *pipeline)
{
    enum plx_strict_step last = PLX_STRICT_AGREE;
    while (!strict_step_on(pipeline, last))
        last--;
    return last;
}

#endif
