/* SPDX-License-Identifier: Apache-2.0 */
/* The service as robots meet it: the real parallaxd, its engine killed, stopped and replaced under real clients. */
#define WIDTH 128 /* as many candidates of disparity are tried */
#define HEIGHT 96
#include "tests/system/service.h"
#include "tests/system/systemd.h"

/* --- tests ------------------------------------------------------------------------------------------------------- */

static void frames_are_whole_and_hold_obstacles(void **state)
{
    (void)state;
    static const char *const args[] = {"--set", "source.width=320",  "--set", "source.height=240",
                                       "--set", "source.rate_hz=10", "--set", "match.disparities=64",
                                       NULL};
    bool found = false;

    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    struct plx_frame before = next_frame(client, START_MS);
    for (int i = 0; i < 40 && !found; i++) {
        const struct plx_frame frame = next_frame(client, START_MS);
        assert_true(frame.sequence > before.sequence);
        assert_true(frame.epoch == before.epoch && frame.epoch != 0);
        assert_true(frame.published_ns >= before.published_ns);
        assert_true(frame.capture[PLX_LEFT].capture_ns > before.capture[PLX_LEFT].capture_ns);
        assert_true(frame.published_ns > frame.capture[PLX_LEFT].capture_ns);
        assert_true(frame.skew_ns == frame.capture[PLX_RIGHT].capture_ns - frame.capture[PLX_LEFT].capture_ns);
        assert_true(frame.capture[PLX_LEFT].exposure_us > 0 && frame.capture[PLX_LEFT].gain >= 1);
        assert_int_equal(frame.width, 320);
        assert_int_equal(frame.height, 240);
        assert_int_equal(frame.disparities, 64);
        assert_true(frame.stage_us[PLX_STAGE_SGM] > 0);
        assert_int_equal(frame.state, frame.health ? PLX_STATE_DEGRADED : PLX_STATE_RUNNING);
        found = frame.ground.valid && frame.obstacle_count > 0 && frame.obstacle[0].track != 0 &&
                frame.obstacle[0].nearest_m > 0.3 && frame.obstacle[0].nearest_m < 25;
        before = frame;
    }
    assert_true(found);
    plx_disconnect(client);
    stop_daemon();
}

static void a_killed_engine_is_replaced_and_clients_keep_their_mapping(void **state)
{
    (void)state;
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    const struct plx_frame before = running_frame(client, START_MS);

    for (int round = 0; round < 3; round++) {
        const pid_t engine = engine_of(&daemon_);
        const int64_t killed_ms = now_ms();
        kill(engine, SIGKILL);
        while (plx_state(client) != PLX_STATE_RECOVERING) {
            assert_false(is_late(killed_ms, 50 + SLACK_MS)); /* one period */
            usleep(500);
        }
        assert_true(plx_health(client) & PLX_HEALTH_NO_FRAMES);
        const struct plx_frame after = running_frame(client, RECOVER_MS);
        assert_false(is_late(killed_ms, RECOVER_MS));
        assert_true(after.epoch == before.epoch);
        assert_true(after.sequence > before.sequence);
        assert_true(engine_of(&daemon_) != engine);
        assert_true(is_gone(engine));
        assert_int_equal(plx_restarts(client), round + 1);
    }
    plx_disconnect(client);
    stop_daemon();
}

static void a_stopped_engine_is_noticed_and_replaced(void **state)
{
    (void)state;
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    const struct plx_frame before = running_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);

    kill(engine, SIGSTOP);
    const int64_t stopped_ms = now_ms();
    while (!(plx_health(client) & PLX_HEALTH_LATE)) { /* by the health table: 100 ms of a stage, 250 ms of the source */
        assert_false(is_late(stopped_ms, 300 + SLACK_MS));
        usleep(500);
    }
    assert_int_equal(plx_state(client), PLX_STATE_DEGRADED);
    wait_until_said("and is not done", START_MS); /* after its name: a stage, the source, publishing */
    wait_until_said("gives no frames (", START_MS);
    assert_true(is_gone(engine));
    const struct plx_frame after = running_frame(client, RECOVER_MS);
    assert_true(after.epoch == before.epoch && after.sequence > before.sequence);
    plx_disconnect(client);
    stop_daemon();
}

static void clients_reattach_when_the_supervisor_was_killed(void **state)
{
    (void)state;
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    const struct plx_frame before = next_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);
    struct plx_view view;
    int result;

    kill(daemon_.pid, SIGKILL);
    const int64_t killed_ms = now_ms();
    while ((result = plx_next(client, 100, &view)) == 0)
        plx_release(client, &view);
    assert_int_equal(result, PLX_ERR_LOST);
    assert_false(is_late(killed_ms, 50 + SLACK_MS));
    assert_int_equal(plx_state(client), PLX_STATE_STOPPED);
    assert_int_equal(end_within(1000), 128 + SIGKILL);
    assert_true(is_gone(engine)); /* no engine outlives its supervisor */

    daemon_start(&daemon_, small_args);
    const struct plx_frame after = next_frame(client, START_MS);
    assert_true(after.epoch > before.epoch);
    plx_disconnect(client);
    stop_daemon();
}

static void an_orderly_stop_at_any_moment_leaves_nothing(void **state)
{
    (void)state;
    static const int moment_ms[] = {20, 30, 50, 80, 120, 200, 400, 800};
    static const int signals[] = {SIGTERM, SIGINT};

    for (size_t i = 0; i < sizeof moment_ms / sizeof moment_ms[0]; i++) {
        daemon_start(&daemon_, small_args);
        while (daemon_child(&daemon_, NULL) == 0) /* it handles signals now */
            usleep(500);
        usleep((useconds_t)moment_ms[i] * 1000);
        const pid_t child = daemon_child(&daemon_, NULL);
        kill(daemon_.pid, signals[i % 2]);
        assert_int_equal(end_within(2000), 0);
        assert_true(access(daemon_.socket, F_OK) != 0);
        assert_true(child == 0 || is_gone(child));
    }

    daemon_start(&daemon_, small_args); /* and while an engine is being brought back, or does not answer */
    struct plx_client *client = connect_client();
    next_frame(client, START_MS);
    kill(engine_of(&daemon_), SIGKILL);
    stop_daemon();
    daemon_start(&daemon_, small_args);
    next_frame(client, START_MS);
    kill(engine_of(&daemon_), SIGSTOP);
    stop_daemon();
    plx_disconnect(client);
}

static double exposure_of(struct plx_frame frame)
{
    return (double)frame.capture[PLX_LEFT].exposure_us * (double)frame.capture[PLX_LEFT].gain;
}

static void reload_takes_good_files_and_keeps_the_old_for_bad_ones(void **state)
{
    (void)state;
    char path[128];
    const char *const args[] = {"--config", path, NULL};
    snprintf(path, sizeof path, "%s/parallax.yaml", daemon_.directory);

    write_config(SMALL_SOURCE "match:\n  disparities: 64\n");
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    const struct plx_frame before = next_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);

    write_config(SMALL_SOURCE "match:\n  disparitys: 128\n"); /* bad text */
    kill(daemon_.pid, SIGHUP);
    wait_until_said("kept as it was: ", RECOVER_MS);
    wait_until_said("parallax.yaml:6:3", 0);
    write_config(SMALL_SOURCE "calibration: /nowhere.yaml\n"); /* good text that does not work */
    kill(daemon_.pid, SIGHUP);
    wait_until_said("nowhere.yaml", START_MS);
    usleep(50000); /* until its probe is reaped */
    assert_int_equal(engine_of(&daemon_), engine);
    assert_int_equal(next_frame(client, START_MS).disparities, 64);

    write_config(SMALL_SOURCE "match:\n  disparities: 64\nexposure:\n  target: 0.1\n"); /* the running engine takes it */
    kill(daemon_.pid, SIGHUP);
    wait_until_said("configuration reloaded\n", RECOVER_MS);
    const double light = exposure_of(next_frame(client, START_MS));
    int64_t begin_ms = now_ms();
    while (exposure_of(next_frame(client, START_MS)) > 0.5 * light)
        assert_false(is_late(begin_ms, START_MS));
    assert_int_equal(engine_of(&daemon_), engine);

    write_config(SMALL_SOURCE "match:\n  disparities: 128\n"); /* a new engine, the same memory */
    kill(daemon_.pid, SIGHUP);
    wait_until_said("the engine restarts with it\n", START_MS);
    begin_ms = now_ms();
    struct plx_frame after;
    do {
        after = next_frame(client, START_MS);
    } while (after.disparities != 128 && !is_late(begin_ms, START_MS));
    assert_int_equal(after.disparities, 128);
    assert_true(after.epoch == before.epoch);
    assert_true(engine_of(&daemon_) != engine);

    write_config(SMALL_SOURCE "match:\n  disparities: 64\npublish:\n  right: true\n"); /* larger frames: a new epoch */
    kill(daemon_.pid, SIGHUP);
    wait_until_said("in a new shared memory", START_MS);
    begin_ms = now_ms();
    do {
        after = next_frame(client, START_MS);
    } while (after.epoch == before.epoch && !is_late(begin_ms, START_MS));
    assert_int_equal(after.plane[PLX_PLANE_RIGHT].width, WIDTH);
    assert_true(after.epoch > before.epoch);
    plx_disconnect(client);
    stop_daemon();
}

static void systemd_is_told_the_truth(void **state)
{
    (void)state;
    systemd_listen(daemon_.directory, 400);
    daemon_start(&daemon_, small_args);
    systemd_expect("READY=1", "", START_MS);
    struct plx_client *client = connect_client();
    next_frame(client, RECOVER_MS); /* ready means published */
    for (int i = 0; i < 5; i++)
        systemd_expect("WATCHDOG=1", "", 400);
    systemd_expect("STATUS=running", " obstacles, 1 clients, no faults, simulated pictures", START_MS);
    kill(daemon_.pid, SIGHUP);
    systemd_expect("RELOADING=1", "", RECOVER_MS);
    systemd_expect("READY=1", "", START_MS);
    kill(daemon_.pid, SIGTERM);
    systemd_expect("STOPPING=1", "", RECOVER_MS);
    assert_int_equal(end_within(2000), 0);
    systemd_leave();
    plx_disconnect(client);
}

/* True if INODE is of a local socket. */
static bool is_local(unsigned long inode)
{
    char line[512];
    unsigned long number;
    bool found = false;
    FILE *file = fopen("/proc/net/unix", "r");

    assert_non_null(file);
    while (!found && fgets(line, sizeof line, file))
        found = sscanf(line, "%*s %*s %*s %*s %*s %*s %lu", &number) == 1 && number == inode;
    fclose(file);
    return found;
}

/* Supervisor and engine have no socket but local ones: no network, listening or not. */
static void there_is_no_network_in_it(void **state)
{
    (void)state;
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    const pid_t process[] = {daemon_.pid, engine_of(&daemon_)};
    int sockets = 0;

    for (size_t i = 0; i < 2; i++)
        for (int fd = 0; fd < 64; fd++) {
            char path[64], what[64];
            unsigned long inode;
            snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)process[i], fd);
            const ssize_t length = readlink(path, what, sizeof what - 1);
            what[length < 0 ? 0 : length] = '\0';
            if (sscanf(what, "socket:[%lu]", &inode) != 1)
                continue;
            sockets++;
            if (!is_local(inode))
                fail_msg("process %zu has a socket that is not local: descriptor %d", i, fd);
        }
    assert_true(sockets >= 3); /* it listens, has a client, and both talk to each other */
    stop_daemon();
    plx_disconnect(client);
}

/* How many descriptors of PROCESS are of a kind that WHAT names. */
static int count_descriptors(pid_t process, const char *what)
{
    int count = 0;
    for (int fd = 0; fd < 64; fd++) {
        char path[64], target[64];
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)process, fd);
        const ssize_t length = readlink(path, target, sizeof target - 1);
        target[length < 0 ? 0 : length] = '\0';
        count += strstr(target, what) != NULL;
    }
    return count;
}

/* What the engine closes first of all: the supervisor waits for events and clients, and the engine for neither. Its standard
 * input, output and errors stay. */
static void an_engine_has_no_events_of_its_supervisor(void **state)
{
    (void)state;
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);
    assert_true(count_descriptors(daemon_.pid, "[eventpoll]") >= 2);
    assert_int_equal(count_descriptors(engine, "[eventpoll]"), 0);
    for (int fd = 0; fd < 3; fd++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)engine, fd);
        assert_int_equal(access(path, F_OK), 0);
    }
    stop_daemon();
    plx_disconnect(client);
}

#define PAIRS 12

static void a_replay_is_published_to_its_last_pair_and_ends_the_service(void **state)
{
    (void)state;
    char key[160];
    const char *const args[] = {"--set", "source.type=replay", "--set", key, "--set", "match.disparities=64", NULL};
    uint64_t accounted = 0; /* published, skipped or dropped: a slow machine is honest about it */
    struct plx_view view;
    int result;

    write_replay(PAIRS, NULL);
    snprintf(key, sizeof key, "source.path=%s", daemon_.directory);
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    while ((result = plx_next(client, START_MS, &view)) == 0) {
        assert_int_equal(view.layout[PLX_PLANE_LEFT].width, WIDTH);
        const uint64_t sum = view.sequence + view.frame->pairs_skipped + view.frame->capture[PLX_LEFT].dropped;
        if (plx_release(client, &view) == 0)
            accounted = sum;
    }
    assert_int_equal(result, PLX_ERR_LOST);
    assert_int_equal(end_within(2000), 0);
    assert_int_equal(accounted, PAIRS);
    /* An end is no news: the log names only what was read. A machine that does other things may be late as well. */
    char named[160];
    snprintf(named, sizeof named, "parallaxd: pictures of %s\n", daemon_.directory);
    const char *said = daemon_said(&daemon_);
    if (strcmp(said, named) != 0 && !strstr(said, " and is not done"))
        fail_msg("it said: %s", said);
    plx_disconnect(client);
}

static void without_a_file_it_says_that_its_pictures_are_simulated(void **state)
{
    (void)state;
    if (access("/etc/parallax/parallax.yaml", F_OK) == 0)
        skip(); /* this machine has a configuration, which would be taken */
    daemon_start(&daemon_, small_args);
    wait_until_said("the pictures are simulated", START_MS);
    engine_of(&daemon_); /* it handles signals by then */
    stop_daemon();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)
    const struct CMUnitTest tests[] = {
        TEST(frames_are_whole_and_hold_obstacles),
        TEST(a_killed_engine_is_replaced_and_clients_keep_their_mapping),
        TEST(a_stopped_engine_is_noticed_and_replaced),
        TEST(clients_reattach_when_the_supervisor_was_killed),
        TEST(an_orderly_stop_at_any_moment_leaves_nothing),
        TEST(reload_takes_good_files_and_keeps_the_old_for_bad_ones),
        TEST(systemd_is_told_the_truth),
        TEST(there_is_no_network_in_it),
        TEST(an_engine_has_no_events_of_its_supervisor),
        TEST(a_replay_is_published_to_its_last_pair_and_ends_the_service),
        TEST(without_a_file_it_says_that_its_pictures_are_simulated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
