/* SPDX-License-Identifier: Apache-2.0 */
/* Nobody shows an old picture as news: a source that goes silent, a service that stood still, a machine that was suspended. */
#include "tests/system/service.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <sched.h>

#include "app/exit.h"
#include "tests/command.h"

#define PAIRS 60
#define GAP_AT 40 /* pairs before the source is silent */
/* Long enough for all that is done in it, also where other programs keep the processors busy. */
#define GAP_S (clock_is_exact() ? 9 : 60)
#define ASLEEP_S 600
#define STOPPED_MS 2000

/* --- a source that goes silent ------------------------------------------------------------------------------------- */

/* A recording with a gap, replayed at its own times: the engine waits in it as for a camera that says nothing. */
static void start_recording(void)
{
    char path[128], path_key[160];

    write_replay(PAIRS, NULL); /* the gap does not count in the period of the recording, which is its median */
    snprintf(path, sizeof path, "%s/times.txt", daemon_.directory);
    FILE *times = fopen(path, "w");
    assert_non_null(times);
    for (int i = 0; i < PAIRS; i++)
        fprintf(times, "%.6f\n", i * PAIR_S + (i >= GAP_AT ? GAP_S : 0));
    assert_int_equal(fclose(times), 0);
    snprintf(path_key, sizeof path_key, "source.path=%s", daemon_.directory);
    /* In pictures of 64 x 48 px no stixel is high enough. */
    daemon_start(&daemon_, (const char *const[]){"--set", "source.type=replay", "--set", path_key, "--set", "match.paths=4",
                                                 "--set", "match.disparities=64", "--set", "publish.right=true", "--set",
                                                 "obstacles.method=regions", NULL});
}

static void command_start(struct command *command, const char *const *args)
{
    setenv("PARALLAX_SOCKET", daemon_.socket, 1);
    command_begin(command, args, 0);
}

/* Ends with 69, holds each of WORDS (NULL at the end) on standard output, and neither a number that is none nor an obstacle. */
static void expect_old(struct command *command, const char *const *words)
{
    command_end(command);
    if (command->code != PLX_EXIT_UNAVAILABLE || strstr(command->out, "nan") || strstr(command->out, " m ahead"))
        fail_msg("exit code %d: %s%s", command->code, command->out, command->err);
    for (; *words; words++)
        if (!strstr(command->out, *words))
            fail_msg("no \"%s\" in: %s", *words, command->out);
}

static bool has_flag(const cJSON *status, const char *flag)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(status, "health"))
        if (strcmp(item->valuestring, flag) == 0)
            return true;
    return false;
}

static void expect_old_json(struct command *command)
{
    expect_old(command, (const char *const[]){NULL});
    cJSON *status = cJSON_Parse(command->out);
    assert_non_null(status);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(status, "fresh")));
    assert_true(cJSON_GetObjectItemCaseSensitive(status, "age_ms")->valuedouble > 1000);
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(status, "obstacles")));
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(status, "ground")));
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(status, "rate_hz")));
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(status, "sequence")->valuedouble, GAP_AT);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(status, "source")->valuestring, "replay");
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(status, "state")->valuestring, "degraded");
    assert_true(has_flag(status, "no_frames")); /* the last frame has no such flag: this is the service's */
    cJSON_Delete(status);
}

static void every_tool_knows_that_the_picture_is_old(void **state)
{
    (void)state;
    enum { STATUS, JSON, WATCH, SNAPSHOT, RECORD, METRICS, COMMANDS };
    struct command command[COMMANDS];
    struct plx_frame frame, last;
    struct plx_client *late;
    struct plx_view view;
    char snapshot[128], recording[128];

    start_recording();
    struct plx_client *client = connect_client();
    do {
        frame = next_frame(client, START_MS);
        assert_int_equal(frame.source, PLX_SOURCE_REPLAY);
        if (clock_is_exact())
            assert_in_range(frame.fresh_ns, 3 * PAIR_S * 0.99 * PLX_NS_PER_S, 3 * PAIR_S * 1.01 * PLX_NS_PER_S);
    } while (frame.sequence < GAP_AT);
    usleep(2000000); /* longer than a frame is fresh */

    late = connect_client();
    for (int round = 0; round < 2; round++) {
        const int result = plx_next(late, round * 200, &view);
        if (result != PLX_ERR_TIMEOUT && result != PLX_ERR_LOST)
            fail_msg("%d (frame %d): %s", result, (int)view.sequence, daemon_said(&daemon_));
    }
    assert_int_equal(plx_last_header(late, &last), 0);
    assert_int_equal(last.sequence, GAP_AT);
    assert_true(last.obstacle_count > 0); /* as issued: "5 obstacles", which nobody sees any more */
    assert_false(plx_is_fresh(&last));

    snprintf(snapshot, sizeof snapshot, "%s/snapshot", daemon_.directory);
    snprintf(recording, sizeof recording, "%s/recording", daemon_.directory);
    command_start(&command[STATUS], (const char *const[]){"status", NULL});
    command_start(&command[JSON], (const char *const[]){"status", "--json", NULL});
    command_start(&command[WATCH], (const char *const[]){"watch", "--seconds", "1.1", NULL});
    command_start(&command[SNAPSHOT], (const char *const[]){"snapshot", "--output", snapshot, NULL});
    command_start(&command[RECORD], (const char *const[]){"record", recording, NULL});
    command_start(&command[METRICS], (const char *const[]){"metrics", NULL});
    expect_old(&command[STATUS],
               (const char *const[]){"degraded", "no fresh frames; recorded pictures", "waiting for the recording's next pair",
                                     "OLD", "last frame", "rate unknown", NULL});
    expect_old_json(&command[JSON]);
    expect_old(&command[WATCH], (const char *const[]){"no frames, the last picture is ", " s old", "no fresh frames", NULL});
    expect_old(&command[SNAPSHOT], (const char *const[]){NULL});
    expect_old(&command[RECORD], (const char *const[]){NULL});
    assert_true(access(snapshot, F_OK) != 0 && access(recording, F_OK) != 0);
    command_end(&command[METRICS]);
    assert_int_equal(command[METRICS].code, 0);
    assert_non_null(strstr(command[METRICS].out, "\nparallax_fresh 0\n"));
    assert_non_null(strstr(command[METRICS].out, "parallax_fault{fault=\"no_frames\"} 1\n"));
    assert_non_null(strstr(command[METRICS].out, "\nparallax_source_info{source=\"replay\"} 1\n"));
    assert_null(strstr(command[METRICS].out, "\nparallax_obstacles "));
    for (int i = 0; i < COMMANDS; i++)
        command_free(&command[i]);

    frame = next_frame(late, GAP_S * 1000);
    assert_int_equal(frame.sequence, GAP_AT + 1);
    plx_disconnect(late);
    plx_disconnect(client);
    kill(daemon_.pid, SIGTERM);
    assert_true(end_within(5000) >= 0);
}

/* --- a service that stood still ------------------------------------------------------------------------------------ */

static void stop_service(pid_t engine, int signal)
{
    kill(daemon_.pid, signal);
    kill(engine, signal);
}

/* Stopped at several moments of a frame: the frame in work ends up too old, as do the pairs that wait. What clients get is
 * fresh by its capture, for no longer than before; the newest frame of all, where it is old, does not look good. */
static void a_stall_makes_nothing_young(void **state)
{
    (void)state;
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    const pid_t engine = engine_of(&daemon_);
    bool seen_old = false;

    for (int round = 0; round < 8; round++) {
        struct plx_frame frame = running_frame(client, START_MS), last;
        const uint64_t skipped = frame.pairs_skipped, sequence = frame.sequence;
        usleep((useconds_t)(48 + round % 4) * 1000); /* about a period of 50 ms; the frame takes some */
        stop_service(engine, SIGSTOP);
        usleep(STOPPED_MS * 1000);
        stop_service(engine, SIGCONT);
        do {
            frame = next_frame(client, START_MS);
            assert_true(frame.published_ns - frame.capture[PLX_LEFT].capture_ns < frame.fresh_ns);
            if (clock_is_exact())
                assert_int_equal(frame.fresh_ns, 250 * PLX_NS_PER_MS);
            assert_int_equal(plx_last_header(client, &last), 0);
            if (last.published_ns - last.capture[PLX_LEFT].capture_ns >= last.fresh_ns) {
                assert_int_equal(last.state, PLX_STATE_DEGRADED);
                assert_true(last.health & PLX_HEALTH_LATE);
            }
        } while (frame.state != PLX_STATE_RUNNING);
        seen_old |= frame.pairs_skipped > skipped;
        assert_true(frame.sequence > sequence);
    }
    assert_true(seen_old); /* at least once a pair was waiting */
    assert_int_equal(engine_of(&daemon_), engine);
    plx_disconnect(client);
    stop_daemon();
}

/* --- a machine that was suspended ---------------------------------------------------------------------------------- */

/* From now on children of this process live where the machine has slept for ASLEEP_S since the service published: their
 * CLOCK_BOOTTIME is so much ahead, and their CLOCK_MONOTONIC is not. */
static bool fall_asleep(void)
{
    char offset[32];
    const int length = snprintf(offset, sizeof offset, "boottime %d 0", ASLEEP_S);

    if (unshare(CLONE_NEWTIME) != 0)
        return false;
    const int fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
    const bool written = fd >= 0 && write(fd, offset, (size_t)length) == length;
    close(fd);
    return written;
}

/* In a child that the sleep is for: 0, or the number of what is wrong. */
static int look_after_sleep(void)
{
    const int64_t asleep_ns = ASLEEP_S * PLX_NS_PER_S;
    struct plx_client *client;
    struct plx_view view;
    struct plx_frame frame;

    if (plx_suspended_ns() < asleep_ns - PLX_NS_PER_S)
        return 1;
    if (plx_connect(daemon_.socket, &client) < 0)
        return 2;
    if (plx_next(client, 500, &view) != PLX_ERR_TIMEOUT)
        return 3;
    if (plx_last_header(client, &frame) != 0 || plx_is_fresh(&frame))
        return 4;
    if (plx_age_ns(&frame) < asleep_ns || plx_age_ns(&frame) > asleep_ns + 60 * PLX_NS_PER_S)
        return 5;
    plx_disconnect(client);
    return 0;
}

/* In the child: the exit code of `parallax status`, or 1 where it does not say that the picture is so old. */
static int status_after_sleep(void)
{
    struct command command;

    command_start(&command, (const char *const[]){"status", NULL});
    command_end(&command);
    return strstr(command.out, "age           10 min ") && strstr(command.out, "OLD") ? command.code : 1;
}

static int in_sleep(int (*look)(void))
{
    int status = -1;
    const pid_t child = fork();

    if (child == 0) {
        if (!fall_asleep())
            _exit(255);
        const pid_t sleeper = fork(); /* the first whose clocks are those */
        if (sleeper == 0)
            _exit(look());
        _exit(waitpid(sleeper, &status, 0) == sleeper && WIFEXITED(status) ? WEXITSTATUS(status) : 254);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

static void a_picture_from_before_a_suspend_is_old(void **state)
{
    (void)state;
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    const struct plx_frame frame = running_frame(client, START_MS);
    assert_int_equal(frame.source, PLX_SOURCE_SYNTHETIC);
    assert_true(plx_is_fresh(&frame));
    assert_true(plx_age_ns(&frame) < 60 * PLX_NS_PER_S);

    const int wrong = in_sleep(look_after_sleep);
    if (wrong == 255) {
        print_message("    skipped: no time namespace can be made here (it needs root): %s\n", strerror(errno));
        plx_disconnect(client);
        stop_daemon();
        skip();
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(in_sleep(status_after_sleep), PLX_EXIT_UNAVAILABLE);
    plx_disconnect(client);
    stop_daemon();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)
    const struct CMUnitTest tests[] = {
        TEST(every_tool_knows_that_the_picture_is_old),
        TEST(a_stall_makes_nothing_young),
        TEST(a_picture_from_before_a_suspend_is_old),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
