/* SPDX-License-Identifier: Apache-2.0 */
/* For cases that run the real service on cameras: its configuration, and what it publishes. */
#ifndef PLX_TESTS_VM_SERVICE_H
#define PLX_TESTS_VM_SERVICE_H

#include "tests/system/daemon.h"

#include <stdlib.h>

#include <parallax/client.h>
#include <parallax/error.h>

#include "config/config.h"

#define SERVICE_MS 20000 /* the guest is slow, and its host may be busy */

#define CALIBRATION_FILE "/tmp/calibration.yaml"
#define CALIBRATION_SETTING "calibration=/tmp/calibration.yaml"

/* A calibration for pictures of that size, which leaves them as they are. */
static inline void write_calibration(int width, int height)
{
    const struct plx_calibration_info info = {
        .fx = width, .fy = width, .cx = width / 2.0, .cy = height / 2.0, .cx_right = width / 2.0, .baseline_m = 0.1};
    struct plx_stereo_calibration calibration;
    struct plx_error_message message;
    plx_calibration_pinhole(width, height, &info, &calibration);
    if (plx_calibration_save(CALIBRATION_FILE, &calibration, &message) < 0)
        fail_msg("%s", message.text);
}

/* Both eyes of stereocam at 64x48, for the least work; needs write_calibration(64, 48). */
#define SERVICE_STEREOCAM                                                                                                      \
    "source.type=v4l2", "source.left=card=stereocam left", "source.right=card=stereocam right", "source.width=64",             \
        "source.height=48", CALIBRATION_SETTING, "match.disparities=64"

struct service {
    struct daemon daemon;
    struct plx_client *client;
    const char *config; /* file, if there is one */
};

/* Starts the service with SETTINGS ("key=value", NULL at the end) and connects to it. */
static inline void service_start(struct service *service, const char *const *settings)
{
    const char *args[DAEMON_ARGS] = {NULL};
    int count = 0;

    if (service->config) {
        args[count++] = "--config";
        args[count++] = service->config;
    }
    for (int i = 0; settings[i]; i++) {
        assert_true(count + 2 < DAEMON_ARGS);
        args[count++] = "--set";
        args[count++] = settings[i];
    }
    daemon_start(&service->daemon, args);
    for (int ms = 0; plx_connect(service->daemon.socket, &service->client) < 0; ms += 100) {
        if (ms > SERVICE_MS || daemon_wait(&service->daemon, 0) >= 0)
            fail_msg("no service: %s", daemon_said(&service->daemon));
        usleep(100000);
    }
}

static inline void service_stop(struct service *service)
{
    plx_disconnect(service->client);
    kill(service->daemon.pid, SIGTERM);
    assert_int_equal(daemon_wait(&service->daemon, SERVICE_MS), 0);
    daemon_remove(&service->daemon);
}

/* The next frame whose left picture was taken after SINCE_NS, to be released; it must come. */
static inline struct plx_view service_next(struct service *service, int64_t since_ns)
{
    struct plx_view view = {.frame = NULL};
    for (int64_t end = plx_now_ns() + SERVICE_MS * PLX_NS_PER_MS; plx_now_ns() < end;) {
        if (plx_next(service->client, 1000, &view) < 0)
            continue;
        if (view.frame->capture[PLX_LEFT].capture_ns >= since_ns)
            return view;
        plx_release(service->client, &view);
    }
    fail_msg("no frame: %s", daemon_said(&service->daemon));
    abort(); /* fail_msg does not return, which it does not declare */
}

#endif
