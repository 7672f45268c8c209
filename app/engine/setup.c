/* SPDX-License-Identifier: Apache-2.0 */
#include "app/engine/setup.h"

#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "app/backend.h"
#include "app/exit.h"
#include "app/realtime.h"
#include "app/tune.h"
#include "drivers/replay/replay.h"
#include "drivers/synthetic/synthetic.h"
#include "gpu/gpu.h"

/* Control delays of the synthetic camera, in frames, as a real sensor has them. */
#define EXPOSURE_DELAY 2
#define GAIN_DELAY 1

#define MIN_DISPARITIES 64 /* limit of a backend for raw frames, which search none */

static int open_synthetic(struct plx_setup *setup, const struct plx_config *config, struct plx_error_message *message)
{
    static void (*const scene[])(int width, int height, uint64_t seed, struct plx_scene *ret_scene) = {
        [PLX_SCENE_DEMO] = plx_scene_demo,
        [PLX_SCENE_STREET] = plx_scene_street,
        [PLX_SCENE_WALL] = plx_scene_wall,
    };
    struct plx_synthetic_options options = {.rate_hz = config->source.rate_hz,
                                            .exposure_delay = EXPOSURE_DELAY,
                                            .gain_delay = GAIN_DELAY,
                                            .colour = config->pipeline.colour.enabled};

    scene[config->source.scene](config->source.width, config->source.height, (uint64_t)config->source.seed, &options.scene);
    options.scene.noise = config->source.noise;
    return plx_synthetic_create(setup->memory, &options, &setup->source, message);
}

static int open_replay(struct plx_setup *setup, const struct plx_config *config, struct plx_error_message *message)
{
    static const enum plx_replay_timing timing[] = {
        [PLX_REPLAY_RECORDED] = PLX_TIMING_RECORDED,
        [PLX_REPLAY_FIXED] = PLX_TIMING_FIXED,
        [PLX_REPLAY_MAXIMUM] = PLX_TIMING_MAXIMUM,
    };
    const struct plx_replay_options options = {
        .path = config->source.path,
        .topic = {config->source.topic[PLX_LEFT], config->source.topic[PLX_RIGHT]},
        .timing = timing[config->source.replay_rate],
        .rate_hz = config->source.rate_hz,
        .loop = config->source.loop,
        .bits = config->source.bits,
        .colour = config->pipeline.colour.enabled,
    };
    return plx_replay_create(setup->memory, &options, &setup->source, message);
}

struct plx_v4l2_options plx_setup_camera_options(const struct plx_config *config)
{
    return (struct plx_v4l2_options){
        .cameras = config->source.cameras,
        .width = config->source.width,
        .height = config->source.height,
        .rate_hz = config->source.rate_hz,
        .flicker_hz = config->exposure.flicker_hz,
        .colour = config->pipeline.colour.enabled,
    };
}

static int open_cameras(struct plx_setup *setup, const struct plx_config *config, struct plx_error_message *message)
{
    struct plx_v4l2_options options = plx_setup_camera_options(config);

    options.retries_refusals = setup->retries_refusals;
    return plx_v4l2_create(setup->memory, &options, &setup->source, message);
}

static int open_source(struct plx_setup *setup, const struct plx_config *config, struct plx_error_message *message)
{
    switch (config->source.type) {
    case PLX_SOURCE_SYNTHETIC:
        return open_synthetic(setup, config, message);
    case PLX_SOURCE_REPLAY:
        return open_replay(setup, config, message);
    case PLX_SOURCE_V4L2:
        return open_cameras(setup, config, message);
    }
    return PLX_ERR_ARG;
}

/* Leaves all zeros if there is none: frames are raw then. A named file that does not exist is an error. */
static int read_calibration(struct plx_setup *setup, const struct plx_config *config, struct plx_error_message *message)
{
    const struct plx_source *source = setup->source;
    const struct plx_calibration_options options = {
        .alpha = config->rectify_alpha,
        .scale = config->calibration_scale,
        .width = source->width,
        .height = source->height,
    };

    if (strcmp(config->calibration, PLX_CALIBRATION_NONE) == 0)
        return 0;
    if (config->calibration[0] != '\0')
        return plx_calibration_read(config->calibration, &options, &setup->calibration, message);
    if (!source->ops->calibration)
        return 0;
    int result = source->ops->calibration(setup->source, &setup->calibration, message);
    if (result == PLX_ERR_NOT_FOUND && config->source.type == PLX_SOURCE_REPLAY)
        result = plx_calibration_read_beside(config->source.path, &options, &setup->calibration, message);
    if (result == PLX_ERR_NOT_FOUND)
        return 0;
    return result < 0 ? result : plx_calibration_check(&setup->calibration, message);
}

static int open_calibration(struct plx_setup *setup, const struct plx_config *config, struct plx_error_message *message)
{
    const struct plx_source *source = setup->source;
    int result = setup->calibrated ? 0 : read_calibration(setup, config, message);

    setup->calibrated = result == 0;
    if (result < 0 || !plx_calibration_exists(&setup->calibration))
        return result;
    for (int eye = 0; eye < PLX_EYES && result == 0; eye++) {
        const struct plx_camera *camera = &setup->calibration.camera[eye];
        if (camera->width != source->width || camera->height != source->height)
            result = plx_fail(message, PLX_ERR_RANGE,
                              "the calibration is for pictures of %d x %d pixels, the source gives %d x %d; let the source "
                              "give that size, or calibrate with pictures of the source's size",
                              camera->width, camera->height, source->width, source->height);
    }
    return result;
}

/* Sets the schedule that `parallax tune` measured, if it is valid here; otherwise the GPU backend chooses. */
static void choose_schedule(struct plx_setup *setup, const struct plx_match *match, int width, int height)
{
    struct plx_error_message message = {""};
    struct plx_gpu_plan plan;
    int schedule;

    if (strcmp(setup->stages->ops->name, "gpu") != 0)
        return;
    const struct plx_tune_conditions here = {plx_gpu_device(setup->stages), width, height, match};
    int result = plx_tune_load(PLX_TUNE_FILE, &here, &schedule, &message);
    if (result == 0)
        plx_gpu_set_schedule(setup->stages, schedule);
    else if (result != PLX_ERR_NOT_FOUND)
        plx_fail(&setup->tune_note, result, "ignored: %s", message.text);
    plx_gpu_plan(setup->stages, width, height, match, &plan);
    setup->gpu_schedule = plx_tune_pack(plan.schedule, result == 0);
}

static int open_stages(struct plx_setup *setup, const struct plx_config *config, int width, int height, int disparities,
                       struct plx_error_message *message)
{
    const struct plx_limits limits = {
        .width = width > setup->source->width ? width : setup->source->width,
        .height = height > setup->source->height ? height : setup->source->height,
        .disparities = disparities,
        .threads = config->threads,
    };
    const int result =
        plx_backend_open(config->backend, config->gpu_memory, &limits, &setup->stages, &setup->backend_note, message);
    if (result == 0)
        choose_schedule(setup, &config->pipeline.match, width, height);
    return result;
}

/* The reason for raw frames, and what to do. A recording that lacks camera_info says which. */
static void say_raw(struct plx_setup *setup, const struct plx_config *config)
{
    static struct plx_stereo_calibration none; /* large */
    struct plx_source *source = setup->source;
    struct plx_error_message missing = {""};

    if (config->calibration[0] != '\0') {
        plx_say(&setup->raw_note,
                "calibration is none: only raw pictures are published; name a calibration by that key to have "
                "obstacles");
        return;
    }
    if (config->source.topic[PLX_LEFT][0] != '\0' && source->ops->calibration)
        source->ops->calibration(source, &none, &missing);
    if (missing.text[0] != '\0')
        plx_say(&setup->raw_note,
                "not calibrated: only raw pictures are published; %s; record camera_info of both eyes, or name a "
                "file by the key calibration",
                missing.text);
    else
        plx_say(&setup->raw_note, "not calibrated: only raw pictures are published; record pairs (parallax record --raw), "
                                  "calibrate, and name the file by the key calibration");
}

static int open_raw_pipeline(struct plx_setup *setup, const struct plx_config *config, struct plx_error_message *message)
{
    const int width = setup->source->width, height = setup->source->height;
    struct plx_plane plane[PLX_PLANE_COUNT];

    int result = open_stages(setup, config, width, height, MIN_DISPARITIES, message);
    if (result == 0)
        result = plx_pipeline_create_raw(setup->stages, width, height, &setup->pipeline, message);
    if (result == 0)
        setup->frame_bytes = plx_pipeline_layout_raw(width, height, plane);
    say_raw(setup, config);
    return result;
}

static int open_worker(struct plx_setup *setup, struct plx_error_message *message)
{
    const struct plx_correction_store store = plx_corrections_store(&setup->corrections);
    const int result = plx_worker_create(&setup->calibration, &store, &setup->worker);

    return result < 0 ? plx_fail(message, result, "no memory for the worker of the corrections") : 0;
}

static int open_pipeline(struct plx_setup *setup, const struct plx_config *config, struct plx_error_message *message)
{
    const struct plx_stereo_calibration *calibration = &setup->calibration;
    const int width = calibration->rectified_width, height = calibration->rectified_height;
    struct plx_plane plane[PLX_PLANE_COUNT];

    if (!plx_calibration_exists(calibration))
        return open_raw_pipeline(setup, config, message);
    plx_corrections_open(&setup->corrections, config->calibration_history, config->publish.socket, calibration);
    int result = plx_config_check_pipeline(&config->pipeline, width, height, message);
    if (result == 0)
        result = open_stages(setup, config, width, height, config->pipeline.match.disparities, message);
    if (result == 0)
        result = plx_pipeline_create(setup->stages, &config->pipeline, calibration, &setup->pipeline, message);
    if (result == 0)
        result = open_worker(setup, message);
    if (result == 0)
        setup->frame_bytes = plx_pipeline_layout(&config->pipeline, width, height, plane);
    return result;
}

static int open_exposure(struct plx_setup *setup, const struct plx_config *config, struct plx_error_message *message)
{
    return plx_exposure_create(&config->exposure, &setup->exposure, message);
}

/* The first step: the threads of backend and cameras inherit both. */
static int open_processors(struct plx_setup *setup, const struct plx_config *config, struct plx_error_message *message)
{
    int result = config->engine.cpus[0] != '\0' ? plx_realtime_choose_cpus(config->engine.cpus, message) : 0;
    if (result == 0 && config->engine.realtime_priority > 0)
        plx_realtime_set_fifo(config->engine.realtime_priority, &setup->fifo_note);
    return result;
}

static int open_memory(struct plx_setup *setup, const struct plx_config *config, struct plx_error_message *message)
{
    const struct plx_limits smallest = {.width = 1, .height = 1, .disparities = MIN_DISPARITIES, .threads = 1};
    return plx_backend_open(config->backend, config->gpu_memory, &smallest, &setup->memory, NULL, message);
}

/* True if a later attempt may succeed after ERROR. OF_SOURCE: the source returned it. */
static bool is_transient(const struct plx_config *config, bool of_source, int error)
{
    switch (error) {
    case PLX_ERR_NOMEM:
    case PLX_ERR_IO:
    case PLX_ERR_PERMISSION:
    case PLX_ERR_BUSY:
    case PLX_ERR_TIMEOUT:
    case PLX_ERR_LOST:
        return true;
    default: /* a camera or its driver may fail in any way just after it was connected */
        return of_source && config->source.type == PLX_SOURCE_V4L2;
    }
}

struct plx_report plx_setup_failure(const struct plx_config *config, bool of_source, int error,
                                    const struct plx_error_message *message)
{
    return (struct plx_report){
        .kind = PLX_REPORT_FAILED,
        .error = error,
        .exit_code = plx_exit_code(error),
        .transient = is_transient(config, of_source, error),
        .message = *message,
    };
}

int plx_setup_open(struct plx_setup *setup, const struct plx_config *config, const struct plx_stereo_calibration *known,
                   struct plx_report *ret_report)
{
    static int (*const steps[])(struct plx_setup * setup, const struct plx_config *config,
                                struct plx_error_message *message) = {
        open_processors, open_memory, open_source, open_calibration, open_pipeline, open_exposure,
    };
    struct plx_error_message message = {""};

    memset(setup, 0, sizeof *setup);
    if (known)
        setup->calibration = *known;
    setup->calibrated = known != NULL;
    setup->retries_refusals = known != NULL;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        int result = steps[i](setup, config, &message);
        if (result < 0) {
            *ret_report = plx_setup_failure(config, steps[i] == open_source, result, &message);
            ret_report->gpu_lost = steps[i] == open_pipeline && config->backend == PLX_BACKEND_GPU;
            if (steps[i] == open_calibration && result == PLX_ERR_FORMAT) /* a damaged calibration is a configuration error */
                ret_report->exit_code = PLX_EXIT_CONFIG;
            plx_setup_close(setup);
            return result;
        }
    }
    return 0;
}

void plx_setup_close(struct plx_setup *setup)
{
    plx_exposure_destroy(setup->exposure);
    plx_pipeline_destroy(setup->pipeline);
    plx_worker_destroy(setup->worker);
    if (setup->stages)
        setup->stages->ops->destroy(setup->stages);
    if (setup->source)
        setup->source->ops->destroy(setup->source);
    if (setup->memory)
        setup->memory->ops->destroy(setup->memory);
    memset(setup, 0, sizeof *setup);
}
