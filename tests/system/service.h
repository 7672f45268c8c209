/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture of the service's tests: the real service with a small scene, and real clients. */
#ifndef PLX_TESTS_SYSTEM_SERVICE_H
#define PLX_TESTS_SYSTEM_SERVICE_H

#include "tests/system/daemon.h"

#include <parallax/client.h>

#include "drivers/synthetic/scene.h"
#include "tests/patience.h"

#define START_MS 10000
#define RECOVER_MS 2000
#define SLACK_MS 150 /* for a guest that has one slow processor */

/* A small scene, so that a slow machine keeps its rate; a test that judges pictures asks for a larger one. */
#ifndef WIDTH
#    define WIDTH 64
#    define HEIGHT 48
#endif
#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)
static const char small_width[] = "source.width=" TEXT(WIDTH), small_height[] = "source.height=" TEXT(HEIGHT);
#define SMALL                                                                                                                  \
    "--set", small_width, "--set", small_height, "--set", "source.rate_hz=20", "--set", "match.disparities=64", "--set",       \
        "match.paths=4"

static const char *const small_args[] = {SMALL, NULL};

static struct daemon daemon_;

static inline int make(void **state)
{
    (void)state;
    daemon_make(&daemon_);
    return 0;
}

static inline int clean(void **state)
{
    (void)state;
    if (daemon_.pid > 0) {
        kill(daemon_.pid, SIGKILL);
        waitpid(daemon_.pid, NULL, 0);
    }
    daemon_remove(&daemon_);
    return 0;
}

static inline int64_t now_ms(void)
{
    return plx_now_ns() / PLX_NS_PER_MS;
}

/* Whether nothing but this test takes time from it, as in the test guest, whose clock counts instructions. */
static inline bool clock_is_exact(void)
{
    return getenv("PLX_EXACT_CLOCK") != NULL;
}

/* True if more than ALLOWED_MS have passed since BEGIN_MS. Promises of time are judged on an exact clock only: elsewhere this
 * machine may do anything else meanwhile, and a test waits until what it expects has happened, or until it is clear that it
 * never will. */
static inline bool is_late(int64_t begin_ms, int allowed_ms)
{
    return now_ms() - begin_ms > (clock_is_exact() || allowed_ms > patience_ms() ? allowed_ms : patience_ms());
}

/* The exit code of the service, which has ALLOWED_MS to end; -1 if it takes more. */
static inline int end_within(int allowed_ms)
{
    const int64_t begin_ms = now_ms();
    int code;

    while ((code = daemon_wait(&daemon_, 20)) < 0 && !is_late(begin_ms, allowed_ms))
        ;
    return code;
}

static inline struct plx_client *connect_client(void)
{
    struct plx_client *client;
    const int64_t begin_ms = now_ms();
    int code;

    while ((code = plx_connect(daemon_.socket, &client)) < 0) {
        if (is_late(begin_ms, START_MS))
            fail_msg("no service after %d ms (%s); it said: %s", START_MS, plx_strerror(code), daemon_said(&daemon_));
        usleep(5000);
    }
    return client;
}

/* Copies the header of the next whole frame; fails after TIMEOUT_MS. */
static inline struct plx_frame next_frame(struct plx_client *client, int timeout_ms)
{
    static struct plx_frame frame;
    const int64_t begin_ms = now_ms();
    struct plx_view view;

    while (!is_late(begin_ms, timeout_ms)) {
        if (plx_next(client, 50, &view) < 0)
            continue;
        frame = *view.frame;
        if (plx_release(client, &view) == 0)
            return frame;
    }
    fail_msg("no frame in %d ms; the service said: %s", timeout_ms, daemon_said(&daemon_));
    return frame;
}

/* The next whole frame of an engine that the supervisor knows to run: clients may see a frame before it does. */
static inline struct plx_frame running_frame(struct plx_client *client, int timeout_ms)
{
    const int64_t begin_ms = now_ms();
    struct plx_frame frame;

    do {
        assert_false(is_late(begin_ms, timeout_ms));
        frame = next_frame(client, timeout_ms);
    } while (plx_state(client) != PLX_STATE_RUNNING && plx_state(client) != PLX_STATE_DEGRADED);
    return frame;
}

static inline pid_t engine_of(const struct daemon *daemon)
{
    pid_t engine;
    const int64_t begin_ms = now_ms();

    while ((engine = daemon_child(daemon, "parallax-engine")) == 0 && !is_late(begin_ms, START_MS))
        usleep(1000);
    assert_true(engine > 0);
    return engine;
}

static inline void wait_until_said(const char *words, int timeout_ms)
{
    const int64_t begin_ms = now_ms();

    while (!strstr(daemon_said(&daemon_), words)) {
        if (is_late(begin_ms, timeout_ms))
            fail_msg("expected \"%s\" within %d ms; the service said: %s", words, timeout_ms, daemon_said(&daemon_));
        usleep(5000);
    }
}

/* The state of process PID as proc(5) writes it ('T': stopped, 'Z': zombie), 0 without such a process. */
static inline char process_state(pid_t pid)
{
    char path[64], state = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    if (file)
        fclose(file);
    return state;
}

/* The process NAME of the service that has stopped by the fault "stop" or "ignore". */
static inline pid_t stopped_child(const char *name)
{
    wait_until_said("fault: ", START_MS);
    const pid_t child = daemon_child(&daemon_, name);
    const int64_t begin_ms = now_ms();

    assert_true(child > 0);
    while (process_state(child) != 'T') {
        assert_false(is_late(begin_ms, START_MS));
        usleep(1000);
    }
    return child;
}

/* Why the service says that it is in its state holds WORDS. */
static inline void expect_reason(struct plx_client *client, const char *words)
{
    char reason[256] = "";
    const int64_t begin_ms = now_ms();

    while (plx_reason(client, reason, sizeof reason) < 0 || !strstr(reason, words)) {
        if (is_late(begin_ms, RECOVER_MS))
            fail_msg("the reason is \"%s\", expected \"%s\"", reason, words);
        usleep(1000);
    }
}

static inline bool is_gone(pid_t pid)
{
    char state = process_state(pid);

    for (int i = 0; i < 500 && state != 0 && state != 'Z'; i++) {
        usleep(2000);
        state = process_state(pid);
    }
    return state == 0 || state == 'Z';
}

static inline void stop_daemon(void)
{
    const pid_t engine = daemon_child(&daemon_, NULL);

    assert_true(daemon_.pid > 0); /* it has not ended by itself; and 0 would be this test's group */
    kill(daemon_.pid, SIGTERM);
    assert_int_equal(end_within(2000), 0);
    assert_true(access(daemon_.socket, F_OK) != 0);
    assert_true(engine == 0 || is_gone(engine));
}

/* The same for a configuration file. */
#define SMALL_SOURCE "source:\n  width: " TEXT(WIDTH) "\n  height: " TEXT(HEIGHT) "\n  rate_hz: 20\n"

/* Replaces the configuration file whole. */
static inline void write_config(const char *text)
{
    write_text(daemon_.directory, "new.yaml", text);
    char from[128], to[128];
    snprintf(from, sizeof from, "%s/new.yaml", daemon_.directory);
    snprintf(to, sizeof to, "%s/parallax.yaml", daemon_.directory);
    assert_int_equal(rename(from, to), 0);
}

#define PAIR_S 0.1 /* between the pairs of write_replay */

/* Renders PAIRS pairs of the demonstration scene into a KITTI-style directory. SPOIL, unless NULL, may change each picture. */
static inline void write_replay(int pairs, void (*spoil)(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH]))
{
    static uint8_t pixels[HEIGHT][WIDTH];
    const struct plx_image image = {.data = pixels, .width = WIDTH, .height = HEIGHT, .pitch = WIDTH, .type = PLX_U8};
    struct plx_scene scene;
    char path[160], calib[512];

    plx_scene_demo(WIDTH, HEIGHT, 1, &scene);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        snprintf(path, sizeof path, "%s/image_%d", daemon_.directory, eye);
        assert_int_equal(mkdir(path, 0755), 0);
        for (int i = 0; i < pairs; i++) {
            assert_int_equal(plx_scene_render(&scene, i * PAIR_S, (uint32_t)i, (enum plx_eye)eye, 10000, 1, &image), 0);
            if (spoil)
                spoil(i, (enum plx_eye)eye, pixels);
            snprintf(path, sizeof path, "%s/image_%d/%06d.pgm", daemon_.directory, eye, i);
            FILE *file = fopen(path, "wb");
            assert_non_null(file);
            fprintf(file, "P5\n%d %d\n255\n", WIDTH, HEIGHT);
            assert_int_equal(fwrite(pixels, WIDTH, HEIGHT, file), HEIGHT);
            assert_int_equal(fclose(file), 0);
        }
    }
    snprintf(path, sizeof path, "%s/times.txt", daemon_.directory);
    FILE *times = fopen(path, "w");
    assert_non_null(times);
    for (int i = 0; i < pairs; i++)
        fprintf(times, "%.6f\n", i * PAIR_S);
    assert_int_equal(fclose(times), 0);
    const struct plx_calibration_info *c = &scene.calibration;
    snprintf(calib, sizeof calib, "P0: %.9g 0 %.9g 0 0 %.9g %.9g 0 0 0 1 0\nP1: %.9g 0 %.9g %.9g 0 %.9g %.9g 0 0 0 1 0\n",
             c->fx, c->cx, c->fy, c->cy, c->fx, c->cx, -c->fx * c->baseline_m, c->fy, c->cy);
    write_text(daemon_.directory, "calib.txt", calib);
}

#endif
