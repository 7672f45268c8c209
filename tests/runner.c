/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/runner.h"

#include <stdio.h>
#include <stdlib.h>

#include <parallax/error.h>

#include "cpu/cpu.h"

static void give_up(const char *what, int error, const struct plx_error_message *message)
{
    fprintf(stderr, "%s: %s. %s\n", what, plx_strerror(error), message->text);
    exit(1);
}

void runner_create(struct plx_stages *stages, const struct plx_pipeline_params *params, int width, int height,
                   const struct plx_calibration_info *calibration, struct runner *ret_runner)
{
    struct plx_stereo_calibration rectified;
    struct plx_plane plane[PLX_PLANE_COUNT];
    struct plx_error_message message = {""};
    void *data;

    *ret_runner = (struct runner){.stages = stages};
    plx_calibration_pinhole(width, height, calibration, &rectified);
    int result = plx_pipeline_create(stages, params, &rectified, &ret_runner->pipeline, &message);
    if (result < 0)
        give_up("pipeline", result, &message);
    result = stages->ops->alloc(stages, plx_pipeline_layout(params, width, height, plane), &data);
    if (result < 0)
        give_up("frame", result, &message);
    ret_runner->frame = data;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        result = stages->ops->alloc(stages, (size_t)width * (size_t)height, &data);
        if (result < 0)
            give_up("raw image", result, &message);
        ret_runner->raw[eye] = (struct plx_image){data, width, height, (size_t)width, PLX_U8};
    }
}

void runner_create_for_scene(const struct plx_scene *scene, enum plx_obstacle_method method, struct plx_stages **ret_stages,
                             struct runner *ret_runner)
{
    const struct plx_limits limits = {.width = scene->width, .height = scene->height, .disparities = 64};
    const struct plx_error_message none = {""};
    struct plx_pipeline_params params;

    plx_pipeline_params_default(&params);
    params.correction = PLX_CORRECTION_OFF; /* a correction would begin with any frame */
    params.match.disparities = 64;
    params.obstacle.method = method;
    params.dense = method == PLX_OBSTACLES_OF_STIXELS;
    params.confidence = params.dense;
    const int result = plx_cpu_create(&limits, ret_stages);
    if (result < 0)
        give_up("CPU backend", result, &none);
    runner_create(*ret_stages, &params, scene->width, scene->height, &scene->calibration, ret_runner);
}

void runner_draw(struct runner *runner, const struct plx_scene *scene, double time_s, uint32_t frame_index)
{
    const struct plx_error_message none = {""};

    for (int eye = 0; eye < PLX_EYES; eye++) {
        const int result = plx_scene_render(scene, time_s, frame_index, (enum plx_eye)eye, 10000, 1, &runner->raw[eye]);
        if (result < 0)
            give_up("scene", result, &none);
    }
}

void runner_destroy(struct runner *runner)
{
    plx_pipeline_destroy(runner->pipeline);
    runner->stages->ops->free(runner->stages, runner->frame);
    for (int eye = 0; eye < PLX_EYES; eye++)
        runner->stages->ops->free(runner->stages, runner->raw[eye].data);
}

int runner_run(struct runner *runner, int64_t capture_ns)
{
    struct plx_raw raw[PLX_EYES];
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_image *image = &runner->raw[eye];
        raw[eye] = (struct plx_raw){.data = image->data,
                                    .bytes = image->pitch * (size_t)image->height,
                                    .width = image->width,
                                    .height = image->height,
                                    .pitch = image->pitch,
                                    .format = PLX_FORMAT_GREY,
                                    .eye_width = image->width};
    }
    const int result = plx_pipeline_process(runner->pipeline, raw, capture_ns, runner->frame);
    if (result == 0)
        plx_pipeline_complete(runner->pipeline, 0, 0, runner->frame);
    return result;
}
