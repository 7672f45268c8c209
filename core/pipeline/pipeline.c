/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pipeline/pipeline.h"

#include <string.h>

#include <parallax/error.h>

#include "core/clock.h"
#include "core/heartbeat.h"
#include "core/obstacles.h"
#include "core/pipeline/internal.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Geometry in metres and identity over time, on the CPU whatever the backend. */
static int tracks(struct plx_pass *pass)
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

uint32_t plx_judge_pictures(const struct plx_pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    const struct plx_image histogram = plx_pipeline_plane(pass->frame, PLX_PLANE_HISTOGRAM);
    uint32_t health = plx_brightness_check_update(&pipeline->light, &histogram);

    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_image bins = plx_eye_bins(&histogram, eye);
        if (plx_frozen_check_update(&pipeline->freeze[eye], &pass->raw[eye], &bins))
            health |= PLX_HEALTH_FROZEN;
    }
    return health;
}

/* Judges what comes of rectification, too. */
static uint32_t judge_rectified(const struct plx_pass *pass)
{
    struct plx_pipeline *pipeline = pass->pipeline;
    const struct plx_image left = plx_pipeline_plane(pass->frame, PLX_PLANE_LEFT);
    uint32_t health = plx_judge_pictures(pass);

    if (plx_alignment_look(&pipeline->alignment, &left, pipeline->found, &pass->frame->alignment))
        health |= PLX_HEALTH_MISALIGNED;
    return health;
}

static const struct plx_step rectified_stages[] = {
    {PLX_STAGE_CONVERT, plx_step_convert, true},           /* raw -> 8-bit grey */
    {PLX_STAGE_HISTOGRAM, plx_step_histogram, false},      /* of raw luma, whole and by zones */
    {PLX_STAGE_RECTIFY, plx_step_rectify, false},          /* the same point on the same row in both images */
    {PLX_STAGE_RECTIFY, plx_step_publish_pictures, false}, /* where stages do not write the frame itself */
    {PLX_STAGE_RECTIFY, plx_step_match_rows, true},        /* is it the same row? */
    {PLX_STAGE_PREFILTER, plx_step_prefilter, false},      /* box or Gaussian */
    {PLX_STAGE_CENSUS, plx_step_census, false},            /* grey -> census and gradient words */
    {PLX_STAGE_SGM, plx_step_sgm, false},                  /* cost, aggregation, winner: disparity of both views */
    {PLX_STAGE_CHECK, plx_step_check, false},              /* median, left-right check: the strict disparity */
    {PLX_STAGE_REFINE, plx_step_refine, false},            /* speckle, temporal; dense; confidence */
    {PLX_STAGE_GROUND, plx_step_ground, false},            /* the ground as a plane in disparity space */
    {PLX_STAGE_OBSTACLES, plx_step_obstacles, false},      /* mask, open and close, label, regions */
};
static const struct plx_step rectified_results[] = {
    {PLX_STAGE_OBSTACLES, plx_step_finish, false}, /* waits for all that was begun */
    {PLX_STAGE_TRACKS, tracks, false},             /* ground and regions in metres; identity and velocity */
};
const struct plx_way plx_way_rectified = {rectified_stages, COUNT(rectified_stages), rectified_results,
                                          COUNT(rectified_results), judge_rectified};

static void start_frame(struct plx_pass *pass)
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

uint32_t plx_pipeline_last_track(const struct plx_pipeline *pipeline)
{
    return plx_tracks_last(pipeline->tracks);
}

void plx_pipeline_continue_tracks(struct plx_pipeline *pipeline, uint32_t last)
{
    plx_tracks_continue(pipeline->tracks, last);
}

/* Runs STEP[0] to STEP[COUNT - 1]; those alone that have to be run ANEW, if the others are recorded. */
static int go(struct plx_pass *pass, const struct plx_step *step, size_t count, bool recorded)
{
    int result = 0;

    for (size_t i = 0; i < count && result == 0; i++) {
        if (recorded && !step[i].anew)
            continue;
        const int64_t start = plx_now_ns();
        plx_heartbeat_busy((int)step[i].stage);
        result = step[i].run(pass);
        pass->frame->stage_us[step[i].stage] += (uint32_t)((plx_now_ns() - start) / PLX_NS_PER_US);
    }
    return result;
}

/* What a frame that failed leaves. */
static int fail(struct plx_pipeline *pipeline, int result)
{
    pipeline->stages->ops->finish(pipeline->stages); /* nothing writes to the frame any more */
    return result;
}

int plx_pipeline_begin(struct plx_pipeline *pipeline, const struct plx_raw raw[PLX_EYES], int64_t capture_ns,
                       struct plx_frame *frame)
{
    const struct plx_way *way = pipeline->way;
    const struct plx_stages_ops *ops = pipeline->stages->ops;
    struct plx_pass *pass = &pipeline->pass;
    int recorded = 0;

    *pass = (struct plx_pass){
        .pipeline = pipeline, .raw = {raw[PLX_LEFT], raw[PLX_RIGHT]}, .capture_ns = capture_ns, .frame = frame};
    start_frame(pass);
    int result = ops->begin(pipeline->stages);
    if (result == 0 && ops->replay) {
        recorded = ops->replay(pipeline->stages, frame);
        result = recorded < 0 ? recorded : 0;
    }
    if (result == 0)
        result = go(pass, way->stage, way->stages, recorded > 0);
    if (result == 0 && ops->queue)
        result = ops->queue(pipeline->stages);
    if (result < 0)
        return fail(pipeline, result);
    plx_heartbeat_busy(PLX_STAGE_OBSTACLES);
    pass->queued_ns = plx_now_ns();
    return 0;
}

int plx_pipeline_end(struct plx_pipeline *pipeline)
{
    const struct plx_way *way = pipeline->way;
    struct plx_pass *pass = &pipeline->pass;
    struct plx_frame *frame = pass->frame;

    frame->stage_us[PLX_STAGE_OBSTACLES] += (uint32_t)((plx_now_ns() - pass->queued_ns) / PLX_NS_PER_US);
    const int result = go(pass, way->result, way->results, false);
    if (result < 0)
        return fail(pipeline, result);
    frame->health |= way->judge(pass);
    frame->capture[PLX_LEFT].masked = pipeline->masked[PLX_LEFT];
    frame->capture[PLX_RIGHT].masked = pipeline->masked[PLX_RIGHT];
    return 0;
}

int plx_pipeline_process(struct plx_pipeline *pipeline, const struct plx_raw raw[PLX_EYES], int64_t capture_ns,
                         struct plx_frame *frame)
{
    const int result = plx_pipeline_begin(pipeline, raw, capture_ns, frame);
    return result == 0 ? plx_pipeline_end(pipeline) : result;
}
