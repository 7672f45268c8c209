/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a frame: which stages of the backend work on which images. */
#include "core/pipeline/internal.h"

int plx_step_convert(struct plx_frame_context *context)
{
    struct plx_stages *stages = context->pipeline->stages;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && result == 0; eye++)
        result = stages->ops->convert(stages, &context->raw[eye], &context->grey[eye]);
    return result;
}

int plx_step_histogram(struct plx_frame_context *context)
{
    struct plx_stages *stages = context->pipeline->stages;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && result == 0; eye++) {
        const struct plx_image bins = plx_eye_bins(&context->plane[PLX_PLANE_HISTOGRAM], eye);
        result = stages->ops->histogram(stages, &context->grey[eye], PLX_HISTOGRAM_BINS, &bins);
    }
    return result;
}

int plx_step_rectify(struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_stages *stages = pipeline->stages;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && result == 0; eye++) {
        if (!pipeline->identity[eye])
            result = stages->ops->rectify(stages, &context->grey[eye], &pipeline->map[eye], &context->rectified[eye],
                                          &pipeline->results->masked[eye]);
    }
    return result;
}

/* Searches patches of the left image in the right one; plx_alignment_look evaluates the matches after the frame. */
int plx_step_match_rows(struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_stages *stages = pipeline->stages;
    struct plx_image patch, strip;

    int result = 0;
    for (int i = 0; i < PLX_ALIGNMENT_MATCHES && result == 0; i++)
        if (plx_alignment_patch(&pipeline->alignment, i, &context->rectified[PLX_LEFT], &context->rectified[PLX_RIGHT], &patch,
                                &strip))
            result = stages->ops->image.match_template(stages, &strip, &patch, &pipeline->results->match[i]);
    return result;
}

int plx_step_prefilter(struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_stages *stages = pipeline->stages;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && prefilter_on(pipeline) && result == 0; eye++)
        result = stages->ops->filter(stages, &context->rectified[eye], &pipeline->filter, &pipeline->smooth[eye]);
    return result;
}

int plx_step_census(struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_stages *stages = pipeline->stages;
    const struct plx_image *grey = prefilter_on(pipeline) ? pipeline->smooth : context->rectified;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && result == 0; eye++)
        result = stages->ops->census(stages, &grey[eye], &pipeline->params.match, &pipeline->features[eye]);
    return result;
}

int plx_step_sgm(struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_stages *stages = pipeline->stages;

    return stages->ops->sgm(stages, &pipeline->features[PLX_LEFT], &pipeline->features[PLX_RIGHT],
                            &context->rectified[PLX_LEFT], &pipeline->params.match, &pipeline->candidates);
}

/* Filters SRC into DST, unless KIND is NONE; *ret_image is the image with the result. */
static int median(struct plx_stages *stages, const struct plx_image *src, enum plx_median kind, const struct plx_image *dst,
                  const struct plx_image **ret_image)
{
    if (kind == PLX_MEDIAN_NONE) {
        *ret_image = src;
        return 0;
    }
    *ret_image = dst;
    return stages->ops->median(stages, src, kind, dst);
}

/* Where STEP writes: the frame's plane, unless another step follows. */
static const struct plx_image *strict_of(const struct plx_frame_context *context, enum plx_strict_step step)
{
    const struct plx_pipeline *pipeline = context->pipeline;
    return step == strict_last(pipeline) ? &context->plane[PLX_PLANE_DISPARITY] : &pipeline->strict[step];
}

/* What STEP reads. */
static const struct plx_image *strict_before(const struct plx_frame_context *context, enum plx_strict_step step)
{
    do
        step--;
    while (!strict_step_on(context->pipeline, step));
    return strict_of(context, step);
}

/* The left picture; 0 where nothing can be known. */
static const struct plx_image *known_of(const struct plx_frame_context *context)
{
    const struct plx_image *distinct = &context->pipeline->distinct;
    return distinct->data ? distinct : &context->rectified[PLX_LEFT];
}

int plx_step_check(struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_stages *stages = pipeline->stages;
    const struct plx_match *match = &pipeline->params.match;
    const struct plx_image *left, *right;

    int result = match->repeats ? stages->ops->repeats(stages, &context->rectified[PLX_LEFT], &pipeline->distinct) : 0;
    if (result == 0)
        result = median(stages, &pipeline->candidates.left, match->median_left, &pipeline->median_left, &left);
    if (result == 0)
        result = median(stages, &pipeline->candidates.right, match->median_right, &pipeline->median_right, &right);
    if (result == 0)
        result = stages->ops->check(stages, left, right, known_of(context), match, strict_of(context, PLX_STRICT_CHECK));
    return result;
}

static void swap(const struct plx_image **a, const struct plx_image **b)
{
    const struct plx_image *other = *a;
    *a = *b;
    *b = other;
}

/* The dense disparity starts from the candidates again: a smaller median keeps details, which the fill then spreads. */
static int refine_dense(struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_stages *stages = pipeline->stages;
    const struct plx_match *match = &pipeline->params.match;
    const struct plx_image *right =
        match->median_right == PLX_MEDIAN_NONE ? &pipeline->candidates.right : &pipeline->median_right;
    const struct plx_image *src = &pipeline->dense_median, *dst = &pipeline->dense_checked;
    const struct plx_image *dense = &context->plane[PLX_PLANE_DENSE];

    int result = stages->ops->median(stages, &pipeline->candidates.left, PLX_MEDIAN_3X3, src);
    if (result == 0)
        result = stages->ops->check(stages, src, right, known_of(context), match, dst);
    swap(&src, &dst);
    if (result == 0 && speckle_on(pipeline)) {
        result = stages->ops->speckle(stages, src, &pipeline->params.speckle, dst);
        swap(&src, &dst);
    }
    if (result == 0)
        result = stages->ops->fill(stages, src, dst, &context->plane[PLX_PLANE_FILLED]);
    swap(&src, &dst);
    if (result == 0)
        result = stages->ops->median(stages, src, PLX_MEDIAN_VALID_5X5, match->even ? dst : dense);
    if (result == 0 && match->even)
        result = stages->ops->even(stages, dst, dense);
    return result;
}

int plx_step_refine(struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_stages *stages = pipeline->stages;
    const struct plx_image *confidence = &context->plane[PLX_PLANE_CONFIDENCE];
    int result = 0;

    if (speckle_on(pipeline))
        result = stages->ops->speckle(stages, strict_before(context, PLX_STRICT_SPECKLE), &pipeline->params.speckle,
                                      strict_of(context, PLX_STRICT_SPECKLE));
    if (result == 0 && temporal_on(pipeline))
        result = stages->ops->temporal(stages, strict_before(context, PLX_STRICT_TEMPORAL), &pipeline->params.temporal,
                                       &pipeline->history, strict_of(context, PLX_STRICT_TEMPORAL));
    if (result == 0 && strict_step_on(pipeline, PLX_STRICT_EVEN))
        result = stages->ops->even(stages, strict_before(context, PLX_STRICT_EVEN), strict_of(context, PLX_STRICT_EVEN));
    if (result == 0 && has_dense(&pipeline->params))
        result = refine_dense(context);
    if (result == 0 && strict_step_on(pipeline, PLX_STRICT_AGREE))
        result = stages->ops->agree(stages, strict_before(context, PLX_STRICT_AGREE), &context->plane[PLX_PLANE_DENSE],
                                    &pipeline->candidates.raw, known_of(context), strict_of(context, PLX_STRICT_AGREE));
    if (result == 0 && confidence->data)
        result = stages->ops->confidence(stages, &pipeline->candidates, strict_before(context, PLX_STRICT_SPECKLE),
                                         &pipeline->params.match, confidence);
    return result;
}

int plx_step_ground(struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_stages *stages = pipeline->stages;

    if (!pipeline->params.ground)
        return 0;
    return stages->ops->ground(stages, strict_before(context, PLX_STRICT_EVEN), &pipeline->ground_params,
                               &pipeline->results->prior, pipeline->ground);
}

int plx_step_columns(struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;

    if (!pipeline->params.columns)
        return 0;
    return pipeline->stages->ops->columns(pipeline->stages, strict_before(context, PLX_STRICT_EVEN), pipeline->ground,
                                          &pipeline->columns_params, &context->plane[PLX_PLANE_SCAN],
                                          &context->plane[PLX_PLANE_STIXELS]);
}

/* Labels of the connected regions of the mask. */
static int label_regions(struct plx_frame_context *context, const struct plx_image *disparity)
{
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_stages *stages = pipeline->stages;
    const struct plx_stages_ops *ops = stages->ops;
    const struct plx_obstacle_params *params = &pipeline->params.obstacle;
    const struct plx_label_params label = {.max_step = params->max_step, .min_area = params->min_area};
    const struct plx_image *mask = &pipeline->mask, *opened = &pipeline->opened;

    int result = ops->mask(stages, disparity, pipeline->ground, &pipeline->columns_params.mask, mask);
    if (result == 0)
        result = ops->image.morphology(stages, PLX_OPEN, mask, params->open_size, params->open_size, opened);
    if (result == 0)
        result = ops->image.morphology(stages, PLX_CLOSE, opened, params->close_size, params->close_size, mask);
    if (result == 0)
        result = ops->label(stages, mask, disparity, &label, &pipeline->labels, &pipeline->results->region_count);
    return result;
}

int plx_step_obstacles(struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_stages *stages = pipeline->stages;
    const bool of_stixels = has_stixel_records(&pipeline->params);
    const struct plx_image *disparity =
        of_stixels && has_dense(&pipeline->params) ? &context->plane[PLX_PLANE_DENSE] : strict_before(context, PLX_STRICT_EVEN);
    const struct plx_region_input input = {&pipeline->labels, disparity, &context->rectified[PLX_LEFT],
                                           &context->rectified[PLX_RIGHT], pipeline->params.match.min_disparity};

    if (!pipeline->params.obstacles)
        return 0;
    int result = of_stixels ? stages->ops->records(stages, disparity, pipeline->ground, &pipeline->records_params,
                                                   &pipeline->results->predictions, &context->plane[PLX_PLANE_STIXELS],
                                                   &pipeline->labels, &pipeline->results->region_count)
                            : label_regions(context, disparity);
    if (result == 0)
        result = stages->ops->regions(stages, &input, &pipeline->results->region_count, pipeline->results->regions,
                                      &context->plane[PLX_PLANE_LABELS]);
    return result;
}
