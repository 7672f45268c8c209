/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a frame that the backend takes: which of its stages work on which images. */
#include "core/pipeline/internal.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Lanes of the backend. */
enum { FIRST, BESIDE, COPIES };

static int go_to_lane(struct plx_pass *pass, int lane)
{
    struct plx_stages *stages = pass->pipeline->stages;
    return stages->ops->lane ? stages->ops->lane(stages, lane) : 0;
}

/* Where stages do not write the frame itself, brings planes that are done to it, beside all that follows. */
static int publish(struct plx_pass *pass, const enum plx_plane_id *id, size_t count)
{
    struct plx_stages *stages = pass->pipeline->stages;

    if (!pass->pipeline->far_planes)
        return 0;
    int result = go_to_lane(pass, COPIES);
    for (size_t i = 0; i < count && result == 0; i++) {
        const struct plx_plane *plane = &pass->frame->plane[id[i]];
        if (plane->width > 0)
            result = stages->ops->copy(stages, (uint8_t *)pass->frame + plane->offset, pass->plane[id[i]].data,
                                       (size_t)plane->pitch * plane->height);
    }
    return result == 0 ? go_to_lane(pass, FIRST) : result;
}

int plx_step_convert(struct plx_pass *pass)
{
    struct plx_stages *stages = pass->pipeline->stages;
    int result = stages->ops->convert(stages, &pass->raw[PLX_LEFT], &pass->grey[PLX_LEFT]);
    if (result == 0)
        result = stages->ops->convert(stages, &pass->raw[PLX_RIGHT], &pass->grey[PLX_RIGHT]);
    return result;
}

int plx_step_histogram(struct plx_pass *pass)
{
    struct plx_stages *stages = pass->pipeline->stages;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && result == 0; eye++) {
        const struct plx_image bins = plx_eye_bins(&pass->plane[PLX_PLANE_HISTOGRAM], eye);
        result = stages->ops->histogram(stages, &pass->grey[eye], PLX_HISTOGRAM_BINS, &bins);
    }
    return result;
}

int plx_step_rectify(struct plx_pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    struct plx_stages *stages = pipeline->stages;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && result == 0; eye++) {
        if (!pipeline->identity[eye])
            result = stages->ops->rectify(stages, &pass->grey[eye], &pipeline->map[eye], &pass->rectified[eye],
                                          &pipeline->masked[eye]);
    }
    return result;
}

int plx_step_publish_pictures(struct plx_pass *pass)
{
    static const enum plx_plane_id done[] = {PLX_PLANE_LEFT, PLX_PLANE_RIGHT, PLX_PLANE_HISTOGRAM};
    return publish(pass, done, COUNT(done));
}

/* Whether rows still match is asked here, beside what follows, and judged when the frame is done. */
int plx_step_match_rows(struct plx_pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    struct plx_stages *stages = pipeline->stages;
    struct plx_image patch, strip;

    int result = go_to_lane(pass, BESIDE);
    for (int i = 0; i < PLX_ALIGNMENT_MATCHES && result == 0; i++)
        if (plx_alignment_patch(&pipeline->alignment, i, &pass->rectified[PLX_LEFT], &pass->rectified[PLX_RIGHT], &patch,
                                &strip))
            result = stages->ops->image.match_template(stages, &strip, &patch, &pipeline->found[i]);
    return result == 0 ? go_to_lane(pass, FIRST) : result;
}

int plx_step_prefilter(struct plx_pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    struct plx_stages *stages = pipeline->stages;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && prefilter_on(pipeline) && result == 0; eye++)
        result = stages->ops->filter(stages, &pass->rectified[eye], &pipeline->filter, &pipeline->smooth[eye]);
    return result;
}

int plx_step_census(struct plx_pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    struct plx_stages *stages = pipeline->stages;
    const struct plx_image *grey = prefilter_on(pipeline) ? pipeline->smooth : pass->rectified;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && result == 0; eye++)
        result = stages->ops->census(stages, &grey[eye], &pipeline->params.match, &pipeline->features[eye]);
    return result;
}

int plx_step_sgm(struct plx_pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;

    return pipeline->stages->ops->sgm(pipeline->stages, &pipeline->features[PLX_LEFT], &pipeline->features[PLX_RIGHT],
                                      &pass->rectified[PLX_LEFT], &pipeline->params.match, &pipeline->winners);
}

/* Median SRC into DST, or nothing; *ret_image is the one that holds the result. */
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

/* Where the strict disparity lies after the left-right check: in the frame already, unless another filter follows. */
static const struct plx_image *checked(const struct plx_pass *pass)
{
    const struct plx_pipeline *pipeline = pass->pipeline;
    return speckle_on(pipeline) || temporal_on(pipeline) ? &pipeline->checked : &pass->plane[PLX_PLANE_DISPARITY];
}

int plx_step_check(struct plx_pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    struct plx_stages *stages = pipeline->stages;
    const struct plx_match *match = &pipeline->params.match;
    const struct plx_image *left, *right;

    int result = median(stages, &pipeline->winners.left, match->median_left, &pipeline->median_left, &left);
    if (result == 0)
        result = median(stages, &pipeline->winners.right, match->median_right, &pipeline->median_right, &right);
    if (result == 0)
        result = stages->ops->check(stages, left, right, &pass->rectified[PLX_LEFT], match, checked(pass));
    return result;
}

static int refine_strict(struct plx_pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    struct plx_stages *stages = pipeline->stages;
    const struct plx_image *disparity = &pass->plane[PLX_PLANE_DISPARITY];
    const struct plx_image *src = checked(pass);
    int result = 0;

    if (speckle_on(pipeline)) {
        const struct plx_image *dst = temporal_on(pipeline) ? &pipeline->despeckled : disparity;
        result = stages->ops->speckle(stages, src, &pipeline->params.speckle, dst);
        src = dst;
    }
    if (result == 0 && temporal_on(pipeline))
        result = stages->ops->temporal(stages, src, &pipeline->params.temporal, &pipeline->history, disparity);
    static const enum plx_plane_id done[] = {PLX_PLANE_DISPARITY};
    return result == 0 ? publish(pass, done, COUNT(done)) : result;
}

static void swap(const struct plx_image **a, const struct plx_image **b)
{
    const struct plx_image *other = *a;
    *a = *b;
    *b = other;
}

/* The dense disparity goes its own way from the winners: a smaller median keeps what the fill then spreads. */
static int refine_dense(struct plx_pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    struct plx_stages *stages = pipeline->stages;
    const struct plx_match *match = &pipeline->params.match;
    const struct plx_image *right = match->median_right == PLX_MEDIAN_NONE ? &pipeline->winners.right : &pipeline->median_right;
    const struct plx_image *src = &pipeline->thin, *dst = &pipeline->thin_checked;

    int result = stages->ops->median(stages, &pipeline->winners.left, PLX_MEDIAN_3X3, src);
    if (result == 0)
        result = stages->ops->check(stages, src, right, &pass->rectified[PLX_LEFT], match, dst);
    swap(&src, &dst);
    if (result == 0 && speckle_on(pipeline)) {
        result = stages->ops->speckle(stages, src, &pipeline->params.speckle, dst);
        swap(&src, &dst);
    }
    if (result == 0)
        result = stages->ops->fill(stages, src, dst, &pass->plane[PLX_PLANE_FILLED]);
    if (result == 0)
        result = stages->ops->median(stages, dst, PLX_MEDIAN_VALID_5X5, &pass->plane[PLX_PLANE_DENSE]);
    return result;
}

int plx_step_refine(struct plx_pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    struct plx_stages *stages = pipeline->stages;
    const struct plx_image *confidence = &pass->plane[PLX_PLANE_CONFIDENCE];
    static const enum plx_plane_id done[] = {PLX_PLANE_DENSE, PLX_PLANE_FILLED, PLX_PLANE_CONFIDENCE};

    int result = refine_strict(pass);
    if (result == 0 && !speckle_on(pipeline)) /* which stays on the first lane */
        result = go_to_lane(pass, BESIDE);
    if (result == 0 && pass->plane[PLX_PLANE_DENSE].data)
        result = refine_dense(pass);
    if (result == 0 && confidence->data)
        result = stages->ops->confidence(stages, &pipeline->winners, checked(pass), &pipeline->params.match, confidence);
    if (result == 0)
        result = publish(pass, done, COUNT(done));
    return result == 0 ? go_to_lane(pass, FIRST) : result;
}

int plx_step_ground(struct plx_pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    struct plx_stages *stages = pipeline->stages;

    if (!pipeline->params.ground)
        return 0;
    int result = stages->ops->ground(stages, &pass->plane[PLX_PLANE_DISPARITY], &pipeline->ground_params, pipeline->ground);
    if (result == 0 && pipeline->ground != pipeline->found_ground) {
        result = go_to_lane(pass, COPIES);
        if (result == 0)
            result = stages->ops->copy(stages, pipeline->found_ground, pipeline->ground, sizeof *pipeline->ground);
        if (result == 0)
            result = go_to_lane(pass, FIRST);
    }
    return result;
}

int plx_step_obstacles(struct plx_pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    struct plx_stages *stages = pipeline->stages;
    const struct plx_stages_ops *ops = stages->ops;
    const struct plx_obstacle_params *params = &pipeline->params.obstacle;
    const struct plx_label_params label = {.max_step = params->max_step, .min_area = params->min_area};
    const struct plx_image *disparity = &pass->plane[PLX_PLANE_DISPARITY];
    const struct plx_image *mask = &pipeline->mask, *opened = &pipeline->opened;
    const struct plx_region_input input = {&pipeline->labels, disparity, &pass->rectified[PLX_LEFT],
                                           &pass->rectified[PLX_RIGHT], pipeline->params.match.min_disparity};

    if (!pipeline->params.obstacles)
        return 0;
    int result = ops->mask(stages, disparity, pipeline->ground, &pipeline->mask_params, mask);
    if (result == 0)
        result = ops->image.morphology(stages, PLX_OPEN, mask, params->open_size, params->open_size, opened);
    if (result == 0)
        result = ops->image.morphology(stages, PLX_CLOSE, opened, params->close_size, params->close_size, mask);
    if (result == 0)
        result = ops->label(stages, mask, disparity, &label, &pipeline->labels, pipeline->region_count);
    if (result == 0)
        result = ops->regions(stages, &input, pipeline->region_count, pipeline->regions, &pass->plane[PLX_PLANE_LABELS]);
    static const enum plx_plane_id done[] = {PLX_PLANE_LABELS};
    return result == 0 ? publish(pass, done, COUNT(done)) : result;
}

int plx_step_finish(struct plx_pass *pass)
{
    struct plx_stages *stages = pass->pipeline->stages;
    return stages->ops->finish(stages);
}
