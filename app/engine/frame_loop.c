/* SPDX-License-Identifier: Apache-2.0 */
#include "app/engine/frame_loop.h"

#include <parallax/error.h>

#include "app/corrections/store.h"
#include "app/corrections/worker.h"
#include "app/engine/report.h"
#include "app/log.h"
#include "app/publish/shm.h"
#include "core/checks/health_table.h"
#include "core/pipeline/pipeline.h"

/* The stages of FRAME that took longer than the health table allows, as flags. */
static uint32_t late_stages(const struct plx_frame_loop *loop, const struct plx_frame *frame)
{
    uint32_t health = 0;

    for (int stage = 0; stage < PLX_WATCHED_STAGES && loop->queue.period_ns > 0; stage++)
        if (frame->stage_us[stage] * PLX_NS_PER_US > plx_budget_warn_ns(stage, loop->queue.period_ns))
            health |= plx_budget_health(stage);
    return health;
}

/* Sets how long the frame is fresh, and the time in suspend that dates it. One that is too old already is late. */
static void set_freshness(struct plx_frame_loop *loop, struct plx_frame *frame)
{
    const int64_t now = plx_now_ns(), capture_ns = frame->capture[PLX_LEFT].capture_ns;
    const int64_t fresh_ns = plx_capture_queue_fresh_ns(&loop->queue);

    plx_suspend_clock_update(&loop->suspend, now, plx_suspended_ns());
    frame->suspended_ns = plx_suspend_clock_at(&loop->suspend, capture_ns);
    frame->fresh_ns = fresh_ns > 0 ? fresh_ns : now - capture_ns + plx_budget_fresh_ns(0);
    if (now - capture_ns >= frame->fresh_ns)
        loop->queue.health |= PLX_HEALTH_LATE;
}

/* Sets what the engine has computed for the frame, on all threads: all that it did since the frame before. */
static void set_cpu_time(struct plx_frame_loop *loop, struct plx_frame *frame)
{
    const int64_t cpu_ns = plx_process_cpu_ns();

    frame->cpu_us = loop->cpu_ns > 0 ? (uint32_t)((cpu_ns - loop->cpu_ns) / PLX_NS_PER_US) : 0;
    loop->cpu_ns = cpu_ns;
}

/* Fills the parts of the header that the pipeline does not know. */
static void fill_header(struct plx_frame_loop *loop, struct plx_frame *frame)
{
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_capture *capture = &loop->queue.pair[eye];
        frame->capture[eye] = (struct plx_capture_info){
            .capture_ns = capture->capture_ns,
            .clock_offset_ns = capture->clock_offset_ns,
            .clock = capture->clock,
            .sequence = capture->sequence,
            .dropped = loop->queue.pairing.eye[eye].dropped,
            .exposure_us = capture->exposure_us,
            .gain = capture->gain,
            .masked = frame->capture[eye].masked, /* filled by the pipeline */
            .memory = capture->memory,
        };
    }
    set_freshness(loop, frame);
    set_cpu_time(loop, frame);
    frame->source = loop->source_type;
    frame->skew_ns = frame->capture[PLX_RIGHT].capture_ns - frame->capture[PLX_LEFT].capture_ns;
    frame->pairs_skipped = loop->queue.skipped;
    const uint32_t health =
        loop->permanent_health | plx_sensors_health(&loop->sensors) | loop->queue.health | late_stages(loop, frame);
    plx_pipeline_complete(loop->pipeline, health, loop->queue.period_ns, frame);
    frame->state = frame->health ? PLX_STATE_DEGRADED : PLX_STATE_RUNNING;
    loop->queue.health = 0;
}

static void report_frame(struct plx_frame_loop *loop, const struct plx_frame *frame, int64_t taken_ns)
{
    const struct plx_report report = {
        .kind = PLX_REPORT_FRAME,
        .health = frame->health,
        .sequence = frame->sequence,
        .period_ns = loop->queue.period_ns,
        .busy_ns = plx_now_ns() - taken_ns,
        .fresh_until_ns = frame->capture[PLX_LEFT].capture_ns + frame->fresh_ns,
        .obstacles = frame->obstacle_count,
        .blind = frame->blind,
        .on_gpu = loop->on_gpu,
    };
    plx_report_send(loop->report_fd, &report); /* without room it is dropped: the next report replaces it */
}

/* Adjusts exposure by the histograms of the published frame. */
static void update_exposure(struct plx_frame_loop *loop, struct plx_frame *frame)
{
    struct plx_source *source = loop->queue.source;
    const struct plx_image histogram = plx_pipeline_plane(frame, PLX_PLANE_HISTOGRAM);
    struct plx_control_range range;
    struct plx_exposure_setting setting;

    source->ops->range(source, &range);
    if (plx_exposure_update(*loop->exposure, &histogram, frame->capture, &range, &setting) > 0)
        source->ops->control(source, setting.exposure_us, setting.gain);
}

/* With the first pair, as the cameras are known then: puts what was learned about them in force. */
static int begin(struct plx_frame_loop *loop)
{
    struct plx_source *source = loop->queue.source;
    const struct plx_correction_worker worker = plx_worker_ops(loop->worker);
    char cameras[PLX_CORRECTIONS_CAMERAS] = "";

    if (source->ops->identify)
        source->ops->identify(source, cameras, sizeof cameras);
    plx_log(LOG_INFO, "pictures of %s", *cameras ? cameras : "cameras that do not say who they are");
    plx_corrections_name_cameras(loop->corrections, cameras);
    loop->has_begun = true;
    return plx_pipeline_use_worker(loop->pipeline, &worker);
}

static int process_pair(struct plx_frame_loop *loop)
{
    const int64_t taken_ns = plx_now_ns();
    const struct plx_capture *pair = loop->queue.pair;
    const struct plx_raw raw[PLX_EYES] = {pair[PLX_LEFT].raw[PLX_LEFT], pair[PLX_RIGHT].raw[PLX_RIGHT]};
    struct plx_frame *frame = plx_ring_begin(loop->shm);

    plx_pipeline_set_skew(loop->pipeline, pair[PLX_RIGHT].capture_ns - pair[PLX_LEFT].capture_ns);
    int result = loop->has_begun ? 0 : begin(loop);
    if (result == 0)
        result = plx_pipeline_process(loop->pipeline, raw, pair[PLX_LEFT].capture_ns, frame);
    if (result < 0) {
        loop->pipeline_failed = true;
        const char *message = loop->stages->message.text;
        return plx_fail(&loop->message, result, "the pipeline: %s", *message ? message : plx_strerror(result));
    }
    plx_heartbeat_busy(PLX_WATCHED_PUBLISH);
    fill_header(loop, frame);
    plx_shm_note_tracks(loop->shm, frame);
    plx_ring_commit(loop->shm);
    plx_shm_set_verdict(loop->shm, frame);
    report_frame(loop, frame, taken_ns);
    update_exposure(loop, frame);
    return 0;
}

/* A new exposure controller for new parameters; without memory for it, the old one stays. */
static void set_exposure(struct plx_frame_loop *loop, const struct plx_exposure_params *params)
{
    struct plx_exposure *exposure;

    if (plx_exposure_create(params, &exposure, NULL) < 0)
        return;
    plx_exposure_destroy(*loop->exposure);
    *loop->exposure = exposure;
}

static void receive_commands(struct plx_frame_loop *loop)
{
    struct plx_engine_command command;

    while (plx_engine_command_receive(loop->report_fd, &command))
        if (command.kind == PLX_COMMAND_EXPOSURE)
            set_exposure(loop, &command.exposure);
        else
            plx_pipeline_set_prior(loop->pipeline, &command.hint);
}

int plx_frame_loop_run(struct plx_frame_loop *loop, const volatile sig_atomic_t *stop)
{
    struct plx_report waiting = {.kind = PLX_REPORT_WAITING};
    int result = 0;

    while (result == 0 && !*stop) {
        plx_suspend_clock_update(&loop->suspend, plx_now_ns(), plx_suspended_ns());
        plx_sensors_log(&loop->sensors);
        plx_corrections_log(loop->corrections);
        plx_heartbeat_busy(PLX_WATCHED_SOURCE);
        result = plx_capture_queue_next(&loop->queue, stop);
        if (result < 0)
            loop->message = loop->queue.source->message;
        receive_commands(loop); /* after the wait: a hint may be about this pair */
        if (result == 0) {
            result = process_pair(loop);
        } else if (result == PLX_ERR_TIMEOUT) {
            waiting.health = plx_capture_queue_silent_eyes(&loop->queue) | loop->queue.health | loop->queue.lost_cameras;
            waiting.is_camera_lost = loop->queue.lost_cameras != 0;
            waiting.due_in_ns = loop->queue.source->due_ns - plx_now_ns();
            waiting.message = loop->queue.lost_cameras ? loop->queue.source->message : (struct plx_error_message){""};
            result = plx_report_send(loop->report_fd, &waiting) == PLX_ERR_LOST ? PLX_ERR_LOST : 0;
        }
        plx_capture_queue_release(&loop->queue);
    }
    return *stop ? 0 : result;
}
