/* SPDX-License-Identifier: Apache-2.0 */
/* What pipeline_create.c makes, and pipeline_steps.c and pipeline.c use. */
#ifndef PLX_CORE_PIPELINE_INTERNAL_H
#define PLX_CORE_PIPELINE_INTERNAL_H

#include "core/alignment.h"
#include "core/brightness_check.h"
#include "core/filter.h"
#include "core/frozen_check.h"
#include "core/pipeline/pipeline.h"

#define PLX_PIPELINE_BUFFERS 48

/* One frame on its way. */
struct plx_pass {
    struct plx_pipeline *pipeline;
    struct plx_raw raw[PLX_EYES];
    int64_t capture_ns, queued_ns; /* of the left picture; when the backend had all of it to do */
    struct plx_frame *frame;
    struct plx_image plane[PLX_PLANE_COUNT]; /* where stages write them */
    struct plx_image grey[PLX_EYES];         /* raw luma */
    struct plx_image rectified[PLX_EYES];
};

/* One step of a frame, whose time and heartbeat count for STAGE. */
struct plx_step {
    enum plx_stage stage;
    int (*run)(struct plx_pass *pass);
    bool anew; /* calls of the backend that are not the same in each frame, see stages.h */
};

/* All that happens to a frame. There are two: for rectified frames and for raw ones. */
struct plx_way {
    const struct plx_step *stage; /* what the backend does, perhaps as a recording */
    size_t stages;
    const struct plx_step *result; /* when the backend has all of it to do: waiting for it, and what the CPU does then */
    size_t results;
    uint32_t (*judge)(const struct plx_pass *pass); /* health flags, last of all */
};

struct plx_pipeline {
    const struct plx_way *way;
    struct plx_stages *stages;
    struct plx_pipeline_params params;
    struct plx_calibration_info calibration;
    int width, height; /* of the frame's images */
    struct plx_plane plane[PLX_PLANE_COUNT];
    uint32_t bytes;

    bool identity[PLX_EYES]; /* published as captured: convert writes where rectify would */
    struct plx_remap map[PLX_EYES];
    struct plx_filter filter;
    struct plx_ground_params ground_params;
    struct plx_mask_params mask_params;
    struct plx_tracks *tracks;

    void *far_planes;                  /* where stages work, laid out as the frame; NULL: in the frame itself */
    struct plx_image grey[PLX_EYES];   /* U8 raw size */
    struct plx_image right;            /* U8 rectified */
    struct plx_image smooth[PLX_EYES]; /* U8 prefiltered */
    struct plx_features features[PLX_EYES];
    struct plx_winners winners;
    struct plx_image median_left, median_right; /* U16 */
    struct plx_image checked, despeckled;       /* U16 strict, before what follows */
    struct plx_image history;                   /* U16 temporal filter's */
    struct plx_image thin, thin_checked;        /* U16 on the way to dense */
    struct plx_image mask, opened;              /* U8 */
    struct plx_image labels;                    /* U32 */
    struct plx_region *regions;                 /* [PLX_MAX_OBSTACLES] */
    struct plx_ground *ground;                  /* where stages reach it best */
    struct plx_ground *found_ground;            /* the same, or its copy for the CPU */
    uint32_t *region_count;
    uint32_t *masked; /* [PLX_EYES] */

    struct plx_frozen_check freeze[PLX_EYES]; /* what pictures before this one looked like */
    struct plx_brightness_check light;
    struct plx_alignment alignment;
    struct plx_template_match *found; /* [PLX_ALIGNMENT_MATCHES] */

    struct plx_pass pass; /* the frame on its way, from begin to end */

    void *buffer[PLX_PIPELINE_BUFFERS]; /* everything above that ops->alloc gave */
    int buffers;
};

/* pipeline.c. Judge: whether the pictures can be trusted, as health flags, when the backend is done with the frame. */
extern const struct plx_way plx_way_rectified;
uint32_t plx_judge_pictures(const struct plx_pass *pass);

/* pipeline_create.c: the memory that every frame needs, rectified or raw. Errors: those of the backend. */
int plx_pipeline_allocate_frame(struct plx_pipeline *pipeline);

/* pipeline_steps.c: what the backend does for a frame. Return 0 or what its stage says. */
int plx_step_convert(struct plx_pass *pass);
int plx_step_histogram(struct plx_pass *pass);
int plx_step_rectify(struct plx_pass *pass);
int plx_step_publish_pictures(struct plx_pass *pass);
int plx_step_match_rows(struct plx_pass *pass);
int plx_step_prefilter(struct plx_pass *pass);
int plx_step_census(struct plx_pass *pass);
int plx_step_sgm(struct plx_pass *pass);
int plx_step_check(struct plx_pass *pass);
int plx_step_refine(struct plx_pass *pass);
int plx_step_ground(struct plx_pass *pass);
int plx_step_obstacles(struct plx_pass *pass);
int plx_step_finish(struct plx_pass *pass); /* after it the backend is done with the frame */

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
    return pipeline->params.prefilter_x > 1 || pipeline->params.prefilter_y > 1;
}

static inline bool speckle_on(const struct plx_pipeline *pipeline)
{
    return pipeline->params.refine && pipeline->params.speckle.max_size > 0;
}

static inline bool temporal_on(const struct plx_pipeline *pipeline)
{
    return pipeline->params.refine && pipeline->params.temporal.max_step > 0;
}

#endif
