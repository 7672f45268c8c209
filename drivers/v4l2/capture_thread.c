/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/capture_thread.h"

#include <math.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <parallax/error.h>

#include "core/clock.h"

#define GAP_PERIODS 3 /* a setting waits at most so long for a gap between the frames of both eyes */
#define ERROR_MS 5    /* pause after an error, so that one that lasts does not keep a processor busy */
#define LOOK_MS 50    /* the thread looks round at least so often */

int plx_v4l2_capture_thread_init(struct plx_v4l2_capture_thread *thread)
{
    *thread = (struct plx_v4l2_capture_thread){.wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    if (thread->wake_fd < 0)
        return PLX_ERR_NOMEM;
    if (plx_v4l2_frame_queue_init(&thread->frames) < 0)
        goto no_frames;
    if (plx_v4l2_control_request_init(&thread->request) == 0)
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
    for (int i = 0; i < thread->cameras; i++) /* one that never worked: a configuration that is taken back, of both cameras */
        if (!thread->camera[i].has_worked)
            thread->camera[0].has_worked = thread->camera[thread->cameras - 1].has_worked = false;
    for (int i = 0; i < thread->cameras; i++)
        plx_v4l2_camera_close(&thread->camera[i]);
    plx_v4l2_control_request_finish(&thread->request);
    plx_v4l2_frame_queue_finish(&thread->frames);
    close(thread->wake_fd);
}

void plx_v4l2_capture_thread_wake(struct plx_v4l2_capture_thread *thread)
{
    const uint64_t one = 1;
    ssize_t written = write(thread->wake_fd, &one, sizeof one);
    (void)written; /* full means awake already */
}

/* What both cameras can do alike, and no exposure longer than a period. */
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

/* Once a camera was opened, and again once it was started. The two of a pair must give pictures of one kind. */
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
        const bool later = result == PLX_ERR_LOST || result == PLX_ERR_BUSY; /* it may be the engine that this one replaces */
        if (result < 0 && !later && !thread->patient)
            return result;
        if (result < 0)
            plx_v4l2_camera_close(&thread->camera[i]);
    }
    return 0;
}

/* Both eyes have given the same frame, and the next is not near: what is set now counts from the same frame on. */
static bool in_gap(const struct plx_v4l2_capture_thread *thread, int64_t now)
{
    const struct plx_v4l2_camera *left = &thread->camera[0], *right = &thread->camera[thread->cameras - 1];
    const int64_t half = plx_v4l2_camera_period_ns(left) / 2, apart = left->last_capture_ns - right->last_capture_ns;
    const int64_t newest = left->progress_ns > right->progress_ns ? left->progress_ns : right->progress_ns;
    return left->has_picture && right->has_picture && apart < half && -apart < half && now - newest < half;
}

/* Sets what was asked for, both eyes together. */
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

/* Lets go of CAMERA, which failed with ERROR, and says MESSAGE; it is looked for from now on. */
static void disconnect(struct plx_v4l2_capture_thread *thread, struct plx_v4l2_camera *camera, int error,
                       const struct plx_error_message *message)
{
    report_lost(thread, camera, message);
    plx_v4l2_camera_disconnect(camera, error);
}

/* Takes what has come from CAMERA, and lets go of it when it fails. No more than its driver can hold, so that the other one has
 * its turn; of one whose pictures libv4l2 converts as they are taken, which may take long, one. */
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

/* Starts CAMERA, looking for it first where it is away. Whatever is wrong with it, it is tried again. */
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
    if (result == 0)
        plx_v4l2_control_request_repeat(&thread->request);
    else
        disconnect(thread, camera, result, &message);
}

/* Brings CAMERA back: one that is away, or silent for too long. */
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
    poll(wanted, 1 + (nfds_t)thread->cameras, LOOK_MS);
    for (int i = 0; i < thread->cameras; i++)
        if (wanted[1 + i].revents & POLLERR) /* gone; or only without a buffer, which then would be told without end */
            poll(NULL, 0, ERROR_MS);
    if (wanted[0].revents & POLLIN) {
        ssize_t got = read(thread->wake_fd, &count, sizeof count);
        (void)got; /* only its emptying counts */
    }
}

static void *run(void *argument)
{
    struct plx_v4l2_capture_thread *thread = argument;

    plx_heartbeat_join(thread->heartbeats, PLX_THREAD_CAMERAS);
    while (!atomic_load(&thread->stopping)) {
        plx_heartbeat_busy(PLX_WATCHED_CAMERAS);
        wait_for_cameras(thread);
        for (int i = 0; i < thread->cameras; i++)
            if (thread->camera[i].streaming)
                dequeue_pictures(thread, &thread->camera[i]); /* also after POLLERR and POLLHUP: taking says what it is */
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
