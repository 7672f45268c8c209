/* SPDX-License-Identifier: Apache-2.0 */
/* A service without a calibration: its frames, its log and its recordings. */
#ifndef PLX_TESTS_SYSTEM_RAW_H
#define PLX_TESTS_SYSTEM_RAW_H

#include <parallax/client.h>
#include <parallax/error.h>

#include "tests/system/cli.h"

#define PAIRS 4

#define SCENE "--set", "source.width=320", "--set", "source.height=240", "--set", "source.rate_hz=15"

static inline struct plx_client *connect_client(void)
{
    const int64_t deadline = patience_end_ns();
    struct plx_client *client;

    while (plx_connect(daemon_.socket, &client) < 0) { /* a socket that is there may not listen yet */
        if (plx_now_ns() > deadline)
            fail_msg("no service; it said: %s", daemon_said(&daemon_));
        usleep(5000);
    }
    return client;
}

/* The header of a frame that is raw or not; fails where none comes in time. */
static inline struct plx_frame frame_of_kind(struct plx_client *client, bool raw)
{
    static struct plx_frame frame;
    const int64_t deadline = patience_end_ns();
    struct plx_view view;

    while (plx_now_ns() < deadline) {
        if (plx_next(client, 50, &view) < 0)
            continue;
        frame = *view.frame;
        if (plx_release(client, &view) == 0 && !!(frame.health & PLX_HEALTH_NOT_CALIBRATED) == raw)
            return frame;
    }
    fail_msg("no %s frame came; the service said: %s", raw ? "raw" : "rectified", daemon_said(&daemon_));
    return frame;
}

static inline void expect_failure(int code, const char *words, const char *const *args)
{
    struct command command;
    command_run(&command, args);
    if (command.code != code || !strstr(command.err, words))
        fail_msg("parallax %s: exit code %d, \"%s\"; expected %d and \"%s\"", args[0], command.code, command.err, code, words);
    command_free(&command);
}
#define expect_refusal(words, ...) expect_failure(PLX_EXIT_CONFIG, words, (const char *const[]){__VA_ARGS__, NULL})

static inline void record(const char *name)
{
    struct command command;
    command_succeed(&command, "record", "--raw", path_of(name), "--pairs", "4");
    command_free(&command);
}

#endif
