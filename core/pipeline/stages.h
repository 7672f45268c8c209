/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stage contract, on one page, in the order of the stages. Each stage is a pure function of its const
 * arguments, so that every backend (cpu/, gpu/) gives the same bits: all integer, but for ground, free_ground, mask, corners
 * and flow, which also use single IEEE operations in a fixed order. The arithmetic of each is in docs/stages.md.
 *
 * Rules for all stages: SELF is the backend. Images are views (core/base/image.h); pitch may exceed the width; source and
 * destination never overlap. Every data pointer and every ret_ pointer comes from ops->alloc, alloc_local or adopt,
 * because a GPU writes it. A backend may work asynchronously: outputs may be read after run_frame or finish only.
 * Return 0 or a negative plx_error, ARG if sizes or types do not fit, RANGE if larger than the limits given at creation.
 * Nothing is allocated after creation. One thread at a time per backend. W, H: size of the rectified image; D: disparities.
 */
#ifndef PLX_CORE_PIPELINE_STAGES_H
#define PLX_CORE_PIPELINE_STAGES_H

#include <parallax/frame.h>

#include "core/base/image.h"
#include "core/base/text.h"
#include "core/pipeline/match.h"
#include "core/pipeline/step.h"

struct plx_columns_params;
struct plx_development;
struct plx_flow_found;
struct plx_flow_job;
struct plx_ground;
struct plx_ground_params;
struct plx_ground_prior;
struct plx_label_params;
struct plx_mask_params;
struct plx_predictions;
struct plx_pyramid;
struct plx_segments_params;
struct plx_region;
struct plx_region_input;

/* The stages that a backend computes alone. Of the others the pipeline computes at least the end, on the CPU. */
static inline bool plx_stage_is_of_backend(int stage)
{
    return stage < PLX_STAGE_MOTION || stage == PLX_STAGE_COLOUR;
}

struct plx_stages {
    const struct plx_stages_ops *ops;
    struct plx_error_message message; /* last failure whose error code is not enough; else "" */
};

/* The largest frame that a backend must hold; it allocates its scratch memory at creation. */
struct plx_limits {
    int width, height; /* largest image of one eye, raw or rectified; a buffer may hold both side by side */
    int disparities;   /* largest D */
    int threads;       /* CPU threads; 0 = as many as the process may use */
};

/* A separable filter: odd sizes 1..31, Q16 weights, each axis summing to 65,536. Edge clamped. */
struct plx_filter {
    int size_x, size_y;
    uint32_t weight_x[PLX_MAX_WINDOW], weight_y[PLX_MAX_WINDOW];
};

struct plx_features {
    struct plx_image census;   /* U32, U64 for FULL_9X7 */
    struct plx_image gradient; /* U16, the vertical one in the upper byte; data NULL when gradient_cap is 0 */
};

/* Disparity candidates: the best disparity of each pixel, before any check. */
struct plx_candidates {
    struct plx_image left;  /* U16 disparity x 16, 0xFFFF = not unique */
    struct plx_image right; /* U16 whole disparities of the right view, always valid */
    struct plx_image raw;   /* U16 whole disparity of the smallest S, unique or not */
    struct plx_image s1;    /* U16 smallest S */
    struct plx_image s2;    /* U16 smallest S over |d' - d| > 1; 0xFFFF if there is none */
};

struct plx_speckle {
    int max_size; /* pixels; smaller regions are removed; 0 = off */
    int max_step; /* 1/16 px between neighbours of one region */
};

struct plx_temporal {
    int max_step; /* 1/16 px; a pixel that moved more keeps its new value; 0 = off */
    int weight;   /* share of the new value, 1..256 */
};

struct plx_stages_ops {
    const char *name;                         /* "cpu", "gpu" */
    void (*destroy)(struct plx_stages *self); /* NULL is fine */

    /* Shared memory: the CPU and the backend reach it; zeroed, aligned to 256 bytes. Not on the per-frame path. */
    int (*alloc)(struct plx_stages *self, size_t bytes, void **ret_data);
    /* Local memory: only stages reach it, for images between stages. Its initial CONTENT is BYTES of CPU memory; NULL: zeros.
     */
    int (*alloc_local)(struct plx_stages *self, size_t bytes, const void *content, void **ret_data);
    /* Between two frames: local memory takes other content. Allocates nothing. */
    int (*write_local)(struct plx_stages *self, void *data, const void *content, size_t bytes);
    void (*free)(struct plx_stages *self, void *data);
    /* Registers memory of another allocator as shared memory, until disown. UNSUPPORTED if the backend cannot. */
    int (*adopt)(struct plx_stages *self, void *data, size_t bytes);
    void (*disown)(struct plx_stages *self, void *data);

    /* After stage calls outside run_frame: waits for their outputs and reports their errors. */
    int (*finish)(struct plx_stages *self);

    /* Computes one frame: runs the steps of RUN, those of the backend in order, which it may overlap, or record once for each
     * key and replay; those beside, in the calling thread, once what they read is there. Returns when all outputs are
     * there. plx_run_frame_in_order where each stage is complete when it returns. */
    int (*run_frame)(struct plx_stages *self, const struct plx_frame_run *run);
    bool copies_outputs; /* local memory is faster than shared memory: steps write there what is an output of the run */

    /* raw -> grey. grey: U8 or U16 [raw.height][raw.eye_width] */
    int (*convert)(struct plx_stages *self, const struct plx_raw *raw, const struct plx_image *grey);
    /* raw -> sums of the raw bytes of the histogram's tiles, U64 [1][64]: another picture has others */
    int (*checksum)(struct plx_stages *self, const struct plx_raw *raw, const struct plx_image *ret_sums);
    /* grey U8 -> ret_bins U32 [1 + 64][bins], row 0 the whole image, then the 8x8 zones; bins divides 256 */
    int (*histogram)(struct plx_stages *self, const struct plx_image *grey, int bins, const struct plx_image *ret_bins);
    /* raw -> RGB [raw.height][raw.eye_width]: mosaics are developed, grey formats stay grey (core/colour/colour.h) */
    int (*colour)(struct plx_stages *self, const struct plx_raw *raw, const struct plx_development *development,
                  const struct plx_image *ret_rgb);
    /* mosaic -> U64 [PLX_COLOUR_SUMS][plx_colour_sum_columns] for the white balance (core/colour/white_balance.h); zeros for
     * other formats */
    int (*colour_sums)(struct plx_stages *self, const struct plx_raw *raw, const struct plx_development *development,
                       const struct plx_image *ret_sums);
    /* src -> dst, both U8, both U16 or both RGB, by MAP (of dst's size); *ret_masked counts pixels that lie outside src,
     * but not of RGB, whose grey picture says that: there it is not used */
    int (*rectify)(struct plx_stages *self, const struct plx_image *src, const struct plx_remap *map,
                   const struct plx_image *dst, uint32_t *ret_masked);
    /* grey U8 -> sums of the absolute steps over 2 and over 8 pixels along every 16th row, U32 [2][ceil(height / 16)] */
    int (*sharpness)(struct plx_stages *self, const struct plx_image *grey, const struct plx_image *ret_steps);
    int (*filter)(struct plx_stages *self, const struct plx_image *src, const struct plx_filter *filter,
                  const struct plx_image *dst); /* U8 */

    /* grey U8 -> census and gradient words */
    int (*census)(struct plx_stages *self, const struct plx_image *grey, const struct plx_match *match,
                  const struct plx_features *ret_features);
    /* cost, aggregation over 4 or 8 paths and winner-takes-all, fused; P2 depends on LEFT_GREY */
    int (*sgm)(struct plx_stages *self, const struct plx_features *left, const struct plx_features *right,
               const struct plx_image *left_grey, const struct plx_match *match, const struct plx_candidates *ret_candidates);
    int (*median)(struct plx_stages *self, const struct plx_image *src, enum plx_median kind,
                  const struct plx_image *dst); /* U16; 0xFFFF counts as large or is left out, as KIND says */
    /* src -> dst, U8: a copy that is 0 where the texture repeats along the rows. No argument of check or cross_validate is then
     * known there: which period matches which says nothing. */
    int (*repeats)(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst);
    /* left-right check of median-filtered views; invalid where LEFT_GREY is 0 */
    int (*check)(struct plx_stages *self, const struct plx_image *left, const struct plx_image *right,
                 const struct plx_image *left_grey, const struct plx_match *match, const struct plx_image *ret_disparity);
    /* each valid pixel of SRC on a surface that faces the camera takes a step of its disparity towards what the pictures LEFT
     * and RIGHT, U8, say: against pixel locking, which draws such surfaces towards whole disparities */
    int (*facing)(struct plx_stages *self, const struct plx_image *src, const struct plx_image *left,
                  const struct plx_image *right, const struct plx_match *match, const struct plx_image *dst);
    /* each valid pixel takes the mean of those around it that are valid and nearly equal; U16 */
    int (*local_mean)(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst);
    /* strict and dense disparity -> strict: invalid where they differ; what was invalid takes DENSE where RAW, the candidates,
     * confirms it; invalid where LEFT_GREY is 0 */
    int (*cross_validate)(struct plx_stages *self, const struct plx_image *strict, const struct plx_image *dense,
                          const struct plx_image *raw, const struct plx_image *left_grey, const struct plx_image *dst);

    /* each invalid run of a row takes the smaller of its valid ends; filled U8 = 1 there */
    int (*fill)(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst,
                const struct plx_image *ret_filled);
    int (*speckle)(struct plx_stages *self, const struct plx_image *src, const struct plx_speckle *speckle,
                   const struct plx_image *dst);
    /* -> U8, 255 times the probability that DISPARITY, the dense one, is within 1 px of the truth (core/pipeline/confidence.h);
     * 0, no statement, where it is invalid, LEFT_GREY is 0, or S2 is S1. CHECKED: the strict one after the left-right check */
    int (*confidence)(struct plx_stages *self, const struct plx_candidates *candidates, const struct plx_image *checked,
                      const struct plx_image *disparity, const struct plx_image *left_grey, const struct plx_match *match,
                      const struct plx_image *ret_confidence);
    /* blends SRC with HISTORY (U16, the stage's own output of the frame before) into both DST and HISTORY */
    int (*temporal)(struct plx_stages *self, const struct plx_image *src, const struct plx_temporal *temporal,
                    const struct plx_image *history, const struct plx_image *dst);

    /* strict disparity -> ground plane in disparity space; PRIOR, what earlier frames say, is data: it may change while the
     * parameters stay */
    int (*ground)(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground_params *params,
                  const struct plx_ground_prior *prior, struct plx_ground *ret_ground);
    /* strict disparity and ground -> the scan, struct plx_scan as U64 [1][columns], and stixels, struct plx_stixel as U128
     * [columns][PLX_COLUMN_STIXELS] (core/ground/columns.h); RANGE also for more disparities than the limits say */
    int (*stixels)(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                   const struct plx_columns_params *params, const struct plx_image *ret_scan,
                   const struct plx_image *ret_stixels);
    /* the scan of stixels, with their ground and PARAMS, in place: free ground ends at drops and at rises that columns side by
     * side show, and narrow gaps are closed (core/ground/free_ground.h). DISPARITY: the strict one after its last step */
    int (*free_ground)(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                       const struct plx_columns_params *params, const struct plx_calibration_info *calibration,
                       const struct plx_image *scan);
    /* obstacles made of stixels: DISPARITY, the dense one where there is one -> the segments' numbers (core/ground/segments.h)
     * in labels U32, 0 = none, 1 = largest, and in each of STIXELS; *ret_count segments, any number. PREDICTIONS, what tracks
     * say of this frame, is data, as a prior of the ground */
    int (*segments)(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                    const struct plx_segments_params *params, const struct plx_predictions *predictions,
                    const struct plx_image *stixels, const struct plx_image *ret_labels, uint32_t *ret_count);
    /* in range, valid and above ground -> 255, else 0 */
    int (*mask)(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                const struct plx_mask_params *params, const struct plx_image *ret_mask);
    /* mask U8 and disparity -> canonical labels U32 (0 = none, 1 = largest); *ret_count components, any number */
    int (*label)(struct plx_stages *self, const struct plx_image *mask, const struct plx_image *disparity,
                 const struct plx_label_params *params, const struct plx_image *ret_labels, uint32_t *ret_count);
    /* labels -> sums of the first PLX_MAX_OBSTACLES regions; published labels U16 (0xFFFF beyond those) */
    int (*regions)(struct plx_stages *self, const struct plx_region_input *input, const uint32_t *count,
                   struct plx_region *ret_regions, const struct plx_image *ret_published);

    /* left U8 -> that one of both pyramids that JOB says, laid out for its size (core/motion/flow.h): PYRAMIDS [2]; JOB is
     * data, as a prior of the ground */
    int (*pyramid)(struct plx_stages *self, const struct plx_image *left, const struct plx_flow_job *job,
                   const struct plx_pyramid *pyramids);
    /* left U8 -> the strongest corner of each cell of the image of half size, struct plx_corner_cell as U128
     * [rows][columns] (core/motion/corners.h) */
    int (*corners)(struct plx_stages *self, const struct plx_image *left, const struct plx_image *ret_cells);
    /* where the points of JOB, data too, are in the pyramid that it says: ret_found[job->count] */
    int (*flow)(struct plx_stages *self, const struct plx_pyramid *pyramids, const struct plx_flow_job *job,
                struct plx_flow_found *ret_found);
    /* enters the disparities of the corners of CELLS and of the points FOUND of JOB, both of the image of DISPARITY, the
     * strict one as published */
    int (*corner_disparities)(struct plx_stages *self, const struct plx_image *disparity, const struct plx_flow_job *job,
                              const struct plx_image *cells, struct plx_flow_found *found);

    /* image operations, used by the mask (open, close) and by the health checks */
    struct plx_image_ops image;
};

/* The members above that are stages, and image operations: a backend declares and lists its own by these. */
/* clang-format off */
#define PLX_STAGE_OPS(OP)                                                                                                      \
    OP(convert) OP(checksum) OP(histogram) OP(colour) OP(colour_sums) OP(rectify) OP(sharpness) OP(filter) OP(census) OP(sgm) OP(median)                  \
    OP(repeats) OP(check) OP(facing) OP(local_mean) OP(cross_validate) OP(fill) OP(speckle) OP(confidence) OP(temporal) OP(ground)        \
    OP(stixels) OP(free_ground) OP(mask) OP(label) OP(segments) OP(regions) OP(pyramid) OP(corners) OP(flow)                       \
    OP(corner_disparities)
#define PLX_IMAGE_OPS(OP)                                                                                                      \
    OP(binary) OP(invert) OP(threshold) OP(morphology) OP(affine) OP(sum) OP(match_template)
/* clang-format on */

/* Checks of the arguments of census and sgm for every backend, without its limits: ARG, or RANGE from plx_match_check. */
int plx_census_check(const struct plx_image *grey, const struct plx_match *match, const struct plx_features *features);
int plx_sgm_check(const struct plx_features *left, const struct plx_features *right, const struct plx_image *left_grey,
                  const struct plx_match *match, const struct plx_candidates *candidates);

/* Box, or Gaussian with OpenCV's sigma for that size, 0.3 ((n - 1) / 2 - 1) + 0.8. Sizes odd, 1..31. RANGE. */
int plx_filter_make(bool gaussian, int size_x, int size_y, struct plx_filter *ret_filter);

/* False for NULL, for sizes that are not odd and 1..31, and for an axis whose weights do not sum to 65,536. */
bool plx_filter_ok(const struct plx_filter *filter);

#endif
