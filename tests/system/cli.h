/* SPDX-License-Identifier: Apache-2.0 */
/* A real parallaxd and the command beside it, for the tests of the command. */
#ifndef PLX_TESTS_SYSTEM_CLI_H
#define PLX_TESTS_SYSTEM_CLI_H

#include "tests/system/daemon.h"

#include <cjson/cJSON.h>

#include "app/exit.h"
#include "drivers/files/picture.h"
#include "tests/command.h"
#include "tests/patience.h"

#define WIDTH 320
#define HEIGHT 240

static struct daemon daemon_;

/* daemon_path of the test's daemon. */
static inline const char *path_of(const char *name)
{
    return daemon_path(&daemon_, name);
}

#define start_daemon(...)                                                                                                      \
    do {                                                                                                                       \
        daemon_start(&daemon_, (const char *const[]){"--set", "match.disparities=64", __VA_ARGS__, NULL});                     \
        wait_for_socket();                                                                                                     \
    } while (0)

static inline void wait_for_socket(void)
{
    const int64_t deadline = patience_end_ns();
    while (access(daemon_.socket, F_OK) != 0) {
        if (daemon_wait(&daemon_, 0) >= 0 || plx_now_ns() > deadline)
            fail_msg("parallaxd does not serve: %s", daemon_said(&daemon_));
        usleep(5000);
    }
}

static inline void stop_daemon(void)
{
    assert_true(daemon_.pid > 0); /* it has not ended by itself; and 0 would be this test's group */
    kill(daemon_.pid, SIGTERM);
    assert_int_equal(daemon_wait(&daemon_, patience_ms()), 0);
}

/* Around all tests of a program. */
static inline void cli_begin(void)
{
    daemon_make(&daemon_);
    setenv("PARALLAX_SOCKET", daemon_.socket, 1);
}

static inline void cli_end(void)
{
    if (daemon_.pid > 0)
        kill(daemon_.pid, SIGKILL);
    daemon_remove(&daemon_);
}

/* Around tests that need the scene and its right picture. At SCENE_HZ pairs a second; a test that must see every frame of a
 * service beside other programs asks for few. */
#ifndef SCENE_HZ
#    define SCENE_HZ "15"
#endif
static inline int start_scene(void **state)
{
    (void)state;
    start_daemon("--set", "source.width=320", "--set", "source.height=240", "--set", ("source.rate_hz=" SCENE_HZ), "--set",
                 "publish.right=true", "--set", "mount.z_m=1", "--set", "mount.pitch_deg=5.73", "--set", "mount.roll_deg=0.86",
                 "--set", "zones=[{name: ahead, polygon: [[1, -0.3], [2, -0.3], [2, 0.3], [1, 0.3]]}]");
    return 0;
}

static inline int stop_scene(void **state)
{
    (void)state;
    stop_daemon();
    return 0;
}

static inline double number(const cJSON *item, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, key);
    if (!cJSON_IsNumber(value))
        fail_msg("no number %s in the JSON", key);
    return value->valuedouble;
}

static inline struct plx_image read_picture(const char *path, enum plx_type type)
{
    struct plx_image image;
    struct plx_error_message message;
    if (plx_picture_read(path, type, &image, &message) < 0)
        fail_msg("%s", message.text);
    assert_int_equal(image.width, WIDTH);
    assert_int_equal(image.height, HEIGHT);
    return image;
}

#endif
