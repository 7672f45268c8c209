/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/rig.h"

#include <math.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <parallax/error.h>

#include "core/clock.h"
#include "drivers/v4l2/turn.h"

#define GAP_PERIODS 3 /* a setting waits at most so long for a gap between the frames of both eyes */
#define ERROR_MS 5    /* pause after an error, so that one that lasts does not keep a processor busy */
#define LOOK_MS 50    /* the thread looks round at least so often */

int plx_v4l2_rig_init(struct plx_v4l2_rig *rig)
{
    *rig = (struct plx_v4l2_rig){.wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    if (rig->wake_fd < 0)
        return PLX_ERR_NOMEM;
    if (plx_v4l2_inbox_init(&rig->inbox) < 0)
        goto no_inbox;
    if (plx_v4l2_demand_init(&rig->demand) == 0)
        return 0;
    plx_v4l2_inbox_finish(&rig->inbox);
no_inbox:
    close(rig->wake_fd);
    return PLX_ERR_NOMEM;
}

void plx_v4l2_rig_finish(struct plx_v4l2_rig *rig)
{
    plx_v4l2_rig_stop(rig);
    plx_v4l2_turn_finish(rig);
    for (int i = 0; i < rig->cameras; i++) /* one that never worked: a configuration that is taken back, of both cameras */
        if (!rig->camera[i].worked)
            rig->camera[0].worked = rig->camera[rig->cameras - 1].worked = false;
    for (int i = 0; i < rig->cameras; i++)
        plx_v4l2_camera_close(&rig->camera[i]);
    plx_v4l2_demand_finish(&rig->demand);
    plx_v4l2_inbox_finish(&rig->inbox);
    close(rig->wake_fd);
}

void plx_v4l2_rig_wake(struct plx_v4l2_rig *rig)
{
    const uint64_t one = 1;
    ssize_t written = write(rig->wake_fd, &one, sizeof one);
    (void)written; /* full means awake already */
}

/* What both cameras can do alike, and no exposure longer than a period. */
static void join_ranges(struct plx_v4l2_rig *rig)
{
    struct plx_control_range range, other;

    plx_v4l2_steer_range(&rig->camera[0].steer, &range);
    plx_v4l2_steer_range(&rig->camera[rig->cameras - 1].steer, &other);
    const uint32_t period_us = (uint32_t)(plx_v4l2_camera_period_ns(&rig->camera[0]) / PLX_NS_PER_US);
    if (other.exposure_min_us > range.exposure_min_us)
        range.exposure_min_us = other.exposure_min_us;
    if (other.exposure_max_us < range.exposure_max_us)
        range.exposure_max_us = other.exposure_max_us;
    if (period_us < range.exposure_max_us)
        range.exposure_max_us = period_us;
    range.gain_min = fmaxf(range.gain_min, other.gain_min);
    range.gain_max = fmaxf(fminf(range.gain_max, other.gain_max), range.gain_min);
    plx_v4l2_demand_limit(&rig->demand, &range);
}

/* Once a camera was opened, and again once it was started. The two of a pair must give pictures of one kind. */
static int agree(struct plx_v4l2_rig *rig, struct plx_v4l2_camera *camera, struct plx_error_message *message)
{
    const struct plx_v4l2_camera *left = &rig->camera[PLX_LEFT], *last = &rig->camera[rig->cameras - 1];
    const struct plx_v4l2_format *a = left->deal.format, *b = last->deal.format;

    if (a && b && a->format != b->format)
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "the two cameras give different formats; set source.format to one that both have");
    join_ranges(rig);
    plx_v4l2_inbox_agree(&rig->inbox, (left->buffers ? left : camera)->deal.rate_hz, &camera->note);
    return 0;
}

int plx_v4l2_rig_open(struct plx_v4l2_rig *rig, struct plx_error_message *message)
{
    plx_v4l2_inbox_agree(&rig->inbox, rig->camera[0].wish.rate_hz, &rig->camera[0].note); /* until a camera says more */
    for (int i = 0; i < rig->cameras; i++) {
        int result = plx_v4l2_camera_open(&rig->camera[i], message);
        if (result == 0)
            result = agree(rig, &rig->camera[i], message);
        const bool later = result == PLX_ERR_LOST || result == PLX_ERR_BUSY; /* it may be the engine that this one replaces */
        if (result < 0 && !later && !rig->patient)
            return result;
        if (result < 0)
            plx_v4l2_camera_close(&rig->camera[i]);
    }
    return 0;
}

/* Both eyes have given the same frame, and the next is not near: what is set now counts from the same frame on. */
static bool in_gap(const struct plx_v4l2_rig *rig, int64_t now)
{
    const struct plx_v4l2_camera *left = &rig->camera[0], *right = &rig->camera[rig->cameras - 1];
    const int64_t half = plx_v4l2_camera_period_ns(left) / 2, apart = left->last_capture_ns - right->last_capture_ns;
    const int64_t newest = left->progress_ns > right->progress_ns ? left->progress_ns : right->progress_ns;
    return left->seen && right->seen && apart < half && -apart < half && now - newest < half;
}

/* Sets what was asked for, both eyes together. */
static void steer(struct plx_v4l2_rig *rig)
{
    const struct plx_v4l2_setting setting = plx_v4l2_demand_read(&rig->demand);
    const int64_t now = plx_now_ns();
    bool done = false;

    if (!setting.pending)
        return;
    if (!in_gap(rig, now) && now - setting.asked_ns < GAP_PERIODS * plx_v4l2_camera_period_ns(&rig->camera[0]))
        return;
    for (int i = 0; i < rig->cameras; i++)
        done |= plx_v4l2_camera_set(&rig->camera[i], setting.exposure_us, setting.gain);
    if (done)
        plx_v4l2_demand_met(&rig->demand, &setting);
}

static void tell_lost(struct plx_v4l2_rig *rig, const struct plx_v4l2_camera *camera, const struct plx_error_message *message)
{
    static const uint32_t flag[] = {
        [PLX_LEFT] = PLX_HEALTH_CAMERA_LOST_LEFT,
        [PLX_RIGHT] = PLX_HEALTH_CAMERA_LOST_RIGHT,
        [PLX_EYES] = PLX_HEALTH_CAMERA_LOST_LEFT | PLX_HEALTH_CAMERA_LOST_RIGHT,
    };
    plx_v4l2_inbox_tell(&rig->inbox, flag[camera->eye], message);
}

/* Lets go of CAMERA, which failed with ERROR, and says MESSAGE; it is looked for from now on. */
static void lose(struct plx_v4l2_rig *rig, struct plx_v4l2_camera *camera, int error, const struct plx_error_message *message)
{
    tell_lost(rig, camera, message);
    plx_v4l2_camera_lost(camera, error);
}

/* Takes what has come from CAMERA, and lets go of it when it fails. No more than its driver can hold, so that the other one has
 * its turn; of one whose pictures libv4l2 converts as they are taken, which may take long, one. */
static void drain(struct plx_v4l2_rig *rig, struct plx_v4l2_camera *camera)
{
    const int most = camera->node.converting ? 1 : PLX_V4L2_MAPPED;
    struct plx_capture capture;
    struct plx_error_message message = {""};
    bool compressed = false;
    int result = 0;

    for (int i = 0; i < most && (result == 0 || result == PLX_ERR_FORMAT); i++) {
        result = plx_v4l2_camera_take(camera, &capture, &compressed, &message);
        if (result == 0 && compressed)
            plx_v4l2_turn_keep(rig, camera, &capture);
        else if (result == 0)
            plx_v4l2_inbox_put(&rig->inbox, &capture);
        else if (result == PLX_ERR_FORMAT)
            plx_v4l2_inbox_tell(&rig->inbox, capture.health, &message);
    }
    if (result == 0 || result == PLX_ERR_FORMAT || result == PLX_ERR_TIMEOUT)
        result = plx_v4l2_buffers_refill(camera->buffers, &camera->node, &message);
    if (result < 0)
        lose(rig, camera, result, &message);
}

/* Starts CAMERA, looking for it first where it is away. Whatever is wrong with it, it is tried again. */
static void begin(struct plx_v4l2_rig *rig, struct plx_v4l2_camera *camera)
{
    struct plx_error_message message = {""};
    int result = 0;

    if (plx_v4l2_camera_is_away(camera))
        result = plx_v4l2_camera_open(camera, &message);
    if (result == 0)
        result = plx_v4l2_camera_start(camera, &message);
    if (result == 0)
        result = agree(rig, camera, &message);
    if (result == 0)
        result = plx_v4l2_turn_prepare(rig, camera, &message);
    if (result == 0)
        plx_v4l2_demand_renew(&rig->demand);
    else
        lose(rig, camera, result, &message);
}

/* Brings CAMERA back: one that is away, or silent for too long. */
static void mend(struct plx_v4l2_rig *rig, struct plx_v4l2_camera *camera)
{
    const int64_t now = plx_now_ns();
    struct plx_error_message message = {""};

    if (!camera->streaming && now >= camera->retry_ns)
        begin(rig, camera);
    if (!plx_v4l2_camera_is_silent(camera, now))
        return;
    const int result = plx_v4l2_camera_revive(camera, &message);
    if (result == 0)
        tell_lost(rig, camera, &message);
    else
        lose(rig, camera, result, &message);
}

static void wait_for_cameras(struct plx_v4l2_rig *rig)
{
    struct pollfd wanted[1 + PLX_EYES] = {{.fd = rig->wake_fd, .events = POLLIN}};
    uint64_t count;

    for (int i = 0; i < rig->cameras; i++) /* poll leaves negative descriptors out */
        wanted[1 + i] = (struct pollfd){.fd = rig->camera[i].streaming ? rig->camera[i].node.fd : -1, .events = POLLIN};
    poll(wanted, 1 + (nfds_t)rig->cameras, LOOK_MS);
    for (int i = 0; i < rig->cameras; i++)
        if (wanted[1 + i].revents & POLLERR) /* gone; or only without a buffer, which then would be told without end */
            poll(NULL, 0, ERROR_MS);
    if (wanted[0].revents & POLLIN) {
        ssize_t got = read(rig->wake_fd, &count, sizeof count);
        (void)got; /* only its emptying counts */
    }
}

static void *run(void *argument)
{
    struct plx_v4l2_rig *rig = argument;

    plx_heartbeat_join(rig->heartbeats, PLX_THREAD_CAMERAS);
    while (!atomic_load(&rig->stopping)) {
        plx_heartbeat_busy(PLX_WATCHED_CAMERAS);
        wait_for_cameras(rig);
        for (int i = 0; i < rig->cameras; i++)
            if (rig->camera[i].streaming)
                drain(rig, &rig->camera[i]); /* also after POLLERR and POLLHUP: taking says what it is */
        plx_v4l2_turn_begin(rig);
        steer(rig);
        for (int i = 0; i < rig->cameras; i++)
            mend(rig, &rig->camera[i]);
    }
    plx_heartbeat_leave();
    return NULL;
}

int plx_v4l2_rig_start(struct plx_v4l2_rig *rig, struct plx_error_message *message)
{
    int result = 0;

    if (rig->running)
        return 0;
    plx_v4l2_inbox_open(&rig->inbox);
    for (int i = 0; i < rig->cameras; i++)
        if (!plx_v4l2_camera_is_away(&rig->camera[i]))
            begin(rig, &rig->camera[i]);
    plx_v4l2_demand_renew(&rig->demand);
    atomic_store(&rig->stopping, false);
    if (result == 0 && pthread_create(&rig->thread, NULL, run, rig) != 0)
        result = plx_fail(message, PLX_ERR_NOMEM, "v4l2 source: no thread could be started");
    rig->running = result == 0;
    if (result < 0)
        plx_v4l2_rig_stop(rig);
    return result;
}

void plx_v4l2_rig_stop(struct plx_v4l2_rig *rig)
{
    if (rig->running) {
        atomic_store(&rig->stopping, true); /* sequentially consistent, as its load: it is rare */
        plx_v4l2_rig_wake(rig);
        pthread_join(rig->thread, NULL);
        rig->running = false;
    }
    plx_v4l2_turn_stop(rig);
    for (int i = 0; i < rig->cameras; i++)
        plx_v4l2_camera_stop(&rig->camera[i]);
    plx_v4l2_inbox_close(&rig->inbox);
}
