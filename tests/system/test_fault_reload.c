/* SPDX-License-Identifier: Apache-2.0 */
/* A reload that cannot be: without memory for its ring, without a frame from its engine, one upon the other. */
#define WIDTH 320
#define HEIGHT 240
#include "tests/system/fault.h"

#include "tests/system/systemd.h"

#define MATCH(disparities) "match:\n  disparities: " disparities "\n  paths: 4\n"
#define SLOTS "publish:\n  slots: 64\n"
#define RIGHT "publish:\n  right: true\n" /* larger frames: another ring, which the probe tries to make */

static char config_path[128];

static struct plx_client *start_with(const char *config)
{
    const char *const args[] = {"--config", config_path, NULL};

    snprintf(config_path, sizeof config_path, "%s/parallax.yaml", daemon_.directory);
    write_config(config);
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    return client;
}

static void reload(const char *config)
{
    write_config(config);
    kill(daemon_.pid, SIGHUP);
}

/* Waits for a frame with DISPARITIES. */
static struct plx_frame frame_with(struct plx_client *client, uint32_t disparities, int timeout_ms)
{
    const int64_t begin_ms = now_ms();
    struct plx_frame frame;

    do {
        frame = next_frame(client, timeout_ms);
        if (is_late(begin_ms, timeout_ms))
            fail_msg("frames have %u disparities, expected %u; the service said: %s", frame.disparities, disparities,
                     daemon_said(&daemon_));
    } while (frame.disparities != disparities);
    return frame;
}

/* ENGINE goes on, in the ring of EPOCH, and the client reads the reason why the file is not in force. */
static void expect_kept(struct plx_client *client, pid_t engine, uint64_t epoch, const char *reason)
{
    wait_until_said("configuration kept as it was: ", START_MS);
    expect_reason(client, reason);
    assert_int_equal(engine_of(&daemon_), engine);
    assert_true(whole_frame(client, START_MS).epoch == epoch);
    assert_int_equal(plx_restarts(client), 0);
}

static void a_ring_that_does_not_fit_is_refused_before_anything_is_touched(void **state)
{
    (void)state;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    print_message("    skipped: sanitizers need more address space than there is memory\n");
    skip();
#endif
    const rlim_t limit = (rlim_t)900 << 20; /* enough for the pipeline of the larger pictures, and not for 64 of its frames */
    struct plx_client *client = start_with(SMALL_SOURCE MATCH("64") SLOTS);
    const struct plx_frame before = running_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);

    assert_int_equal(prlimit(daemon_.pid, RLIMIT_AS, &(struct rlimit){limit, limit}, NULL), 0);
    reload("source:\n  width: 1920\n  height: 1080\n  rate_hz: 5\n" MATCH("64") SLOTS);
    expect_kept(client, engine, before.epoch, "shared memory of");
    reload(SMALL_SOURCE MATCH("128") SLOTS); /* what fits is taken, now as ever */
    frame_with(client, 128, START_MS);
    stop_daemon();
    plx_disconnect(client);
}

static void the_user_who_may_give_odometry_stays(void **state)
{
    (void)state;
    struct plx_client *client = start_with(SMALL_SOURCE MATCH("64"));
    const struct plx_frame before = running_frame(client, START_MS);

    reload(SMALL_SOURCE MATCH("64") "motion:\n  hint_user: root\n");
    expect_kept(client, engine_of(&daemon_), before.epoch, "parallax.yaml:9:14: motion.hint_user cannot change");
    stop_daemon();
    plx_disconnect(client);
}

/* The probe had the memory, and the supervisor no longer has it. */
static void a_ring_that_cannot_be_made_is_refused(void **state)
{
    (void)state;
    daemon_.fault = "fail memfd_create 4"; /* calls: the first probe, the supervisor, the second probe, the supervisor */
    struct plx_client *client = start_with(SMALL_SOURCE MATCH("64"));
    const struct plx_frame before = running_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);

    reload(SMALL_SOURCE MATCH("128") RIGHT);
    expect_kept(client, engine, before.epoch, "create a memfd");
    kill(daemon_.pid, SIGHUP);
    assert_true(frame_with(client, 128, START_MS).epoch > before.epoch);
    stop_daemon();
    plx_disconnect(client);
}

/* The configuration of a replay that opens, and whose first picture is cut off; with MORE keys. */
static const char *damaged_replay(const char *more)
{
    static char config[512];
    char path[160];

    write_replay(12, NULL);
    snprintf(path, sizeof path, "%s/image_0/000000.pgm", daemon_.directory);
    assert_int_equal(truncate(path, 1000), 0);
    snprintf(config, sizeof config, "source:\n  type: replay\n  path: %s\n" MATCH("128") "%s", daemon_.directory, more);
    return config;
}

/* An engine that dies without a frame; MORE: with larger frames, or not. */
static void expect_taken_back(const char *more)
{
    struct plx_client *client = start_with(SMALL_SOURCE MATCH("64"));
    const struct plx_frame before = running_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);
    const int files = settled_files(daemon_.pid);

    reload(damaged_replay(more));
    wait_until_said("configuration kept as it was: the new one opened but gave no frame: ", START_MS);
    const struct plx_frame after = running_frame(client, START_MS);
    assert_true(after.epoch == before.epoch && after.sequence > before.sequence);
    assert_int_equal(after.disparities, 64);
    expect_reason(client, "000000.pgm");
    assert_true(engine_of(&daemon_) != engine);
    expect_files(files, RECOVER_MS);
    kill(engine_of(&daemon_), SIGKILL); /* what ran before is what every later engine is */
    assert_int_equal(running_frame(client, START_MS).disparities, 64);

    write_config(SMALL_SOURCE MATCH("256")); /* and a good one is taken */
    kill(daemon_.pid, SIGHUP);
    frame_with(client, 256, START_MS);
    stop_daemon();
    plx_disconnect(client);
}

static void an_engine_that_dies_with_the_new_configuration_is_taken_back(void **state)
{
    (void)state;
    expect_taken_back("");
}

/* systemd's reload ends when it is decided, and `systemctl status` says how. */
static void systemd_is_told_of_a_reload_that_is_taken_back(void **state)
{
    (void)state;
    systemd_listen(daemon_.directory, 10000);
    struct plx_client *client = start_with(SMALL_SOURCE MATCH("64"));

    reload(damaged_replay(""));
    systemd_expect("RELOADING=1", "", START_MS);
    systemd_expect("READY=1", "", START_MS);
    running_frame(client, START_MS);
    systemd_expect("STATUS=running", "configuration kept as it was: the new one opened but gave no frame", START_MS);
    systemd_leave();
    stop_daemon();
    plx_disconnect(client);
}

static void clients_keep_their_ring_when_a_new_one_is_taken_back(void **state)
{
    (void)state;
    expect_taken_back(RIGHT);
}

/* The configuration that clients get when they ask for it holds LINE. */
static void expect_in_force(const char *line)
{
    static char text[1 << 16];
    size_t bytes;

    assert_int_equal(plx_config(daemon_.socket, text, sizeof text, &bytes), 0);
    assert_non_null(strstr(text, line));
}

static void an_engine_that_hangs_with_the_new_configuration_is_taken_back(void **state)
{
    (void)state;
    daemon_.fault = "hang plx_cpu_filter 1"; /* what the configuration of the start does not do */
    struct plx_client *client = start_with(SMALL_SOURCE MATCH("64"));
    const struct plx_frame before = running_frame(client, START_MS);

    reload(SMALL_SOURCE MATCH("64") "prefilter:\n  width: 3\n");
    wait_until_said("fault: hang plx_cpu_filter 1", START_MS);
    expect_in_force("  width: 1\n"); /* until the new one has published */
    wait_until_said("configuration kept as it was: the new one opened but gave no frame: ", 2 * START_MS); /* 15 s */
    assert_non_null(strstr(daemon_said(&daemon_), "fault: plx_cpu_filter was asked to end")); /* to restore its cameras */
    const struct plx_frame after = running_frame(client, START_MS);
    assert_true(after.epoch == before.epoch && after.sequence > before.sequence);
    stop_daemon();
    plx_disconnect(client);
}

/* A driver holds the probe: no signal has an effect on it. The engine goes on, and so do reloads that need no probe's answer.
 */
static void a_probe_that_nothing_can_kill_is_given_up(void **state)
{
    (void)state;
    daemon_.fault = "ignore memfd_create 3"; /* the second probe: the first and the supervisor call it once */
    struct plx_client *client = start_with(SMALL_SOURCE MATCH("64"));
    const struct plx_frame before = running_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);

    reload(SMALL_SOURCE MATCH("128") RIGHT);
    const pid_t probe = stopped_child("parallax-probe");
    write_config(SMALL_SOURCE MATCH("64") "exposure:\n  target: 0.3\n");
    kill(daemon_.pid, SIGHUP);
    wait_until_said("configuration kept as it was: ", 3 * START_MS); /* 22 s */
    expect_reason(client, "does not die");
    assert_true(whole_frame(client, START_MS).epoch == before.epoch);
    assert_null(strstr(daemon_said(&daemon_), "configuration reloaded"));
    kill(probe, SIGCONT); /* what it says now is late */
    wait_until_said("configuration reloaded", START_MS);
    assert_int_equal(engine_of(&daemon_), engine);
    assert_int_equal(whole_frame(client, START_MS).disparities, 64);
    kill(daemon_.pid, SIGKILL);
    assert_int_equal(end_within(1000), 128 + SIGKILL);
    plx_disconnect(client);
}

/* The reload of FIRST stops in PROCESS, by FAULT, while another one is asked for: that one counts. */
static void expect_last_file(const char *fault, const char *first, const char *process)
{
    daemon_.fault = fault;
    struct plx_client *client = start_with(SMALL_SOURCE MATCH("64"));

    reload(first);
    const pid_t stopped = stopped_child(process);
    reload(SMALL_SOURCE MATCH("256"));
    wait_until_said("is read again after the current probe or reload", START_MS);
    kill(stopped, SIGCONT);
    frame_with(client, 256, START_MS);
    assert_int_equal(plx_restarts(client), 0);
    stop_daemon();
    plx_disconnect(client);
}

static void a_reload_while_another_is_tried_is_the_one_that_counts(void **state)
{
    (void)state; /* the second probe: the first and the supervisor call it once */
    expect_last_file("stop memfd_create 3", SMALL_SOURCE MATCH("128") RIGHT, "parallax-probe");
}

static void a_reload_while_another_is_taken_is_the_one_that_counts(void **state)
{
    (void)state; /* what the configuration of the start does not do */
    expect_last_file("stop plx_cpu_filter 1", SMALL_SOURCE MATCH("128") "prefilter:\n  width: 3\n", "parallax-engine");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)
    const struct CMUnitTest tests[] = {
        TEST(a_ring_that_does_not_fit_is_refused_before_anything_is_touched),
        TEST(the_user_who_may_give_odometry_stays),
        TEST(a_ring_that_cannot_be_made_is_refused),
        TEST(an_engine_that_dies_with_the_new_configuration_is_taken_back),
        TEST(systemd_is_told_of_a_reload_that_is_taken_back),
        TEST(clients_keep_their_ring_when_a_new_one_is_taken_back),
        TEST(an_engine_that_hangs_with_the_new_configuration_is_taken_back),
        TEST(a_probe_that_nothing_can_kill_is_given_up),
        TEST(a_reload_while_another_is_tried_is_the_one_that_counts),
        TEST(a_reload_while_another_is_taken_is_the_one_that_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
