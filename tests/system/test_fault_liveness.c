/* SPDX-License-Identifier: Apache-2.0 */
/* Liveness: a service that was stopped as a whole counts as alive. A thread that is stuck in a driver does not. systemd
 * restarts a service whose engine cannot be killed. */
#include "tests/system/fault.h"

#include "config/config.h"
#include "tests/system/control_group.h"
#include "tests/system/systemd.h"

#include <dirent.h>
#include <sys/resource.h>

#define FROZEN_MS 3000
#define WATCHDOG_MS 2000

static struct control_group group;

/* Sets it for all threads of PID. */
static void set_nice(pid_t pid, int nice)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    assert_non_null(tasks);
    for (const struct dirent *entry; (entry = readdir(tasks));)
        if (atoi(entry->d_name) > 0)
            assert_int_equal(setpriority(PRIO_PROCESS, (id_t)atoi(entry->d_name), nice), 0);
    closedir(tasks);
}

static int thaw_and_clean(void **state)
{
    if (group.version > 0)
        control_group_freeze(&group, false);
    const int result = clean(state);
    control_group_remove(&group);
    return result;
}

static void freeze(pid_t engine, bool on)
{
    if (group.version > 0) {
        assert_true(control_group_freeze(&group, on));
        return;
    }
    kill(daemon_.pid, on ? SIGSTOP : SIGCONT);
    kill(engine, on ? SIGSTOP : SIGCONT);
}

/* Frozen by the freezer, as `systemctl freeze` and a container's pause do; by SIGSTOP where there is none. */
static void a_service_that_is_frozen_as_a_whole_keeps_its_engine(void **state)
{
    (void)state;
    const int times = fault_full() ? 20 : 4;

    daemon_.group = control_group_make(&group, "freezer") ? group.path : NULL;
    print_message("    by %s\n", daemon_.group ? "the freezer" : "SIGSTOP, for want of a freezer");
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);
    for (int i = 0; i < times; i++) {
        usleep((useconds_t)(100 + 37 * i) * 1000); /* at another moment of a period each time */
        freeze(engine, true);
        usleep(FROZEN_MS * 1000);
        freeze(engine, false);
        running_frame(client, START_MS);
        assert_int_equal(engine_of(&daemon_), engine);
        assert_int_equal(plx_restarts(client), 0);
    }
    wait_until_said("the service did not run for ", RECOVER_MS);
    stop_daemon();
    plx_disconnect(client);
}

static void an_engine_that_is_frozen_alone_is_replaced(void **state)
{
    (void)state;
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);
    const int64_t begin_ms = now_ms();
    kill(engine, SIGSTOP);
    while (plx_restarts(client) == 0) {
        assert_false(is_late(begin_ms, FROZEN_MS));
        usleep(1000);
    }
    running_frame(client, START_MS);
    assert_true(engine_of(&daemon_) != engine);
    stop_daemon();
    plx_disconnect(client);
}

/* Frames come from ENGINE, and no other was started. Ends the service. */
static void expect_kept(struct plx_client *client, pid_t engine)
{
    running_frame(client, START_MS);
    assert_int_equal(engine_of(&daemon_), engine);
    assert_int_equal(plx_restarts(client), 0);
    stop_daemon();
    plx_disconnect(client);
}

/* As a supervisor that is stopped for a while, and no longer than systemd allows. */
static void a_supervisor_that_stood_still_keeps_its_engine(void **state)
{
    (void)state;
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);
    kill(daemon_.pid, SIGSTOP);
    usleep(FROZEN_MS * 1000);
    kill(daemon_.pid, SIGCONT);
    usleep(500000);
    expect_kept(client, engine);
}

/* The engine yields to everybody (nice 19), and many want the processor: hardly any of it is left for the engine, and a new one
 * would get no more. The supervisor, which sleeps most of the time, gets its turns. */
static void an_engine_that_others_keep_from_running_is_not_replaced(void **state)
{
    (void)state;
    enum { BUSY = 12, BUSY_MS = 4000 };
    pid_t busy[BUSY];
    if (!clock_is_exact())
        skip(); /* with more than one processor something is left */
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);
    set_nice(engine, 19);
    for (int i = 0; i < BUSY; i++) {
        busy[i] = fork();
        for (volatile unsigned turns = 0; busy[i] == 0; turns++)
            ;
    }
    usleep(BUSY_MS * 1000);
    expect_reason(client, "other programs keep the processors busy");
    for (int i = 0; i < BUSY; i++) {
        kill(busy[i], SIGKILL);
        waitpid(busy[i], NULL, 0);
    }
    set_nice(engine, 0);
    expect_kept(client, engine);
}

/* Engines that are killed from outside, and engines that wait for their source: the GPU has nothing to do with it. */
static void a_gpu_bears_no_blame_for_what_is_not_its_own(void **state)
{
    (void)state;
    static const char *const args[] = {SMALL, "--set", "source.rate_hz=4", "--set", "backend=gpu", NULL};

    daemon_.fault = "lose 1000000";
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    for (uint32_t engines = 1; engines <= 6; engines++) {
        running_frame(client, START_MS); /* 250 ms before the next: it waits for its source */
        usleep(50000);
        kill(engine_of(&daemon_), engines % 2 ? SIGKILL : SIGSTOP);
        const int64_t begin_ms = now_ms();
        while (plx_restarts(client) < engines) {
            assert_false(is_late(begin_ms, START_MS));
            usleep(1000);
        }
    }
    assert_int_equal(running_frame(client, START_MS).health & PLX_HEALTH_GPU_FALLBACK, 0);
    assert_null(strstr(daemon_said(&daemon_), "the GPU was lost"));
    stop_daemon();
    plx_disconnect(client);
}

/* --- under systemd ------------------------------------------------------------------------------------------------- */

static int start_notified(void **state)
{
    make(state);
    systemd_listen(daemon_.directory, WATCHDOG_MS);
    return 0;
}

static int clean_notified(void **state)
{
    systemd_leave();
    return clean(state);
}

/* Cameras that are away, and a driver whose N-th call hangs, or every one from then on. */
static struct plx_client *start_with_stuck_driver(const char *fault)
{
    static char eyes[PLX_EYES][160], calibration_key[160];
    static const char *const args[] = {
        "--set", small_width,     "--set", small_height,    "--set", "source.type=v4l2",     "--set", eyes[PLX_LEFT],
        "--set", eyes[PLX_RIGHT], "--set", calibration_key, "--set", "match.disparities=64", NULL};
    static const char *const name[PLX_EYES] = {"left", "right"};
    static const char *const device[PLX_EYES] = {"/dev/null", "/dev/zero"}; /* they can be opened and asked */
    struct plx_stereo_calibration calibration;
    struct plx_scene scene;
    struct plx_error_message message;
    char path[128];

    for (int eye = 0; eye < PLX_EYES; eye++) {
        snprintf(path, sizeof path, "%s/%s", daemon_.directory, name[eye]);
        assert_int_equal(symlink(device[eye], path), 0);
        snprintf(eyes[eye], sizeof eyes[eye], "source.%s=%s", name[eye], path);
    }
    plx_scene_demo(WIDTH, HEIGHT, 1, &scene);
    plx_calibration_pinhole(WIDTH, HEIGHT, &scene.calibration, &calibration);
    snprintf(calibration_key, sizeof calibration_key, "calibration=%s/calibration.yaml", daemon_.directory);
    if (plx_calibration_save(strchr(calibration_key, '=') + 1, &calibration, &message) < 0)
        fail_msg("%s", message.text);
    daemon_.fault = fault;
    daemon_start(&daemon_, args);
    return connect_client();
}

static void a_driver_that_never_returns_is_named_and_its_engine_replaced(void **state)
{
    (void)state;
    struct plx_client *client =
        start_with_stuck_driver("hang ioctl 15"); /* probe and engine ask 4 times before its thread does */

    wait_until_said("fault: hang ioctl 15", START_MS);
    const int64_t begin_ms = now_ms();
    systemd_expect("WATCHDOG=1", "", WATCHDOG_MS);
    while (!(plx_health(client) & PLX_HEALTH_LATE)) {
        assert_false(is_late(begin_ms, 2000 + SLACK_MS));
        usleep(10000);
    }
    expect_reason(client, "a call of a camera's driver takes longer than its budget");
    while (plx_restarts(client) == 0) {
        if (is_late(begin_ms, 12000 + 1000))
            fail_msg("no new engine; the service said: %s", daemon_said(&daemon_));
        usleep(10000);
    }
    wait_until_said("(a call of a camera's driver since 12.", RECOVER_MS);
    expect_reason(client, "camera lost, looking for it"); /* the next one's driver answers */
    systemd_expect("WATCHDOG=1", "", WATCHDOG_MS);
    stop_daemon();
    plx_disconnect(client);
}

static void a_driver_that_never_returns_again_starves_the_watchdog(void **state)
{
    (void)state;
    if (!fault_full()) {
        print_message("    skipped: it takes 40 s; ./dev test faults has it\n");
        skip();
    }
    struct plx_client *client = start_with_stuck_driver("stick ioctl 15");
    wait_until_said("has taken", START_MS);
    const int64_t begin_ms = now_ms();
    int64_t fed_ms = begin_ms;
    while (now_ms() - fed_ms < WATCHDOG_MS) {
        if (systemd_fed(20))
            fed_ms = now_ms();
        assert_true(now_ms() - begin_ms < 30000 + 2 * WATCHDOG_MS);
    }
    print_message("    fed for %d ms\n", (int)(fed_ms - begin_ms));
    assert_int_equal(plx_state(client), PLX_STATE_FAILED);
    expect_reason(client, "a call of a camera's driver");
    plx_disconnect(client);
}

/* Nobody hears what systemd should: its queue is full after a few words. */
static void a_systemd_that_does_not_listen_holds_nothing_up(void **state)
{
    (void)state;
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    usleep(2 * WATCHDOG_MS * 1000);
    while (systemd_fed(0)) /* it was full, and is empty now */
        ;
    systemd_expect("WATCHDOG=1", "", WATCHDOG_MS);
    usleep(4 * WATCHDOG_MS * 1000);
    const int64_t begin_ms = now_ms();
    kill(engine_of(&daemon_), SIGKILL);
    while (plx_restarts(client) == 0) {
        assert_false(is_late(begin_ms, RECOVER_MS));
        usleep(1000);
    }
    running_frame(client, RECOVER_MS);
    stop_daemon();
    plx_disconnect(client);
}

/* No signal has an effect on the engine, as where a driver holds it in state D. */
static struct plx_client *start_unkillable(void)
{
    daemon_.fault = "ignore kill 0";
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    return client;
}

static void what_nothing_can_kill_is_left_to_systemd(void **state)
{
    (void)state;
    struct plx_client *client = start_unkillable();
    const pid_t engine = engine_of(&daemon_);
    systemd_expect("WATCHDOG=1", "", WATCHDOG_MS);
    kill(engine, SIGSTOP);
    wait_until_said("does not die of SIGKILL: a driver holds it", START_MS);
    expect_reason(client, "does not die of SIGKILL: a driver holds it");
    assert_int_equal(plx_state(client), PLX_STATE_FAILED);
    assert_int_equal(engine_of(&daemon_), engine); /* no second one beside it */
    systemd_fed(0);
    assert_false(systemd_fed(WATCHDOG_MS)); /* the rest is systemd's: WatchdogSec= has passed */

    kill(daemon_.pid, SIGTERM); /* does not wait for it either */
    assert_int_equal(end_within(2000), 71);
    assert_true(is_gone(engine));
    plx_disconnect(client);
}

static void an_engine_that_cannot_be_ended_holds_up_no_stop(void **state)
{
    (void)state;
    struct plx_client *client = start_unkillable();
    const pid_t engine = engine_of(&daemon_);
    kill(daemon_.pid, SIGTERM);
    assert_int_equal(end_within(5000), 71); /* TimeoutStopSec= */
    assert_true(is_gone(engine));
    plx_disconnect(client);
}

int main(void)
{
#define NOTIFIED(name) cmocka_unit_test_setup_teardown(name, start_notified, clean_notified)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_service_that_is_frozen_as_a_whole_keeps_its_engine, make, thaw_and_clean),
        cmocka_unit_test_setup_teardown(an_engine_that_is_frozen_alone_is_replaced, make, clean),
        cmocka_unit_test_setup_teardown(a_supervisor_that_stood_still_keeps_its_engine, make, clean),
        cmocka_unit_test_setup_teardown(an_engine_that_others_keep_from_running_is_not_replaced, make, clean),
        cmocka_unit_test_setup_teardown(a_gpu_bears_no_blame_for_what_is_not_its_own, make, clean),
        NOTIFIED(a_driver_that_never_returns_is_named_and_its_engine_replaced),
        NOTIFIED(a_driver_that_never_returns_again_starves_the_watchdog),
        NOTIFIED(a_systemd_that_does_not_listen_holds_nothing_up),
        NOTIFIED(what_nothing_can_kill_is_left_to_systemd),
        NOTIFIED(an_engine_that_cannot_be_ended_holds_up_no_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
