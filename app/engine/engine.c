/* SPDX-License-Identifier: Apache-2.0 */
#include "app/engine/engine.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

#include <parallax/error.h>

#include "app/engine/frame_loop.h"
#include "app/engine/report.h"
#include "app/engine/setup.h"
#include "app/exit.h"
#include "app/log.h"
#include "app/publish/shm.h"
#include "app/realtime.h"
#include "app/zone_warnings.h"
#include "core/checks/health_table.h"

static volatile sig_atomic_t stop_requested;

static void request_stop(int signal)
{
    (void)signal;
    stop_requested = 1;
}

/* Sends a line of the log to the supervisor too, for the black box. A line that does not fit is in the log alone. */
static void report_line(void *context, int level, const char *line)
{
    const int *report_fd = context;
    struct plx_report report = {.kind = PLX_REPORT_LOG, .error = level};

    plx_say(&report.message, "%s", line);
    plx_report_send(*report_fd, &report);
}

/* Logs what differs from the configuration and does not end the engine: the CPU instead of a GPU, no real-time priority. */
static void log_setup(const struct plx_setup *setup, int report_fd)
{
    const char *raw = setup->raw_note.text, *backend = setup->backend_note.text;
    struct plx_report note = {.kind = PLX_REPORT_NOTE};

    plx_say(&note.message, "%s%s%s", raw, *raw && *backend ? "; " : "", backend);
    if (note.message.text[0] != '\0') {
        plx_log(LOG_NOTICE, "%s", note.message.text);
        plx_report_send(report_fd, &note);
    }
    if (setup->fifo_note.text[0] != '\0')
        plx_log(LOG_NOTICE, "%s", setup->fifo_note.text);
    if (setup->tune_note.text[0] != '\0')
        plx_log(LOG_WARNING, "%s", setup->tune_note.text);
}

/* Reports why the engine ends; returns its exit code. GPU_FAILED: the pipeline failed on the GPU. */
static int report_end(const struct plx_config *config, const struct plx_error_message *message, int error, bool gpu_failed,
                      int report_fd)
{
    struct plx_report report = plx_setup_failure(config, !gpu_failed, error, message);

    if (error == PLX_ERR_END)
        report.kind = PLX_REPORT_END;
    report.gpu_lost = gpu_failed;
    plx_report_send_last(report_fd, &report);
    return report.exit_code;
}

/* Registers the frame slots with the backend, so that it writes published frames in place. Optional for a backend that copies
 * outputs: registered memory is faster. FRAME_BYTES: the size of a slot. *RET_SLOTS: what to disown; NULL if not registered. */
static int share_slots(const struct plx_setup *setup, struct plx_shm *shm, uint32_t frame_bytes, void **ret_slots,
                       struct plx_error_message *message)
{
    struct plx_stages *stages = setup->stages;
    size_t bytes;

    *ret_slots = NULL;
    if (setup->frame_bytes != frame_bytes)
        return plx_fail(message, PLX_ERR_RANGE,
                        "frames have %u bytes, and shared memory was made for %u: the source has changed; reload or restart",
                        setup->frame_bytes, frame_bytes);
    void *slots = plx_shm_frames(shm, &bytes);

    const int result = stages->ops->adopt(stages, slots, bytes);
    if (result == 0)
        *ret_slots = slots;
    else if (stages->ops->copies_outputs)
        plx_log(LOG_NOTICE, "the GPU copies frames to shared memory through the driver's buffers, which is slower: %s",
                stages->message.text);
    else
        return plx_fail(message, result, "the backend cannot write to shared memory: %s", stages->message.text);
    return 0;
}

static struct plx_frame_loop make_loop(struct plx_setup *setup, const struct plx_config *config, bool gpu_expected,
                                       struct plx_shm *shm, int report_fd)
{
    const bool on_gpu = strcmp(setup->stages->ops->name, "gpu") == 0;

    return (struct plx_frame_loop){
        .stages = setup->stages,
        .pipeline = setup->pipeline,
        .exposure = &setup->exposure,
        .corrections = &setup->corrections,
        .worker = setup->worker,
        .shm = shm,
        .suspend.suspended_ns = plx_suspended_ns(),
        .report_fd = report_fd,
        .source_type = config->source.type,
        .on_gpu = on_gpu,
        .permanent_health = gpu_expected && !on_gpu ? PLX_HEALTH_GPU_FALLBACK : 0,
    };
}

/* Continues track numbers and pose of the engine before, if there was one. */
static int continue_pipeline(struct plx_pipeline *pipeline, const struct plx_shm *shm)
{
    struct plx_pipeline_state state = {.last_track = plx_shm_tracks(shm)};
    struct plx_motion_info last;

    if (plx_ring_copy(shm, plx_ring_newest(shm), offsetof(struct plx_frame, motion), &last, sizeof last))
        state.motion = last;
    return plx_pipeline_restore(pipeline, &state);
}

int plx_engine_run(const struct plx_plan *plan, bool gpu_expected, struct plx_shm *shm, struct plx_heartbeats *heartbeats,
                   int report_fd)
{
    static struct plx_setup setup; /* large, and there is one */
    static struct plx_frame_loop loop;
    const struct sigaction on_stop = {.sa_handler = request_stop};
    struct plx_report report;
    void *slots = NULL;
    int exit_code = PLX_EXIT_OK;

    plx_realtime_gather_heap();
    sigaction(SIGTERM, &on_stop, NULL);
    plx_log_copy(report_line, &report_fd);
    plx_heartbeat_join(plx_heartbeat_of(heartbeats, PLX_THREAD_WORK));
    plx_heartbeat_busy(PLX_WATCHED_START);
    if (plx_setup_open(&setup, &plan->config, &plan->calibration, &report) < 0) {
        plx_report_send_last(report_fd, &report);
        return report.exit_code;
    }
    log_setup(&setup, report_fd);
    plx_zone_warnings_log(&plan->config);
    loop = make_loop(&setup, &plan->config, gpu_expected, shm, report_fd);
    plx_shm_set_gpu_schedule(shm, setup.gpu_schedule);
    int result = continue_pipeline(setup.pipeline, shm);
    if (result < 0)
        plx_fail(&loop.message, result, "the pipeline: %s", plx_strerror(result));
    plx_sensors_start(&loop.sensors, plx_heartbeat_of(heartbeats, PLX_THREAD_SENSORS));

    struct plx_source *source = setup.source;
    source->heartbeats = heartbeats;
    plx_capture_queue_init(&loop.queue, source, (int64_t)(plan->config.source.pair_tolerance_ms * PLX_NS_PER_MS));
    if (result == 0)
        result = share_slots(&setup, shm, plan->frame_bytes, &slots, &loop.message);
    /* Everything that a frame needs is allocated, and the ring is mapped. */
    if (plx_realtime_lock_memory(&report.message) < 0)
        plx_log(LOG_NOTICE, "%s", report.message.text);
    plx_realtime_touch_memory();
    if (result == 0)
        result = source->ops->start(source, &loop.message);
    plx_capture_queue_start(&loop.queue);
    if (result == 0)
        result = plx_frame_loop_run(&loop, &stop_requested);
    if (result < 0)
        exit_code = report_end(&plan->config, &loop.message, result, loop.pipeline_failed && loop.on_gpu, report_fd);
    plx_capture_queue_release(&loop.queue);
    source->ops->stop(source);
    plx_sensors_stop(&loop.sensors);
    if (slots)
        setup.stages->ops->disown(setup.stages, slots);
    plx_setup_close(&setup);
    return exit_code;
}
