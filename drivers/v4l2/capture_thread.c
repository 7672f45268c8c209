/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/capture_thread.h"

#include <math.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "core/checks/health_table.h"

#define GAP_PERIODS 3 /* a control request waits at most so long for a gap between the frames of both eyes */
#define ERROR_MS 5    /* pause after an error, so that a lasting error keeps no processor busy */
#define CHECK_MS 50   /* longest wait before the thread checks cameras again */

int plx_v4l2_capture_thread_init(struct plx_v4l2_capture_thread *thread)
{
    *thread = (struct plx_v4l2_capture_thread){.wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    if (thread->wake_fd < 0)
        return PLX_ERR_NOMEM;
    if (plx_v4l2_frame_queue_init(&thread->frames) < 0)
        goto no_frames;
    if (pthread_mutex_init(&thread->request.lock, NULL) == 0)
        return 0;
    plx_v4l2_frame_queue_finish(&thread->frames);
no_frames:
    close(thread->wake_fd);
    return PLX_ERR_NOMEM;
}

void plx_v4l2_capture_thread_finish(struct plx_v4l2_capture_thread *thread)
{
    plx_v4l2_capture_thread_stop(thread);
    plx_v4l2_decode_schedule_finish(&thread->schedule);
    for (int i = 0; i < thread->cameras; i++) /* one camera never delivered: restore the controls of both */
        if (!thread->camera[i].has_worked)
            thread->camera[0].has_worked = thread->camera[thread->cameras - 1].has_worked = false;
    for (int i = 0; i < thread->cameras; i++)
        plx_v4l2_camera_close(&thread->camera[i]);
    pthread_mutex_destroy(&thread->request.lock);
    plx_v4l2_frame_queue_finish(&thread->frames);
    close(thread->wake_fd);
}

void plx_v4l2_capture_thread_wake(struct plx_v4l2_capture_thread *thread)
{
    const uint64_t one = 1;
    ssize_t written = write(thread->wake_fd, &one, sizeof one);
    (void)written; /* EAGAIN: the counter is full, so the thread is awake already */
}

/* Publishes the range that both cameras share. No exposure is longer than a period. */
static void join_ranges(struct plx_v4l2_capture_thread *thread)
{
    struct plx_control_range range, other;

    plx_v4l2_camera_controls_range(&thread->camera[0].controls, &range);
    plx_v4l2_camera_controls_range(&thread->camera[thread->cameras - 1].controls, &other);
    const uint32_t period_us = (uint32_t)(plx_v4l2_camera_period_ns(&thread->camera[0]) / PLX_NS_PER_US);
    if (other.exposure_min_us > range.exposure_min_us)
        range.exposure_min_us = other.exposure_min_us;
    if (other.exposure_max_us < range.exposure_max_us)
        range.exposure_max_us = other.exposure_max_us;
    if (period_us < range.exposure_max_us)
        range.exposure_max_us = period_us;
    range.gain_min = fmaxf(range.gain_min, other.gain_min);
    range.gain_max = fmaxf(fminf(range.gain_max, other.gain_max), range.gain_min);
    plx_v4l2_control_request_set_range(&thread->request, &range);
}

/* After a camera was opened, and again after it was started: both must have the same format. Publishes range and rate. */
static int check_and_announce(struct plx_v4l2_capture_thread *thread, struct plx_v4l2_camera *camera,
                              struct plx_error_message *message)
{
    const struct plx_v4l2_camera *left = &thread->camera[PLX_LEFT], *last = &thread->camera[thread->cameras - 1];
    const struct plx_v4l2_format *a = left->actual.format, *b = last->actual.format;

    if (a && b && a->format != b->format)
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "the two cameras give different formats; set source.format to one that both have");
    join_ranges(thread);
    plx_v4l2_frame_queue_set_rate(&thread->frames, (left->buffers ? left : camera)->actual.rate_hz, &camera->note);
    return 0;
}

int plx_v4l2_capture_thread_open(struct plx_v4l2_capture_thread *thread, struct plx_error_message *message)
{
    plx_v4l2_frame_queue_set_rate(&thread->frames, thread->camera[0].requested.rate_hz,
                                  &thread->camera[0].note); /* until a camera says more */
    for (int i = 0; i < thread->cameras; i++) {
        int result = plx_v4l2_camera_open(&thread->camera[i], message);
        if (result == 0)
            result = check_and_announce(thread, &thread->camera[i], message);
        const bool retry = result == PLX_ERR_LOST || result == PLX_ERR_BUSY; /* the holder may be the engine that this one
                                                                              * replaces */
        if (result < 0 && !retry && !thread->retries_refusals)
            return result;
        if (result < 0)
            plx_v4l2_camera_close(&thread->camera[i]);
    }
    return 0;
}

/* Both eyes have delivered the same frame, and the next one is not near: a setting then acts from the same frame on. */
static bool in_gap(const struct plx_v4l2_capture_thread *thread, int64_t now)
{
    const struct plx_v4l2_camera *left = &thread->camera[0], *right = &thread->camera[thread->cameras - 1];
    const int64_t half = plx_v4l2_camera_period_ns(left) / 2, difference = left->last_capture_ns - right->last_capture_ns;
    const int64_t newest = left->progress_ns > right->progress_ns ? left->progress_ns : right->progress_ns;
    return left->has_picture && right->has_picture && difference < half && -difference < half && now - newest < half;
}

/* Sets the requested exposure and gain on both cameras together. */
static void apply_request(struct plx_v4l2_capture_thread *thread)
{
    const struct plx_v4l2_setting setting = plx_v4l2_control_request_read(&thread->request);
    const int64_t now = plx_now_ns();
    bool done = false;

    if (!setting.pending)
        return;
    if (!in_gap(thread, now) && now - setting.asked_ns < GAP_PERIODS * plx_v4l2_camera_period_ns(&thread->camera[0]))
        return;
    for (int i = 0; i < thread->cameras; i++)
        done |= plx_v4l2_camera_set(&thread->camera[i], setting.exposure_us, setting.gain);
    if (done)
        plx_v4l2_control_request_done(&thread->request, &setting);
}

static void report_lost(struct plx_v4l2_capture_thread *thread, const struct plx_v4l2_camera *camera,
                        const struct plx_error_message *message)
{
    static const uint32_t flag[] = {
        [PLX_LEFT] = PLX_HEALTH_CAMERA_LOST_LEFT,
        [PLX_RIGHT] = PLX_HEALTH_CAMERA_LOST_RIGHT,
        [PLX_EYES] = PLX_HEALTH_CAMERA_LOST_LEFT | PLX_HEALTH_CAMERA_LOST_RIGHT,
    };
    plx_v4l2_frame_queue_report(&thread->frames, flag[camera->eye], message);
}

/* Closes CAMERA, which failed with ERROR, and reports MESSAGE. The thread looks for it from now on. */
static void disconnect(struct plx_v4l2_capture_thread *thread, struct plx_v4l2_camera *camera, int error,
                       const struct plx_error_message *message)
{
    report_lost(thread, camera, message);
    plx_v4l2_camera_disconnect(camera, error);
}

/* Dequeues the pictures of CAMERA, and disconnects it if it fails. The limit leaves time for the other camera: as many as a
 * driver can hold, but only one where libv4l2 converts each picture on dequeuing. */
static void dequeue_pictures(struct plx_v4l2_capture_thread *thread, struct plx_v4l2_camera *camera)
{
    const int most = camera->node.converting ? 1 : PLX_V4L2_MAPPED;
    struct plx_capture capture;
    struct plx_error_message message = {""};
    bool compressed = false;
    int result = 0;

    for (int i = 0; i < most && (result == 0 || result == PLX_ERR_FORMAT); i++) {
        result = plx_v4l2_camera_take(camera, &capture, &compressed, &message);
        if (result == 0 && compressed)
            plx_v4l2_decode_schedule_put(&thread->schedule, camera, &capture);
        else if (result == 0)
            plx_v4l2_frame_queue_push(&thread->frames, &capture);
        else if (result == PLX_ERR_FORMAT)
            plx_v4l2_frame_queue_report(&thread->frames, capture.health, &message);
    }
    if (result == 0 || result == PLX_ERR_FORMAT || result == PLX_ERR_TIMEOUT)
        result = plx_v4l2_buffers_refill(camera->buffers, &camera->node, &message);
    if (result < 0)
        disconnect(thread, camera, result, &message);
}

/* Starts CAMERA, after opening it if it is closed. On any error the camera is tried again later. */
static void connect(struct plx_v4l2_capture_thread *thread, struct plx_v4l2_camera *camera)
{
    struct plx_error_message message = {""};
    int result = 0;

    if (plx_v4l2_camera_is_closed(camera))
        result = plx_v4l2_camera_open(camera, &message);
    if (result == 0)
        result = plx_v4l2_camera_start(camera, &message);
    if (result == 0)
        result = check_and_announce(thread, camera, &message);
    if (result == 0)
        result = plx_v4l2_decode_schedule_start(&thread->schedule, camera, (int)(camera - thread->camera), &thread->frames,
                                                thread->wake_fd, thread->heartbeats, &message);
    if (camera->is_other)
        plx_v4l2_frame_queue_fail(&thread->frames, &message);
    if (result == 0)
        plx_v4l2_control_request_repeat(&thread->request);
    else
        disconnect(thread, camera, result, &message);
}

/* Reopens a closed camera, and restarts one that is silent for too long. */
static void reconnect(struct plx_v4l2_capture_thread *thread, struct plx_v4l2_camera *camera)
{
    const int64_t now = plx_now_ns();
    struct plx_error_message message = {""};

    if (!camera->streaming && now >= camera->retry_ns)
        connect(thread, camera);
    if (!plx_v4l2_camera_is_stalled(camera, now))
        return;
    const int result = plx_v4l2_camera_recover(camera, &message);
    if (result == 0)
        report_lost(thread, camera, &message);
    else
        disconnect(thread, camera, result, &message);
}

static void wait_for_cameras(struct plx_v4l2_capture_thread *thread)
{
    struct pollfd wanted[1 + PLX_EYES] = {{.fd = thread->wake_fd, .events = POLLIN}};
    uint64_t count;

    for (int i = 0; i < thread->cameras; i++) /* poll leaves negative descriptors out */
        wanted[1 + i] = (struct pollfd){.fd = thread->camera[i].streaming ? thread->camera[i].node.fd : -1, .events = POLLIN};
    poll(wanted, 1 + (nfds_t)thread->cameras, CHECK_MS);
    for (int i = 0; i < thread->cameras; i++)
        if (wanted[1 + i].revents & POLLERR) /* the device is gone, or only without a buffer: poll would return at once again
                                              * and again */
            poll(NULL, 0, ERROR_MS);
    if (wanted[0].revents & POLLIN) {
        ssize_t got = read(thread->wake_fd, &count, sizeof count);
        (void)got; /* read only to reset the eventfd */
    }
}

static void *run(void *argument)
{
    struct plx_v4l2_capture_thread *thread = argument;

    plx_heartbeat_join(plx_heartbeat_of(thread->heartbeats, PLX_THREAD_CAMERAS));
    while (!atomic_load(&thread->stopping)) {
        plx_heartbeat_busy(PLX_WATCHED_CAMERAS);
        wait_for_cameras(thread);
        for (int i = 0; i < thread->cameras; i++)
            if (thread->camera[i].streaming)
                dequeue_pictures(thread, &thread->camera[i]); /* also after POLLERR and POLLHUP: the error of DQBUF says what
                                                               * happened */
        plx_v4l2_decode_schedule_run(&thread->schedule, thread->camera, thread->cameras);
        apply_request(thread);
        for (int i = 0; i < thread->cameras; i++)
            reconnect(thread, &thread->camera[i]);
    }
    plx_heartbeat_leave();
    return NULL;
}

int plx_v4l2_capture_thread_start(struct plx_v4l2_capture_thread *thread, struct plx_error_message *message)
{
    if (thread->running)
        return 0;
    plx_v4l2_frame_queue_open(&thread->frames);
    for (int i = 0; i < thread->cameras; i++)
        if (!plx_v4l2_camera_is_closed(&thread->camera[i]))
            connect(thread, &thread->camera[i]);
    plx_v4l2_control_request_repeat(&thread->request);
    atomic_store(&thread->stopping, false);
    thread->running = pthread_create(&thread->id, NULL, run, thread) == 0;
    if (thread->running)
        return 0;
    plx_v4l2_capture_thread_stop(thread);
    return plx_fail(message, PLX_ERR_NOMEM, "v4l2 source: no thread could be started");
}

void plx_v4l2_capture_thread_stop(struct plx_v4l2_capture_thread *thread)
{
    if (thread->running) {
        atomic_store(&thread->stopping, true); /* sequentially consistent, as its load: it is rare */
        plx_v4l2_capture_thread_wake(thread);
        pthread_join(thread->id, NULL);
        thread->running = false;
    }
    plx_v4l2_decode_schedule_stop(&thread->schedule);
    for (int i = 0; i < thread->cameras; i++)
        plx_v4l2_camera_stop(&thread->camera[i]);
    plx_v4l2_frame_queue_close(&thread->frames);
}
