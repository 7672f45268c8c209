/* SPDX-License-Identifier: Apache-2.0 */
/* One frame: its steps in order, and what a pipeline takes from others between frames. */
#include "core/pipeline/pipeline.h"

#include <string.h>

#include "core/pipeline/internal.h"

static void start_frame(struct plx_frame_context *context)
{
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_frame *frame = context->frame;

    memset(frame, 0, sizeof *frame);
    frame->calibration = pipeline->calibration;
    frame->width = (uint32_t)pipeline->width;
    frame->height = (uint32_t)pipeline->height;
    frame->min_disparity = pipeline->params.match.min_disparity;
    frame->disparities = (uint32_t)pipeline->params.match.disparities;
    frame->bytes = pipeline->bytes;
    frame->blind_within_m = pipeline->blind_within_m;
    frame->errors = pipeline->errors;
    memcpy(frame->plane, pipeline->plane, sizeof frame->plane);

    memcpy(context->image, pipeline->image, sizeof context->image);
    memcpy(context->seen, pipeline->seen, sizeof context->seen);
    for (int i = 0; i < PLX_PLANE_COUNT; i++) {
        const struct plx_image plane = plx_pipeline_plane(frame, (enum plx_plane_id)i);
        if (!plane.data)
            continue;
        struct plx_image *image = &context->image[PLX_IMAGE_PLANES + i];
        *image = context->seen[PLX_IMAGE_PLANES + i] = plane;
        if (pipeline->device_planes)
            image->data = (uint8_t *)pipeline->device_planes + frame->plane[i].offset;
    }
}

/* Lists the images that the backend copies to where the CPU reads them. Returns their number. */
static int list_outputs(const struct plx_frame_context *context, struct plx_output output[PLX_IMAGES])
{
    int count = 0;

    for (int id = PLX_IMAGE_PLANES; id < PLX_IMAGES; id++) {
        const struct plx_image *from = &context->image[id], *to = &context->seen[id];
        const int completed_by = context->pipeline->plan.image[id].completed_by;
        if (completed_by >= 0 && to->data && to->data != from->data)
            output[count++] = (struct plx_output){completed_by, context->pipeline->plan.image[id].beside, from->data, to->data,
                                                  to->pitch * (size_t)to->height};
    }
    return count;
}

static int run_on_backend(struct plx_frame_context *context)
{
    const struct plx_plan *plan = &context->pipeline->plan;
    struct plx_output output[PLX_IMAGES];
    const struct plx_frame_run run = {.step = &plan->step[plan->first[PLX_STEP_BACKEND]],
                                      .backend_steps = plx_plan_steps(plan, PLX_STEP_BACKEND),
                                      .beside_steps = plx_plan_steps(plan, PLX_STEP_BESIDE),
                                      .beside_after = plan->beside_after,
                                      .context = context,
                                      .key = context->frame,
                                      .output = output,
                                      .outputs = list_outputs(context, output),
                                      .ret_stage_us = context->frame->stage_us};
    return context->ops->run_frame(context->stages, &run);
}

static int run_on_cpu(struct plx_frame_context *context, enum plx_step_place place)
{
    const struct plx_plan *plan = &context->pipeline->plan;
    return plx_steps_run(&plan->step[plan->first[place]], plx_plan_steps(plan, place), context, context->frame->stage_us);
}

int plx_pipeline_process(struct plx_pipeline *pipeline, const struct plx_raw raw[PLX_EYES], int64_t capture_ns,
                         struct plx_frame *frame)
{
    struct plx_frame_context context = {.pipeline = pipeline,
                                        .stages = pipeline->stages,
                                        .ops = pipeline->stages->ops,
                                        .params = &pipeline->params,
                                        .raw = raw,
                                        .capture_ns = capture_ns,
                                        .frame = frame};

    start_frame(&context);
    int result = run_on_cpu(&context, PLX_STEP_BEFORE);
    if (result == 0)
        result = run_on_backend(&context);
    if (result == 0)
        result = run_on_cpu(&context, PLX_STEP_AFTER);
    if (result < 0)
        return result;
    for (int eye = 0; eye < PLX_EYES; eye++)
        frame->capture[eye].masked = pipeline->results->masked[eye];
    return 0;
}

int plx_pipeline_write_map(struct plx_pipeline *pipeline, const struct plx_remap *made)
{
    struct plx_remap *map = &pipeline->map[PLX_RIGHT];
    const size_t bytes = (size_t)map->width * (size_t)map->height * sizeof *map->entry;
    return pipeline->stages->ops->write_local(pipeline->stages, map->entry, made->entry, bytes);
}

int plx_pipeline_use_worker(struct plx_pipeline *pipeline, const struct plx_correction_worker *worker)
{
    if (pipeline->raw)
        return 0;
    const struct plx_remap *made = plx_learner_use_worker(pipeline->learner, worker);
    return made ? plx_pipeline_write_map(pipeline, made) : 0;
}

void plx_pipeline_save(struct plx_pipeline *pipeline, struct plx_pipeline_state *ret_state)
{
    *ret_state = (struct plx_pipeline_state){.single = true};
    if (!pipeline->raw)
        plx_learner_save(pipeline->learner, &ret_state->learned);
}

int plx_pipeline_restore(struct plx_pipeline *pipeline, const struct plx_pipeline_state *state)
{
    if (pipeline->raw)
        return 0;
    plx_tracks_continue(pipeline->tracks, state->last_track);
    if (pipeline->motion && state->motion.source != PLX_MOTION_NONE) {
        plx_motion_continue(pipeline->motion, &state->motion);
        if (pipeline->local_map)
            plx_local_map_continue(pipeline->local_map);
    }
    if (!state->single)
        return 0;
    const bool has_learned = state->learned.place > 0;
    const struct plx_remap *made = plx_learner_continue(pipeline->learner, has_learned ? &state->learned : NULL);
    return made ? plx_pipeline_write_map(pipeline, made) : 0;
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

void plx_pipeline_complete(const struct plx_pipeline *pipeline, uint32_t health, int64_t period_ns, struct plx_frame *frame)
{
    frame->health |= health;
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
