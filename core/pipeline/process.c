/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pipeline/pipeline.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/base/heartbeat.h"
#include "core/drift/matches.h"
#include "core/ground/ground.h"
#include "core/ground/scan.h"
#include "core/pipeline/internal.h"

#define OUTPUTS (PLX_PLANE_COUNT + 2) /* the planes, the right image and the ground */

static void end_stage(struct plx_frame_context *context)
{
    const int64_t now = plx_now_ns();

    if (context->stage_start_ns > 0)
        context->frame->stage_us[context->stage] += (uint32_t)((now - context->stage_start_ns) / PLX_NS_PER_US);
    context->stage_start_ns = now;
}

/* Runs one step, as a part of STAGE; after a failure, none. */
static void run_step(struct plx_frame_context *context, enum plx_stage stage, int (*step)(struct plx_frame_context *context))
{
    struct plx_stages *stages = context->pipeline->stages;

    if (context->result < 0)
        return;
    if (!stages->ops->run_frame) /* run_frame measures the stages */
        end_stage(context);
    plx_heartbeat_busy((int)stage);
    context->stage = stage;
    if (stages->ops->begin_stage)
        context->result = stages->ops->begin_stage(stages, stage);
    if (context->result == 0)
        context->result = step(context);
}

/* All stages of a frame that a backend computes, in order. A GPU may run some of them at the same time. */
static int run_stages(void *argument)
{
    struct plx_frame_context *context = argument;

    run_step(context, PLX_STAGE_CONVERT, plx_step_convert);     /* raw -> 8-bit grey */
    run_step(context, PLX_STAGE_HISTOGRAM, plx_step_histogram); /* of the grey pictures: whole and by zones */
    if (context->pipeline->raw)
        return context->result;
    run_step(context, PLX_STAGE_RECTIFY, plx_step_rectify);     /* the same point on the same row in both images */
    run_step(context, PLX_STAGE_RECTIFY, plx_step_match_rows);  /* patches for the check of the alignment */
    run_step(context, PLX_STAGE_PREFILTER, plx_step_prefilter); /* box or Gaussian */
    run_step(context, PLX_STAGE_CENSUS, plx_step_census);       /* grey -> census and gradient words */
    run_step(context, PLX_STAGE_SGM, plx_step_sgm);         /* cost, aggregation, winner-takes-all: disparity of both views */
    run_step(context, PLX_STAGE_CHECK, plx_step_check);     /* median, left-right check: the strict disparity */
    run_step(context, PLX_STAGE_REFINE, plx_step_refine);   /* speckle, temporal; even; dense, agree; confidence */
    run_step(context, PLX_STAGE_GROUND, plx_step_ground);   /* the ground as a plane in disparity space */
    run_step(context, PLX_STAGE_COLUMNS, plx_step_columns); /* stixels and the scan */
    run_step(context, PLX_STAGE_OBSTACLES, plx_step_obstacles); /* records made of stixels, and what they measure */
    return context->result;
}

/* The stages whose arguments change from frame to frame. */
static int run_changing(void *argument)
{
    struct plx_frame_context *context = argument;

    run_step(context, PLX_STAGE_CONVERT, plx_step_convert);
    if (!context->pipeline->raw)
        run_step(context, PLX_STAGE_RECTIFY, plx_step_match_rows);
    return context->result;
}

/* Runs one part of STAGE that the pipeline itself computes, on the CPU with every backend. */
static void run_on_cpu(struct plx_frame_context *context, enum plx_stage stage, void (*part)(struct plx_frame_context *context))
{
    plx_heartbeat_busy((int)stage);
    context->stage = stage;
    part(context);
    end_stage(context);
}

static void measure_motion(struct plx_frame_context *context)
{
    struct plx_motion *motion = context->pipeline->motion;
    const struct plx_image left = plx_pipeline_plane(context->frame, PLX_PLANE_LEFT);
    const struct plx_image disparity = plx_pipeline_plane(context->frame, PLX_PLANE_DISPARITY);

    if (motion) /* it refuses only planes of another size than its own, which these have */
        plx_motion_update(motion, &left, &disparity, context->capture_ns, &context->frame->motion);
}

/* Ground and obstacles in metres. */
static void measure_geometry(struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_frame *frame = context->frame;
    const struct plx_calibration_info *calibration = &pipeline->calibration;
    const int min_disparity = pipeline->params.match.min_disparity;
    const uint32_t regions = pipeline->results->region_count;
    const int listed = regions < PLX_MAX_OBSTACLES ? (int)regions : PLX_MAX_OBSTACLES;

    plx_ground_geometry(&pipeline->results->ground, calibration, min_disparity, &frame->ground);
    if (pipeline->params.ground) {
        plx_ground_history_add(&pipeline->ground_history, &pipeline->results->ground);
        if (pipeline->results->ground.valid != PLX_GROUND_FOUND)
            frame->health |= PLX_HEALTH_GROUND_LOST;
    }
    const struct plx_image scan = plx_pipeline_plane(frame, PLX_PLANE_SCAN);
    if (scan.data) {
        const struct plx_image disparity = plx_pipeline_plane(frame, PLX_PLANE_DISPARITY);
        const struct plx_ground *ground = &pipeline->results->ground;
        plx_scan_close(scan.data, scan.width);
        plx_scan_refuse_slopes(&disparity, ground, calibration, &pipeline->columns_params, scan.data);
        plx_scan_confirm_drops(scan.data, scan.width);
        plx_scan_end_at_rises(&disparity, ground, calibration, &pipeline->columns_params, scan.data);
    }
    if (!pipeline->params.obstacles)
        return;
    frame->region_count = regions;
    frame->obstacle_count =
        (uint32_t)plx_obstacles_measure(pipeline->results->regions, listed, calibration, min_disparity, pipeline->height,
                                        &frame->ground, &pipeline->params.obstacle, frame->obstacle);
    const struct plx_image stixels = plx_pipeline_plane(frame, PLX_PLANE_STIXELS);
    plx_obstacles_outline(has_stixel_records(&pipeline->params) ? &stixels : NULL, min_disparity,
                          pipeline->columns_params.mask.infinity, frame->obstacle, (int)frame->obstacle_count);
}

/* Identity over time. */
static void update_tracks(struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    const struct plx_calibration_info *calibration = &pipeline->calibration;
    const int64_t capture_ns = context->capture_ns;
    struct plx_frame *frame = context->frame;
    int count = (int)frame->obstacle_count;

    if (!pipeline->params.obstacles)
        return;
    plx_tracks_update(pipeline->tracks, capture_ns, calibration, &frame->motion, frame->obstacle, &count, PLX_MAX_OBSTACLES);
    frame->obstacle_count = (uint32_t)count;
}

/* The rectified right image where the CPU reads it. */
static struct plx_image seen_right(const struct plx_frame_context *context)
{
    const struct plx_pipeline *pipeline = context->pipeline;
    return pipeline->params.right ? plx_pipeline_plane(context->frame, PLX_PLANE_RIGHT) : pipeline->right_seen;
}

/* Looks at some places of both rectified pictures, for the drift of their rows. */
static void measure_drift(const struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_frame *frame = context->frame;
    const struct plx_image left = plx_pipeline_plane(frame, PLX_PLANE_LEFT),
                           disparity = plx_pipeline_plane(frame, PLX_PLANE_DISPARITY), right = seen_right(context);
    struct plx_row_match match[PLX_PLACES_MOST];
    uint32_t place = 0;
    const int places = plx_learner_places(pipeline->learner, context->capture_ns, &place);
    const int found = plx_row_matches_find(&left, &right, &disparity, frame->min_disparity, &pipeline->calibration, place,
                                           places, plx_learner_drift(pipeline->learner), match);

    plx_skew_update(&pipeline->skew, &frame->motion, pipeline->skew_ns);
    int count = 0;
    for (int i = 0; i < found; i++)
        if (plx_skew_rows(&pipeline->skew, &match[i], pipeline->calibration.fy) < PLX_SKEW_MOST_ROWS_PX)
            match[count++] = match[i];
    if (pipeline->motion && plx_skew_columns(&pipeline->skew, pipeline->calibration.fx) > PLX_SKEW_MOST_COLUMNS_PX)
        plx_motion_distrust_disparities(pipeline->motion);
    plx_learner_add(pipeline->learner, match, count, pipeline->motion ? plx_motion_steps(pipeline->motion) : NULL);
    frame->drift = *plx_learner_drift(pipeline->learner);
}

/* Checks pictures alone: brightness, frozen and blurred ones; returns health flags. */
static uint32_t check_pictures(const struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    const struct plx_image histogram = plx_pipeline_plane(context->frame, PLX_PLANE_HISTOGRAM);
    const struct plx_image left = plx_pipeline_plane(context->frame, PLX_PLANE_LEFT), right = seen_right(context);
    uint32_t health = plx_brightness_check_update(&pipeline->brightness, &histogram);
    if (pipeline->checked_pairs < PLX_FROZEN_CHECK_PAIRS)
        pipeline->checked_pairs++;

    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_image bins = plx_eye_bins(&histogram, eye);
        if (plx_frozen_check_update(&pipeline->frozen[eye], &context->raw[eye], &bins))
            health |= PLX_HEALTH_FROZEN;
    }
    if (!pipeline->raw && plx_sharpness_check_update(&pipeline->sharpness, &left, &right))
        health |= PLX_HEALTH_BLURRED;
    return health;
}

/* What needs no more than pictures, beside the stages of a backend that does not work on this processor. */
static void look_beside(void *argument)
{
    struct plx_frame_context *context = argument;
    struct plx_motion *motion = context->pipeline->motion;
    const struct plx_image left = plx_pipeline_plane(context->frame, PLX_PLANE_LEFT);

    plx_heartbeat_busy(PLX_STAGE_MOTION);
    if (motion) /* as in measure_motion */
        plx_motion_look(motion, &left, context->capture_ns);
    context->picture_health = check_pictures(context);
    context->looked_ns = plx_now_ns();
    plx_heartbeat_busy((int)context->stage);
}

/* Checks pictures, alignment, drift and mount; returns health flags. */
static uint32_t check_frame(const struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    const struct plx_image left = plx_pipeline_plane(context->frame, PLX_PLANE_LEFT);
    uint32_t health = context->looked_ns > 0 ? context->picture_health : check_pictures(context);

    if (pipeline->raw)
        return health | PLX_HEALTH_NOT_CALIBRATED;
    if (plx_alignment_look(&pipeline->alignment, &left, pipeline->results->match, &context->frame->alignment))
        health |= PLX_HEALTH_MISALIGNED;
    measure_drift(context);
    if (plx_learner_gave_up(pipeline->learner))
        health |= PLX_HEALTH_CORRECTIONS_OFF;
    if (plx_mount_check_update(&pipeline->mount_check, &pipeline->params.mount, &context->frame->ground, context->capture_ns))
        health |= PLX_HEALTH_CAMERA_MOVED;
    plx_mount_info(&pipeline->params.mount, &context->frame->ground, &context->frame->mount);
    return health;
}

static void start_frame(struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_frame *frame = context->frame;

    memset(frame, 0, sizeof *frame);
    frame->calibration = pipeline->calibration;
    if (!pipeline->raw)
        frame->correction = *plx_learner_correction(pipeline->learner);
    frame->width = (uint32_t)pipeline->width;
    frame->height = (uint32_t)pipeline->height;
    frame->min_disparity = pipeline->params.match.min_disparity;
    frame->disparities = (uint32_t)pipeline->params.match.disparities;
    frame->bytes = pipeline->bytes;
    frame->blind_within_m = pipeline->blind_within_m;
    memcpy(frame->plane, pipeline->plane, sizeof frame->plane);

    for (int i = 0; i < PLX_PLANE_COUNT; i++) {
        context->plane[i] = plx_pipeline_plane(frame, (enum plx_plane_id)i);
        if (pipeline->device_planes && context->plane[i].data)
            context->plane[i].data = (uint8_t *)pipeline->device_planes + frame->plane[i].offset;
    }
    context->rectified[PLX_LEFT] = context->plane[PLX_PLANE_LEFT];
    context->rectified[PLX_RIGHT] = pipeline->params.right ? context->plane[PLX_PLANE_RIGHT] : pipeline->right;
    for (int eye = 0; eye < PLX_EYES; eye++)
        context->grey[eye] = pipeline->identity[eye] ? context->rectified[eye] : pipeline->grey[eye];
}

static enum plx_stage completed_by(const struct plx_pipeline *pipeline, enum plx_plane_id id)
{
    if (id == PLX_PLANE_STIXELS && has_stixel_records(&pipeline->params))
        return PLX_STAGE_OBSTACLES; /* their records */
    if (id == PLX_PLANE_DISPARITY && strict_last(pipeline) > PLX_STRICT_CHECK)
        return PLX_STAGE_REFINE;
    return plx_pipeline_plane_stage(id);
}

/* Lists the outputs that the backend copies to the frame, if stages do not write them in place. Returns their number. */
static int list_outputs(const struct plx_frame_context *context, struct plx_output output[OUTPUTS])
{
    const struct plx_pipeline *pipeline = context->pipeline;
    int count = 0;

    for (int i = 0; i < PLX_PLANE_COUNT && pipeline->device_planes; i++) {
        const struct plx_plane *plane = &context->frame->plane[i];
        if (plane->width > 0 && i != PLX_PLANE_MAP)
            output[count++] =
                (struct plx_output){completed_by(pipeline, (enum plx_plane_id)i), context->plane[i].data,
                                    (uint8_t *)context->frame + plane->offset, (size_t)plane->pitch * plane->height};
    }
    if (pipeline->right.data != pipeline->right_seen.data)
        output[count++] = (struct plx_output){PLX_STAGE_RECTIFY, pipeline->right.data, pipeline->right_seen.data,
                                              pipeline->right.pitch * (size_t)pipeline->right.height};
    if (pipeline->params.ground && pipeline->ground != &pipeline->results->ground)
        output[count++] =
            (struct plx_output){PLX_STAGE_GROUND, pipeline->ground, &pipeline->results->ground, sizeof *pipeline->ground};
    return count;
}

/* Runs the stages on the backend. The time outside stages (launch, copies of outputs, waiting) counts for the last stage, or
 * for motion, if the look at the pictures lasted longer than the stages. */
static int run_on_backend(struct plx_frame_context *context)
{
    struct plx_stages *stages = context->pipeline->stages;
    uint32_t *stage_us = context->frame->stage_us;
    struct plx_output output[OUTPUTS];
    const int outputs = list_outputs(context, output);
    const struct plx_frame_run run = {.body = run_stages,
                                      .changing = run_changing,
                                      .context = context,
                                      .key = context->frame,
                                      .output = output,
                                      .outputs = outputs,
                                      .beside = context->pipeline->raw ? NULL : look_beside,
                                      .ret_stage_us = stage_us};
    const int64_t start_ns = plx_now_ns();
    uint32_t sum_us = 0;

    const int result = stages->ops->run_frame(stages, &run);
    context->stage_start_ns = plx_now_ns();
    const uint32_t all_us = (uint32_t)((context->stage_start_ns - start_ns) / PLX_NS_PER_US);
    for (int i = 0; i < PLX_STAGE_COUNT; i++)
        sum_us += stage_us[i];
    const bool looks_last = context->looked_ns - start_ns > sum_us * PLX_NS_PER_US;
    stage_us[looks_last ? PLX_STAGE_MOTION : PLX_STAGE_OBSTACLES] += all_us > sum_us ? all_us - sum_us : 0;
    return result;
}

/* Adds the frame to the map of the last metres. */
static void update_map(struct plx_frame_context *context)
{
    struct plx_frame *frame = context->frame;
    const struct plx_image scan = plx_pipeline_plane(frame, PLX_PLANE_SCAN),
                           stixels = plx_pipeline_plane(frame, PLX_PLANE_STIXELS),
                           cells = plx_pipeline_plane(frame, PLX_PLANE_MAP);

    struct plx_pipeline *pipeline = context->pipeline;
    const double speed = plx_speed_update(&pipeline->speed, &frame->motion, context->capture_ns);

    frame->verdict.speed_mps = (float)speed;
    if (pipeline->local_map)
        plx_local_map_update(pipeline->local_map, frame, pipeline->motion && plx_motion_is_doubtful(pipeline->motion), &scan,
                             &stixels, context->capture_ns, &cells, &frame->map);
    if (pipeline->zones)
        plx_zones_update(pipeline->zones, &frame->map, &cells, &scan, speed, context->capture_ns, frame->zone);
}

/* Why FRAME cannot show obstacles, enum plx_blind bits. */
static uint32_t why_blind(const struct plx_pipeline *pipeline, const struct plx_frame *frame)
{
    uint32_t blind = 0;
    if (pipeline->raw)
        return PLX_BLIND_NOT_CALIBRATED;
    if (!pipeline->params.obstacles)
        blind |= PLX_BLIND_OBSTACLES_OFF;
    if (pipeline->params.ground && !frame->ground.valid)
        blind |= PLX_BLIND_NO_GROUND;
    if (frame->health & (PLX_HEALTH_DARK | PLX_HEALTH_OVEREXPOSED | PLX_HEALTH_FROZEN))
        blind |= PLX_BLIND_NO_PICTURE;
    return blind;
}

static int write_map(struct plx_pipeline *pipeline, const struct plx_remap *made)
{
    struct plx_remap *map = &pipeline->map[PLX_RIGHT];
    const size_t bytes = (size_t)map->width * (size_t)map->height * sizeof *map->entry;
    return pipeline->stages->ops->write_local(pipeline->stages, map->entry, made->entry, bytes);
}

/* What motion is told of the error of disparities, before a frame. */
static void tell_motion(struct plx_pipeline *pipeline)
{
    const struct plx_disparity_error in_force = plx_correction_columns(&plx_learner_correction(pipeline->learner)->applied);
    struct plx_disparity_error used, estimated;

    plx_learner_columns(pipeline->learner, &used, &estimated);
    plx_motion_set_disparity_error(pipeline->motion, &in_force, &used, &estimated);
}

/* Puts a new correction in force, if there is one. */
static int correct(struct plx_pipeline *pipeline)
{
    const struct plx_remap *made;

    if (pipeline->raw)
        return 0;
    const struct plx_correction before = plx_learner_correction(pipeline->learner)->applied;
    const bool changed = plx_learner_take(pipeline->learner, &made);
    if (pipeline->motion) {
        tell_motion(pipeline);
        if (changed && !plx_correction_same_rows(&before, &plx_learner_correction(pipeline->learner)->applied))
            plx_motion_forget_steps(pipeline->motion); /* wrong rows had bent them */
    }
    return changed ? write_map(pipeline, made) : 0;
}

int plx_pipeline_keep_corrections(struct plx_pipeline *pipeline, const struct plx_correction_store *store)
{
    if (pipeline->raw || pipeline->params.correction == PLX_CORRECTION_OFF)
        return 0;
    const struct plx_remap *made = plx_learner_keep(pipeline->learner, store);
    return made ? write_map(pipeline, made) : 0;
}

void plx_pipeline_save_learned(struct plx_pipeline *pipeline, struct plx_learned *ret_learned)
{
    plx_learner_save(pipeline->learner, ret_learned);
}

int plx_pipeline_continue_learned(struct plx_pipeline *pipeline, const struct plx_learned *learned)
{
    const struct plx_remap *made = plx_learner_continue(pipeline->learner, learned);
    return made ? write_map(pipeline, made) : 0;
}

int plx_pipeline_process(struct plx_pipeline *pipeline, const struct plx_raw raw[PLX_EYES], int64_t capture_ns,
                         struct plx_frame *frame)
{
    struct plx_stages *stages = pipeline->stages;
    struct plx_frame_context context = {.pipeline = pipeline, .raw = raw, .capture_ns = capture_ns, .frame = frame};

    int result = correct(pipeline);
    if (result < 0)
        return result;
    start_frame(&context);
    plx_ground_history_prior(&pipeline->ground_history, &pipeline->ground_params, capture_ns, &pipeline->results->prior);
    if (has_stixel_records(&pipeline->params))
        plx_tracks_predict(pipeline->tracks, capture_ns, &pipeline->calibration, &pipeline->results->predictions);
    result = stages->ops->run_frame ? run_on_backend(&context) : run_stages(&context);
    if (result < 0)
        return result;
    if (!stages->ops->run_frame)
        end_stage(&context);
    if (!pipeline->raw) {
        run_on_cpu(&context, PLX_STAGE_MOTION, measure_motion);
        run_on_cpu(&context, PLX_STAGE_TRACKS, measure_geometry);
        run_on_cpu(&context, PLX_STAGE_TRACKS, update_tracks);
    }
    frame->health |= check_frame(&context);
    frame->blind = why_blind(pipeline, frame);
    context.stage_start_ns = plx_now_ns(); /* the checks of the pictures are no stage */
    if (!pipeline->raw)
        run_on_cpu(&context, PLX_STAGE_MAP, update_map);
    plx_pipeline_judge(pipeline, 0, frame);
    for (int eye = 0; eye < PLX_EYES; eye++)
        frame->capture[eye].masked = pipeline->results->masked[eye];
    return 0;
}

uint32_t plx_pipeline_last_track(const struct plx_pipeline *pipeline)
{
    return plx_tracks_last(pipeline->tracks);
}

void plx_pipeline_continue_tracks(struct plx_pipeline *pipeline, uint32_t last)
{
    plx_tracks_continue(pipeline->tracks, last);
}

void plx_pipeline_continue_motion(struct plx_pipeline *pipeline, const struct plx_motion_info *last)
{
    if (!pipeline->motion || last->source == PLX_MOTION_NONE)
        return;
    plx_motion_continue(pipeline->motion, last);
    if (pipeline->local_map)
        plx_local_map_continue(pipeline->local_map);
}

/* Flags, enum plx_health, whose checks have not seen enough since the start to say that all is well. */
static uint32_t unchecked(const struct plx_pipeline *pipeline)
{
    uint32_t flags = 0;
    if (pipeline->checked_pairs < PLX_FROZEN_CHECK_PAIRS)
        flags |=
            PLX_HEALTH_FROZEN | PLX_HEALTH_DARK | PLX_HEALTH_OVEREXPOSED | PLX_HEALTH_BRIGHTNESS_MISMATCH | PLX_HEALTH_BLURRED;
    if (!pipeline->raw && !pipeline->alignment.is_known)
        flags |= PLX_HEALTH_MISALIGNED;
    if (!pipeline->raw && pipeline->params.mount.z_m > 0 && !pipeline->mount_check.is_known)
        flags |= PLX_HEALTH_CAMERA_MOVED;
    return flags;
}

void plx_pipeline_judge(const struct plx_pipeline *pipeline, int64_t period_ns, struct plx_frame *frame)
{
    plx_verdict_decide(&pipeline->params.verdict, unchecked(pipeline), period_ns, frame);
}

void plx_pipeline_set_skew(struct plx_pipeline *pipeline, int64_t skew_ns)
{
    pipeline->skew_ns = skew_ns;
}

void plx_pipeline_set_prior(struct plx_pipeline *pipeline, const struct plx_motion_hint *hint)
{
    plx_speed_hint(&pipeline->speed, hint);
    if (pipeline->motion)
        plx_motion_set_prior(pipeline->motion, hint);
}

struct plx_image plx_pipeline_plane(struct plx_frame *frame, enum plx_plane_id id)
{
    const struct plx_plane *plane = &frame->plane[id];

    if (plane->width == 0)
        return (struct plx_image){.data = NULL};
    return (struct plx_image){.data = (uint8_t *)frame + plane->offset,
                              .width = (int)plane->width,
                              .height = (int)plane->height,
                              .pitch = plane->pitch,
                              .type = (enum plx_type)plane->element};
}
