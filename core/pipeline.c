/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pipeline.h"

#include <string.h>

#include <parallax/error.h>

#include "core/clock.h"
#include "core/obstacles.h"
#include "core/pipeline_internal.h"

/* One frame on its way. */
struct pass {
    struct plx_pipeline *pipeline;
    const struct plx_raw *raw; /* [PLX_EYES] */
    int64_t capture_ns;
    struct plx_frame *frame;
    struct plx_image plane[PLX_PLANE_COUNT]; /* where stages write them */
    struct plx_image grey[PLX_EYES];         /* raw luma */
    struct plx_image rectified[PLX_EYES];
};

struct step {
    enum plx_stage stage;
    int (*run)(struct pass *pass);
};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Lanes of the backend. */
enum { FIRST, BESIDE, COPIES };

static int go_to_lane(struct pass *pass, int lane)
{
    struct plx_stages *stages = pass->pipeline->stages;
    return stages->ops->lane ? stages->ops->lane(stages, lane) : 0;
}

/* Where stages do not write the frame itself, brings planes that are done to it, beside all that follows. */
static int publish(struct pass *pass, const enum plx_plane_id *id, size_t count)
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

static int convert(struct pass *pass)
{
    struct plx_stages *stages = pass->pipeline->stages;
    int result = stages->ops->convert(stages, &pass->raw[PLX_LEFT], &pass->grey[PLX_LEFT]);
    if (result == 0)
        result = stages->ops->convert(stages, &pass->raw[PLX_RIGHT], &pass->grey[PLX_RIGHT]);
    return result;
}

/* One eye's rows of the histogram plane. */
static struct plx_image eye_bins(const struct plx_image *histogram, int eye)
{
    struct plx_image bins = *histogram;
    bins.height /= PLX_EYES;
    bins.data = plx_row(&bins, eye * bins.height);
    return bins;
}

static int histogram(struct pass *pass)
{
    struct plx_stages *stages = pass->pipeline->stages;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && result == 0; eye++) {
        const struct plx_image bins = eye_bins(&pass->plane[PLX_PLANE_HISTOGRAM], eye);
        result = stages->ops->histogram(stages, &pass->grey[eye], PLX_HISTOGRAM_BINS, &bins);
    }
    return result;
}

static int rectify(struct pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    struct plx_stages *stages = pipeline->stages;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && result == 0; eye++) {
        if (!pipeline->identity[eye])
            result = stages->ops->rectify(stages, &pass->grey[eye], &pipeline->map[eye], &pass->rectified[eye],
                                          &pipeline->masked[eye]);
    }
    static const enum plx_plane_id done[] = {PLX_PLANE_LEFT, PLX_PLANE_RIGHT, PLX_PLANE_HISTOGRAM};
    return result == 0 ? publish(pass, done, COUNT(done)) : result;
}

static int prefilter(struct pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    struct plx_stages *stages = pipeline->stages;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && prefilter_on(pipeline) && result == 0; eye++)
        result = stages->ops->filter(stages, &pass->rectified[eye], &pipeline->filter, &pipeline->smooth[eye]);
    return result;
}

static int census(struct pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    struct plx_stages *stages = pipeline->stages;
    const struct plx_image *grey = prefilter_on(pipeline) ? pipeline->smooth : pass->rectified;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && result == 0; eye++)
        result = stages->ops->census(stages, &grey[eye], &pipeline->params.match, &pipeline->features[eye]);
    return result;
}

static int sgm(struct pass *pass)
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
static const struct plx_image *checked(const struct pass *pass)
{
    const struct plx_pipeline *pipeline = pass->pipeline;
    return speckle_on(pipeline) || temporal_on(pipeline) ? &pipeline->checked : &pass->plane[PLX_PLANE_DISPARITY];
}

static int check(struct pass *pass)
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

static int refine_strict(struct pass *pass)
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
static int refine_dense(struct pass *pass)
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

static int refine(struct pass *pass)
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

static int ground(struct pass *pass)
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

static int obstacles(struct pass *pass)
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

/* Whether rows still match is asked here and judged when the frame is done. */
static int match_rows(struct pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    struct plx_stages *stages = pipeline->stages;
    struct plx_image patch, strip;
    int result = 0;

    for (int i = 0; i < PLX_ALIGNMENT_PATCHES && result == 0; i++)
        if (plx_alignment_patch(&pipeline->alignment, i, &pass->rectified[PLX_LEFT], &pass->rectified[PLX_RIGHT], &patch,
                                &strip))
            result = stages->ops->image.match_template(stages, &strip, &patch, &pipeline->found[i]);
    return result;
}

/* After it the backend is done with the frame. */
static int finish(struct pass *pass)
{
    struct plx_stages *stages = pass->pipeline->stages;
    int result = match_rows(pass);

    if (result == 0)
        result = stages->ops->finish(stages);
    return result;
}

/* Geometry in metres and identity over time, on the CPU whatever the backend. */
static int tracks(struct pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    struct plx_frame *frame = pass->frame;
    const struct plx_calibration_info *calibration = &pipeline->calibration;
    const int min_disparity = pipeline->params.match.min_disparity;

    plx_ground_geometry(pipeline->found_ground, calibration, min_disparity, &frame->ground);
    if (pipeline->params.ground && !frame->ground.valid)
        frame->health |= PLX_HEALTH_GROUND_LOST;
    if (!pipeline->params.obstacles)
        return 0;
    int count = *pipeline->region_count < PLX_MAX_OBSTACLES ? (int)*pipeline->region_count : PLX_MAX_OBSTACLES;
    count = plx_obstacles_measure(pipeline->regions, count, calibration, min_disparity, &frame->ground,
                                  &pipeline->params.obstacle, frame->obstacle);
    plx_tracks_update(pipeline->tracks, pass->capture_ns, calibration, frame->obstacle, &count, PLX_MAX_OBSTACLES);
    frame->region_count = *pipeline->region_count;
    frame->obstacle_count = (uint32_t)count;
    return 0;
}

/* Whether the pictures can be trusted, as flags; on the CPU whatever the backend, when it is done with the frame. */
static uint32_t judge(const struct pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    const struct plx_image histogram = plx_pipeline_plane(pass->frame, PLX_PLANE_HISTOGRAM);
    const struct plx_image left = plx_pipeline_plane(pass->frame, PLX_PLANE_LEFT);
    uint32_t health = plx_light_look(&pipeline->light, &histogram);

    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_image bins = eye_bins(&histogram, eye);
        if (plx_freeze_look(&pipeline->freeze[eye], &pass->raw[eye], &bins))
            health |= PLX_HEALTH_FROZEN;
    }
    if (plx_alignment_look(&pipeline->alignment, &left, pipeline->found))
        health |= PLX_HEALTH_MISALIGNED;
    return health;
}

static void start_frame(struct pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    struct plx_frame *frame = pass->frame;

    memset(frame, 0, sizeof *frame);
    frame->calibration = pipeline->calibration;
    frame->width = (uint32_t)pipeline->width;
    frame->height = (uint32_t)pipeline->height;
    frame->min_disparity = pipeline->params.match.min_disparity;
    frame->disparities = (uint32_t)pipeline->params.match.disparities;
    frame->bytes = pipeline->bytes;
    memcpy(frame->plane, pipeline->plane, sizeof frame->plane);

    for (int i = 0; i < PLX_PLANE_COUNT; i++) {
        pass->plane[i] = plx_pipeline_plane(frame, (enum plx_plane_id)i);
        if (pipeline->far_planes && pass->plane[i].data)
            pass->plane[i].data = (uint8_t *)pipeline->far_planes + frame->plane[i].offset;
    }
    pass->rectified[PLX_LEFT] = pass->plane[PLX_PLANE_LEFT];
    pass->rectified[PLX_RIGHT] = pipeline->params.right ? pass->plane[PLX_PLANE_RIGHT] : pipeline->right;
    for (int eye = 0; eye < PLX_EYES; eye++)
        pass->grey[eye] = pipeline->identity[eye] ? pass->rectified[eye] : pipeline->grey[eye];
}

void plx_pipeline_watch(struct plx_pipeline *pipeline, struct plx_heartbeat *heartbeat)
{
    pipeline->heartbeat = heartbeat;
}

/* Runs the steps WAY[0] to WAY[COUNT - 1]. */
static int go(struct pass *pass, const struct step *way, size_t count)
{
    int result = 0;

    for (size_t i = 0; i < count && result == 0; i++) {
        const int64_t start = plx_now_ns();
        if (pass->pipeline->heartbeat)
            plx_heartbeat_mark(pass->pipeline->heartbeat, (int)way[i].stage);
        result = way[i].run(pass);
        pass->frame->stage_us[way[i].stage] += (uint32_t)((plx_now_ns() - start) / PLX_NS_PER_US);
    }
    return result;
}

int plx_pipeline_process(struct plx_pipeline *pipeline, const struct plx_raw raw[PLX_EYES], int64_t capture_ns,
                         struct plx_frame *frame)
{
    static const struct step upload[] = {
        {PLX_STAGE_CONVERT, convert}, /* raw -> 8-bit grey */
    };
    static const struct step same[] = {
        {PLX_STAGE_HISTOGRAM, histogram}, /* of raw luma, whole and by zones */
        {PLX_STAGE_RECTIFY, rectify},     /* the same point on the same row in both images */
        {PLX_STAGE_PREFILTER, prefilter}, /* box or Gaussian */
        {PLX_STAGE_CENSUS, census},       /* grey -> census and gradient words */
        {PLX_STAGE_SGM, sgm},             /* cost, aggregation, winner: disparity of both views */
        {PLX_STAGE_CHECK, check},         /* median, left-right check: the strict disparity */
        {PLX_STAGE_REFINE, refine},       /* speckle, temporal; dense; confidence */
        {PLX_STAGE_GROUND, ground},       /* the ground as a plane in disparity space */
        {PLX_STAGE_OBSTACLES, obstacles}, /* mask, open and close, label, regions */
    };
    static const struct step results[] = {
        {PLX_STAGE_OBSTACLES, finish}, /* waits for all of the above */
        {PLX_STAGE_TRACKS, tracks},    /* ground and regions in metres; identity and velocity */
    };
    const struct plx_stages_ops *ops = pipeline->stages->ops;
    struct pass pass = {.pipeline = pipeline, .raw = raw, .capture_ns = capture_ns, .frame = frame};
    int replayed = 0;

    start_frame(&pass);
    int result = ops->begin(pipeline->stages);
    if (result == 0)
        result = go(&pass, upload, COUNT(upload));
    if (result == 0 && ops->replay) {
        replayed = ops->replay(pipeline->stages, frame);
        result = replayed < 0 ? replayed : 0;
    }
    if (result == 0 && !replayed) {
        result = go(&pass, same, COUNT(same));
        if (result == 0 && ops->queue)
            result = ops->queue(pipeline->stages);
    }
    if (result == 0)
        result = go(&pass, results, COUNT(results));
    if (result == 0)
        frame->health |= judge(&pass);
    else
        ops->finish(pipeline->stages); /* nothing writes to the frame any more */
    frame->capture[PLX_LEFT].masked = pipeline->masked[PLX_LEFT];
    frame->capture[PLX_RIGHT].masked = pipeline->masked[PLX_RIGHT];
    return result;
}
