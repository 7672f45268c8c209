/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a frame that run on the CPU with every backend. */
#include "core/drift/matches.h"
#include "core/ground/ground.h"
#include "core/pipeline/internal.h"

static const struct plx_image *in(const struct plx_frame_context *context, const struct plx_step *step, int i)
{
    return &context->seen[step->in[i]];
}

static const struct plx_image *out(const struct plx_frame_context *context, const struct plx_step *step, int i)
{
    return &context->seen[step->out[i]];
}

/* --- before the backend ----------------------------------------------------------------------------------------------------
 */

/* What motion is told of the error of disparities. */
static void tell_motion(struct plx_pipeline *pipeline)
{
    const struct plx_disparity_error in_force =
        plx_correction_disparity_error(&plx_learner_correction(pipeline->learner)->applied);
    struct plx_disparity_error used, estimated;

    plx_learner_disparity_errors(pipeline->learner, &used, &estimated);
    plx_motion_set_disparity_error(pipeline->motion, &in_force, &used, &estimated);
}

/* Puts a new correction in force, if there is one. */
int plx_step_correction(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_pipeline *pipeline = context->pipeline;
    const struct plx_correction before = plx_learner_correction(pipeline->learner)->applied;
    const struct plx_remap *made;

    (void)step;
    const bool changed = plx_learner_take(pipeline->learner, &made);
    if (pipeline->motion) {
        tell_motion(pipeline);
        if (changed && !plx_correction_same_rows(&before, &plx_learner_correction(pipeline->learner)->applied))
            plx_motion_forget_steps(pipeline->motion); /* wrong rows had bent them */
    }
    context->frame->correction = *plx_learner_correction(pipeline->learner);
    return changed ? plx_pipeline_write_map(pipeline, made) : 0;
}

int plx_step_ground_prior(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_pipeline *pipeline = context->pipeline;

    (void)step;
    plx_ground_history_prior(&pipeline->ground_history, &pipeline->ground_params, context->capture_ns,
                             &pipeline->results->prior);
    return 0;
}

/* The white balance that the pictures before it asked for. */
int plx_step_develop(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_pipeline *pipeline = context->pipeline;

    (void)step;
    const struct plx_white_balance *balance = &pipeline->white_balance;
    const bool is_mosaic = plx_format_layout(context->raw[PLX_LEFT].format)->bayer;

    plx_white_balance_gains(balance, pipeline->development.gain);
    for (int i = 0; i < PLX_CHANNELS; i++)
        context->frame->colour.gain[i] = is_mosaic ? (float)pipeline->development.gain[i] / PLX_COLOUR_ONE : 1;
    context->frame->colour.known = !is_mosaic || balance->is_fixed || balance->is_known;
    return 0;
}

int plx_step_predict(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_pipeline *pipeline = context->pipeline;

    (void)step;
    plx_tracks_predict(pipeline->tracks, context->capture_ns, &pipeline->calibration, &pipeline->results->predictions);
    return 0;
}

int plx_step_expect_corners(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;

    (void)step;
    plx_motion_expect(context->pipeline->motion, context->capture_ns, &context->pipeline->results->flow);
    return 0;
}

/* --- beside the backend ----------------------------------------------------------------------------------------------------
 */

/* Brightness, and frozen pictures. */
int plx_step_check_pictures(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_pipeline *pipeline = context->pipeline;
    const struct plx_image *histogram = in(context, step, 0), *sums = in(context, step, 1);
    uint32_t health = plx_brightness_check_update(&pipeline->brightness, histogram);

    if (pipeline->checked_pairs < PLX_FROZEN_CHECK_PAIRS)
        pipeline->checked_pairs++;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_image bins = plx_eye_rows(histogram, eye);
        if (plx_frozen_check_update(&pipeline->frozen[eye], plx_row(sums, eye), &bins))
            health |= PLX_HEALTH_FROZEN;
    }
    context->frame->health |= health;
    return 0;
}

int plx_step_check_sharpness(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_pipeline *pipeline = context->pipeline;

    if (plx_sharpness_check_update(&pipeline->sharpness, in(context, step, 0), pipeline->width, pipeline->height))
        context->frame->health |= PLX_HEALTH_BLURRED;
    return 0;
}

int plx_step_white_balance(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_white_balance *balance = &context->pipeline->white_balance;

    plx_white_balance_update(balance, in(context, step, 0));
    return 0;
}

/* --- after the backend -----------------------------------------------------------------------------------------------------
 */

static int search_again(void *argument, const struct plx_flow_found **ret_found)
{
    const struct plx_frame_context *context = argument;
    struct plx_results *results = context->pipeline->results;
    struct plx_pyramid pyramids[2];

    plx_pipeline_pyramids(context, pyramids);
    int result = context->ops->flow(context->stages, pyramids, &results->flow, results->found);
    if (result == 0)
        result = context->ops->corner_disparities(context->stages, &context->image[PLX_IMAGE(DISPARITY)], &results->flow,
                                                  &context->image[PLX_IMAGE_CORNERS], results->found);
    if (result == 0)
        result = context->ops->finish(context->stages);
    *ret_found = results->found;
    return result;
}

int plx_step_motion(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    const struct plx_motion_sight sight = {in(context, step, 0), in(context, step, 1)->data, &context->pipeline->results->flow,
                                           search_again, argument};

    return plx_motion_update(context->pipeline->motion, &sight, context->capture_ns, &context->frame->motion);
}

/* The ground in metres. */
int plx_step_geometry(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_pipeline *pipeline = context->pipeline;
    const struct plx_ground *ground = in(context, step, 0)->data;

    plx_ground_geometry(ground, &pipeline->calibration, context->params->match.min_disparity, &context->frame->ground);
    if (!context->params->ground)
        return 0;
    plx_ground_history_add(&pipeline->ground_history, ground);
    if (ground->valid != PLX_GROUND_FOUND)
        context->frame->health |= PLX_HEALTH_GROUND_LOST;
    return 0;
}

/* Obstacles in metres. */
int plx_step_obstacles(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    const struct plx_pipeline *pipeline = context->pipeline;
    const struct plx_obstacle_params *params = &context->params->obstacle;
    struct plx_frame *frame = context->frame;
    const uint32_t regions = pipeline->results->region_count;
    const int listed = regions < PLX_MAX_OBSTACLES ? (int)regions : PLX_MAX_OBSTACLES;
    const bool of_stixels = params->method == PLX_OBSTACLES_OF_STIXELS && in(context, step, 0)->data;

    frame->region_count = regions;
    frame->obstacle_count = (uint32_t)plx_obstacles_measure(pipeline->results->regions, listed, &pipeline->calibration,
                                                            context->params->match.min_disparity, pipeline->height,
                                                            &frame->ground, params, frame->obstacle);
    plx_obstacles_outline(of_stixels ? in(context, step, 0) : NULL, context->params->match.min_disparity,
                          pipeline->columns_params.mask.infinity, frame->obstacle, (int)frame->obstacle_count);
    const struct plx_sure_images images = {in(context, step, 1), in(context, step, 2), in(context, step, 3)};
    plx_obstacles_sigma(&images, &frame->errors, &pipeline->calibration, context->params->match.min_disparity, frame->obstacle,
                        (int)frame->obstacle_count);
    return 0;
}

/* Identity over time. */
int plx_step_tracks(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    const struct plx_pipeline *pipeline = context->pipeline;
    struct plx_frame *frame = context->frame;
    int count = (int)frame->obstacle_count;

    (void)step;
    plx_tracks_update(pipeline->tracks, context->capture_ns, &pipeline->calibration, &frame->motion, frame->obstacle, &count,
                      PLX_MAX_OBSTACLES);
    frame->obstacle_count = (uint32_t)count;
    return 0;
}

int plx_step_alignment(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_pipeline *pipeline = context->pipeline;

    if (plx_alignment_update(&pipeline->alignment, in(context, step, 0), pipeline->results->match, &context->frame->alignment))
        context->frame->health |= PLX_HEALTH_MISALIGNED;
    return 0;
}

/* Looks at some places of both rectified images, for the drift of their rows. */
int plx_step_drift(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_learner *learner = pipeline->learner;
    struct plx_frame *frame = context->frame;
    struct plx_row_match match[PLX_PLACES_MAX];
    uint32_t place = 0;
    const int places = plx_learner_places(learner, context->capture_ns, &place);
    const int found =
        plx_row_matches_find(in(context, step, 0), in(context, step, 1), in(context, step, 2), frame->min_disparity,
                             &pipeline->calibration, place, places, plx_learner_drift(learner), match);

    plx_skew_update(&pipeline->skew, &frame->motion, pipeline->skew_ns);
    int count = 0;
    for (int i = 0; i < found; i++)
        if (plx_skew_rows(&pipeline->skew, &match[i], pipeline->calibration.fy) < PLX_SKEW_MAX_ROWS_PX)
            match[count++] = match[i];
    if (pipeline->motion && plx_skew_columns(&pipeline->skew, pipeline->calibration.fx) > PLX_SKEW_MAX_COLUMNS_PX)
        plx_motion_distrust_disparities(pipeline->motion);
    plx_learner_add(learner, match, count, pipeline->motion ? plx_motion_steps(pipeline->motion) : NULL);
    frame->drift = *plx_learner_drift(learner);
    if (plx_learner_gave_up(learner))
        frame->health |= PLX_HEALTH_CORRECTIONS_OFF;
    return 0;
}

int plx_step_mount(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_frame *frame = context->frame;

    (void)step;
    if (plx_mount_check_update(&pipeline->mount_check, &context->params->mount, &frame->ground, context->capture_ns))
        frame->health |= PLX_HEALTH_CAMERA_MOVED;
    plx_mount_info(&context->params->mount, &frame->ground, &frame->mount);
    return 0;
}

/* Why the frame cannot show obstacles. */
int plx_step_blindness(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_frame *frame = context->frame;

    (void)step;
    if (context->pipeline->raw) {
        frame->health |= PLX_HEALTH_NOT_CALIBRATED;
        frame->blind = PLX_BLIND_NOT_CALIBRATED;
        return 0;
    }
    if (!context->params->obstacles)
        frame->blind |= PLX_BLIND_OBSTACLES_OFF;
    if (context->params->ground && !frame->ground.valid)
        frame->blind |= PLX_BLIND_NO_GROUND;
    if (frame->health & (PLX_HEALTH_DARK | PLX_HEALTH_OVEREXPOSED | PLX_HEALTH_FROZEN))
        frame->blind |= PLX_BLIND_NO_PICTURE;
    return 0;
}

/* Adds the frame to the map of the last metres. */
int plx_step_map(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    const struct plx_pipeline *pipeline = context->pipeline;
    const bool doubtful = pipeline->motion && plx_motion_is_doubtful(pipeline->motion);

    plx_local_map_update(pipeline->local_map, context->frame, doubtful, in(context, step, 0), in(context, step, 1),
                         context->capture_ns, out(context, step, 0), &context->frame->map);
    return 0;
}

/* The robot's speed, and the zones that count at it. */
int plx_step_zones(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_frame *frame = context->frame;
    const double speed_mps = plx_speed_update(&pipeline->speed, &frame->motion, context->capture_ns);

    frame->verdict.speed_mps = (float)speed_mps;
    if (pipeline->zones)
        plx_zones_update(pipeline->zones, &frame->map, in(context, step, 0), in(context, step, 1), speed_mps,
                         context->capture_ns, frame->zone);
    return 0;
}
