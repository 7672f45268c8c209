/* SPDX-License-Identifier: Apache-2.0 */
#include "app/engine/engine.h"

#include <signal.h>
#include <string.h>

#include <parallax/error.h>

#include "app/engine/capture_queue.h"
#include "app/engine/report.h"
#include "app/engine/sensors.h"
#include "app/engine/setup.h"
#include "app/engine/startup_log.h"
#include "app/engine/suspend_clock.h"
#include "app/exit.h"
#include "app/log.h"
#include "core/clock.h"
#include "core/heartbeat.h"

struct engine {
    const struct plx_config *config;
    struct plx_setup setup;
    struct plx_shared_region *region;
    int report_fd;
    void *shared_slots; /* that the backend has adopted */
    bool on_gpu;
    bool gpu_lost;             /* the pipeline failed on it */
    uint32_t permanent_health; /* health flags of every frame */
    struct plx_suspend_clock suspend;
    struct plx_capture_queue queue;
    struct plx_sensors sensors;
};

static volatile sig_atomic_t stop_requested;

static void request_stop(int signal)
{
    (void)signal;
    stop_requested = 1;
}

/* The stages of FRAME that took longer than the health table allows, as flags. */
static uint32_t late_stages(const struct engine *engine, const struct plx_frame *frame)
{
    uint32_t health = 0;

    for (int stage = 0; stage < PLX_WATCHED_STAGES && engine->queue.period_ns > 0; stage++)
        if (frame->stage_us[stage] * PLX_NS_PER_US > plx_budget_warn_ns(stage, engine->queue.period_ns))
            health |= plx_budget_health(stage);
    return health;
}

/* Sets until when the frame is fresh, by the clock that goes on in suspend. */
static void set_freshness(struct engine *engine, struct plx_frame *frame, int64_t taken_ns)
{
    const int64_t now = plx_now_ns(), busy_ns = now - taken_ns;

    plx_suspend_clock_update(&engine->suspend, now, plx_suspended_ns());
    frame->suspended_ns = plx_suspend_clock_at(&engine->suspend, frame->capture[PLX_LEFT].capture_ns);
    frame->fresh_ns = plx_budget_fresh_ns(busy_ns > engine->queue.period_ns ? busy_ns : engine->queue.period_ns);
}

/* Fills the parts of the header that the pipeline does not know. */
static void fill_header(struct engine *engine, struct plx_frame *frame, int64_t taken_ns)
{
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_capture *capture = &engine->queue.pair[eye];
        frame->capture[eye] = (struct plx_capture_info){
            .capture_ns = capture->capture_ns,
            .clock_offset_ns = capture->clock_offset_ns,
            .clock = capture->clock,
            .sequence = capture->sequence,
            .dropped = engine->queue.pairing.eye[eye].dropped,
            .exposure_us = capture->exposure_us,
            .gain = capture->gain,
            .masked = frame->capture[eye].masked, /* the pipeline's */
            .memory = capture->memory,
        };
    }
    set_freshness(engine, frame, taken_ns);
    frame->source = engine->config->source.type;
    frame->skew_ns = frame->capture[PLX_RIGHT].capture_ns - frame->capture[PLX_LEFT].capture_ns;
    frame->pairs_skipped = engine->queue.skipped;
    frame->health |=
        engine->permanent_health | plx_sensors_health(&engine->sensors) | engine->queue.health | late_stages(engine, frame);
    frame->state = frame->health ? PLX_STATE_DEGRADED : PLX_STATE_RUNNING;
    engine->queue.health = 0;
}

static void report_frame(struct engine *engine, const struct plx_frame *frame, int64_t taken_ns)
{
    const struct plx_report report = {
        .kind = PLX_REPORT_FRAME,
        .health = frame->health,
        .sequence = frame->sequence,
        .period_ns = engine->queue.period_ns,
        .busy_ns = plx_now_ns() - taken_ns,
        .obstacles = frame->obstacle_count,
        .on_gpu = engine->on_gpu,
    };
    plx_report_send(engine->report_fd, &report); /* if it does not fit, the next one will do */
}

/* Adjusts exposure by the histograms of the published frame. */
static void update_exposure(struct engine *engine, struct plx_frame *frame)
{
    struct plx_source *source = engine->setup.source;
    const struct plx_image histogram = plx_pipeline_plane(frame, PLX_PLANE_HISTOGRAM);
    struct plx_control_range range;
    struct plx_exposure_setting setting;

    source->ops->range(source, &range);
    if (plx_exposure_update(engine->setup.exposure, &histogram, frame->capture, &range, &setting) > 0)
        source->ops->control(source, setting.exposure_us, setting.gain);
}

static int process_pair(struct engine *engine)
{
    const int64_t taken_ns = plx_now_ns();
    const struct plx_capture *pair = engine->queue.pair;
    const struct plx_raw raw[PLX_EYES] = {pair[PLX_LEFT].raw[PLX_LEFT], pair[PLX_RIGHT].raw[PLX_RIGHT]};
    struct plx_frame *frame = plx_ring_begin(engine->region);

    const int result = plx_pipeline_process(engine->setup.pipeline, raw, pair[PLX_LEFT].capture_ns, frame);
    if (result < 0) {
        plx_ring_abandon(engine->region);
        engine->gpu_lost = engine->on_gpu;
        const char *message = engine->setup.stages->message.text;
        return plx_fail(&engine->setup.source->message, result, "the pipeline: %s", *message ? message : plx_strerror(result));
    }
    plx_heartbeat_busy(PLX_WATCHED_PUBLISH);
    fill_header(engine, frame, taken_ns);
    plx_region_set_tracks(engine->region, plx_pipeline_last_track(engine->setup.pipeline));
    plx_ring_commit(engine->region);
    report_frame(engine, frame, taken_ns);
    update_exposure(engine, frame);
    return 0;
}

static void receive_commands(struct engine *engine)
{
    struct plx_engine_command command;
    struct plx_exposure *exposure;

    if (!plx_engine_command_receive(engine->report_fd, &command) || plx_exposure_create(&command.exposure, &exposure, NULL) < 0)
        return;
    plx_exposure_destroy(engine->setup.exposure);
    engine->setup.exposure = exposure;
}

/* Returns 0 if the engine was asked to stop, else a plx_error. */
static int run(struct engine *engine)
{
    struct plx_report waiting = {.kind = PLX_REPORT_WAITING};
    int result = 0;

    while (result == 0 && !stop_requested) {
        receive_commands(engine);
        plx_suspend_clock_update(&engine->suspend, plx_now_ns(), plx_suspended_ns());
        plx_sensors_log(&engine->sensors);
        plx_heartbeat_busy(PLX_WATCHED_SOURCE);
        result = plx_capture_queue_next(&engine->queue, &stop_requested);
        if (result == 0) {
            result = process_pair(engine);
        } else if (result == PLX_ERR_TIMEOUT) {
            waiting.health = plx_capture_queue_silent_eyes(&engine->queue) | engine->queue.health | engine->queue.away;
            waiting.away = engine->queue.away != 0;
            waiting.due_in_ns = engine->setup.source->due_ns - plx_now_ns();
            waiting.message = engine->queue.away ? engine->setup.source->message : (struct plx_error_message){""};
            result = plx_report_send(engine->report_fd, &waiting) == PLX_ERR_LOST ? PLX_ERR_LOST : 0;
        }
        plx_capture_queue_release(&engine->queue);
    }
    return stop_requested ? 0 : result;
}

static int report_end(const struct engine *engine, int error)
{
    struct plx_report report = {.kind = PLX_REPORT_FAILED,
                                .error = error,
                                .exit_code = plx_exit_code(error),
                                .gpu_lost = engine->gpu_lost,
                                .transient = plx_setup_is_transient(engine->config, !engine->gpu_lost, error),
                                .message = engine->setup.source->message};

    if (error == PLX_ERR_END)
        report.kind = PLX_REPORT_END;
    plx_report_send_last(engine->report_fd, &report);
    return report.exit_code;
}

/* Registers the frame slots with the backend, so that it writes published frames in place. Optional for a backend that copies
 * outputs: registered memory is faster. FRAME_BYTES: the size of a slot. */
static int share_slots(struct engine *engine, uint32_t frame_bytes)
{
    struct plx_stages *stages = engine->setup.stages;
    size_t bytes;

    if (engine->setup.frame_bytes != frame_bytes)
        return plx_fail(&engine->setup.source->message, PLX_ERR_RANGE,
                        "frames have %u bytes, and shared memory was made for %u: the source has changed; reload or restart",
                        engine->setup.frame_bytes, frame_bytes);
    void *frames = plx_region_frames(engine->region, &bytes);

    const int result = stages->ops->adopt(stages, frames, bytes);
    if (result == 0)
        engine->shared_slots = frames;
    else if (stages->ops->copies_outputs)
        plx_log(LOG_NOTICE, "the GPU copies frames to shared memory by way of the driver's buffers, which is slower: %s",
                stages->message.text);
    else
        return plx_fail(&engine->setup.source->message, result, "the backend cannot write to shared memory: %s",
                        stages->message.text);
    return 0;
}

int plx_engine_run(const struct plx_plan *plan, bool gpu_expected, struct plx_shared_region *region,
                   struct plx_heartbeats *heartbeats, int report_fd)
{
    static struct engine engine; /* large, and there is one */
    const struct sigaction on_stop = {.sa_handler = request_stop};
    struct plx_report report;
    int exit_code = PLX_EXIT_OK;

    sigaction(SIGTERM, &on_stop, NULL);
    engine.report_fd = report_fd;
    plx_startup_log_forward(&engine.report_fd);
    plx_heartbeat_join(heartbeats, PLX_THREAD_WORK);
    plx_heartbeat_busy(PLX_WATCHED_START);
    if (plx_setup_open(&engine.setup, &plan->config, &plan->calibration, &report) < 0) {
        plx_report_send_last(report_fd, &report);
        return report.exit_code;
    }
    plx_startup_log_setup(&engine.setup, report_fd);
    engine.config = &plan->config;
    engine.region = region;
    engine.suspend.suspended_ns = plx_suspended_ns();
    plx_region_set_gpu_schedule(region, engine.setup.gpu_schedule);
    engine.on_gpu = strcmp(engine.setup.stages->ops->name, "gpu") == 0;
    engine.permanent_health = gpu_expected && !engine.on_gpu ? PLX_HEALTH_GPU_FALLBACK : 0;
    plx_pipeline_continue_tracks(engine.setup.pipeline, plx_region_tracks(region));

    plx_sensors_start(&engine.sensors, heartbeats);

    struct plx_source *source = engine.setup.source;
    source->heartbeats = heartbeats;
    plx_capture_queue_init(&engine.queue, source, (int64_t)(plan->config.source.pair_tolerance_ms * PLX_NS_PER_MS));
    int result = share_slots(&engine, plan->frame_bytes);
    plx_startup_lock_memory(); /* all that a frame needs is allocated, the ring among it */
    if (result == 0)
        result = source->ops->start(source, &source->message);
    plx_capture_queue_start(&engine.queue);
    if (result == 0)
        result = run(&engine);
    if (result < 0)
        exit_code = report_end(&engine, result);
    plx_capture_queue_release(&engine.queue);
    source->ops->stop(source);
    plx_sensors_stop(&engine.sensors);
    if (engine.shared_slots)
        engine.setup.stages->ops->disown(engine.setup.stages, engine.shared_slots);
    plx_setup_close(&engine.setup);
    return exit_code;
}
