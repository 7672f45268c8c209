/* SPDX-License-Identifier: Apache-2.0 */
/* parallax-recorder beside a real parallaxd: what it writes after faults, and that the service never waits for it. */
#include "tests/system/recorder.h"

static void a_killed_engine_leaves_the_seconds_around_it(void **state)
{
    (void)state;
    char path[512];
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    start_recorder("2", "", 0);
    seen_count = unseen = 0;
    const int before = remember_frames(client, 3000);
    const int64_t begin_ms = now_ms(), killed_ns = wall_ns();
    kill(engine_of(&daemon_), SIGKILL);
    const int after = remember_frames(client, 900);
    wait_for_file(client, "-engine-replaced.mcap", begin_ms, path);
    remember_frames(client, 200); /* the last pairs of the file */

    const struct contents contents = contents_of(path);
    assert_true(contents.pictures[PLX_LEFT] == contents.pictures[PLX_RIGHT]);
    assert_true(contents.infos == 2 * contents.pictures[PLX_LEFT] && contents.obstacles == contents.pictures[PLX_LEFT]);
    if (is_quiet(before, 3000))
        assert_in_range(killed_ns - (int64_t)contents.first_ns, PLX_NS_PER_S, 5 * PLX_NS_PER_S / 2);
    assert_true(after == 0 || (int64_t)contents.last_ns > killed_ns); /* pairs after the fault too */
    if (contents.unknown > 2 * unseen)
        fail_msg("%d of %d pictures are not those of the service", contents.unknown, 2 * contents.pictures[PLX_LEFT]);
    assert_true(file_says(path, "parallax.recorder") && file_says(path, "engine-replaced"));
    assert_int_equal(count_files(".part", NULL), 0);
    plx_disconnect(client);
}

static void the_end_of_the_service_leaves_its_last_seconds(void **state)
{
    (void)state;
    char path[512];
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    start_recorder("10", "", 0);
    seen_count = 0;
    remember_frames(client, 2000);
    const int64_t begin_ms = now_ms();
    kill(daemon_.pid, SIGKILL);
    wait_for_file(client, "-service-gone.mcap", begin_ms, path);
    assert_true(contents_of(path).pictures[PLX_LEFT] > 2);
    assert_true(daemon_wait(&daemon_, 5000) > 128);
    plx_disconnect(client);

    struct command command; /* without the service, the default place of the recorder is asked */
    command_run(&command, (const char *const[]){"snapshot", "--socket", daemon_.socket, "--last", "5", NULL});
    assert_int_equal(command.code, PLX_EXIT_UNAVAILABLE);
    assert_non_null(strstr(command.err, "no flight recorder answers there"));
    command_free(&command);
}

/* As when the machine reboots in the middle of a fault: all that is in memory is in the file, the newest pair too. */
static void an_end_in_the_middle_of_a_file_loses_nothing(void **state)
{
    (void)state;
    char path[512];
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    start_recorder("10", "", 0);
    seen_count = unseen = 0;
    const int before = remember_frames(client, 4000);
    const int64_t killed_ns = wall_ns();
    kill(engine_of(&daemon_), SIGKILL);
    wait_for_recorder("fault: engine-replaced");
    assert_int_equal(end_recorder(SIGTERM), 0);
    assert_int_equal(count_files(".part", NULL), 0);
    assert_int_equal(count_files("-engine-replaced.mcap", path), 1);
    const struct contents contents = contents_of(path);
    if (is_quiet(before, 4000)) {
        assert_in_range(contents.pictures[PLX_LEFT], before - 2, before + 4);
        assert_in_range(contents.last_ns, killed_ns - 250 * PLX_NS_PER_MS, killed_ns + 2 * PLX_NS_PER_S);
    }
    assert_true(file_says(path, "left_out"));
    plx_disconnect(client);
}

/* New sizes of frames after a reload: the service is not gone, and no file displaces those of real faults. */
static void a_reload_is_no_fault(void **state)
{
    (void)state;
    char config[160];
    const char *const small = SMALL_SOURCE "match:\n  disparities: 64\n",
                      *const large = "source:\n  width: 96\n  height: 64\n  rate_hz: 20\nmatch:\n  disparities: 64\n";
    write_config(small);
    snprintf(config, sizeof config, "%s/parallax.yaml", daemon_.directory);
    daemon_start(&daemon_, (const char *const[]){"--config", config, NULL});
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    start_recorder("2", "", 0);
    wait_for_recorder("memory for");
    write_config(large);
    kill(daemon_.pid, SIGHUP);
    wait_until_said("frames have another size", START_MS);
    for (const int64_t begin_ms = now_ms(); now_ms() < begin_ms + WRITTEN_MS;) {
        struct plx_view view;
        if (plx_next(client, 20, &view) == 0)
            plx_release(client, &view);
        assert_int_not_equal(plx_state(client), PLX_STATE_STOPPED);
    }
    assert_int_equal(count_files(".part", NULL) + count_files(".mcap", NULL), 0);
    const int64_t begin_ms = now_ms();
    kill(daemon_.pid, SIGKILL); /* and this one is */
    while (count_files("-service-gone.mcap", NULL) == 0) {
        assert_false(is_late(begin_ms, WRITTEN_MS));
        usleep(5000);
    }
    assert_true(daemon_wait(&daemon_, 5000) > 128);
    plx_disconnect(client);
}

static int begin_with_raw_service(void **state)
{
    make(state);
    start_service("calibration=none");
    return 0;
}

/* The flag is there from the start, so that the file has nothing but the second after it. */
static void a_flag_of_choice_is_a_fault(void **state)
{
    (void)state;
    char path[512];
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    seen_count = 0;
    start_recorder("2", "desync,not_calibrated", 0);
    const int64_t begin_ms = now_ms();
    wait_for_file(client, "-flag-not-calibrated.mcap", begin_ms, path);
    assert_true(file_says(path, "/parallax/left/image_raw") && file_says(path, "flag-not-calibrated"));
    plx_disconnect(client);
}

static void a_full_disk_is_said_and_harms_nobody(void **state)
{
    (void)state;
    struct command command;
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    start_recorder("2", "", 30000);
    remember_frames(client, 1500);
    snapshot(&command, "5", NULL);
    assert_int_equal(command.code, PLX_EXIT_CANNOT_WRITE);
    command_free(&command);
    kill(engine_of(&daemon_), SIGKILL);
    remember_frames(client, 2000);
    assert_int_equal(count_files(".part", NULL) + count_files(".mcap", NULL), 0);
    wait_for_recorder("File too large");
    running_frame(client, START_MS);
    assert_int_equal(WEXITSTATUS(end_recorder(SIGTERM)), 0);
    plx_disconnect(client);
}

/* Whether the service publishes as many frames beside a recorder that is stopped, and after its kill, as alone. */
static bool keeps_its_rate(struct plx_client *client)
{
    seen_count = 0;
    const int alone = remember_frames(client, 2000);
    start_recorder("2", "", 0);
    remember_frames(client, 500);
    kill(recorder_pid, SIGSTOP);
    const int stopped = remember_frames(client, 2000);
    end_recorder(SIGKILL);
    const int killed = remember_frames(client, 2000);
    print_message("frames in 2 s: %d alone, %d stopped, %d killed\n", alone, stopped, killed);
    return stopped >= alone * 3 / 4 && killed >= alone * 3 / 4; /* none, if it waited */
}

static void the_service_never_waits_for_it(void **state)
{
    (void)state;
    struct plx_client *client = connect_client();
    int rounds = 0;
    running_frame(client, START_MS);
    while (!keeps_its_rate(client)) /* other programs of the machine slow it down at some time, a recorder would each time */
        assert_true(++rounds < 6);
    start_recorder("2", "", 0); /* the socket of the killed one is replaced */
    plx_disconnect(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_killed_engine_leaves_the_seconds_around_it, begin_with_service, end_all),
        cmocka_unit_test_setup_teardown(the_end_of_the_service_leaves_its_last_seconds, begin_with_service, end_all),
        cmocka_unit_test_setup_teardown(an_end_in_the_middle_of_a_file_loses_nothing, begin_with_service, end_all),
        cmocka_unit_test_setup_teardown(a_reload_is_no_fault, make, end_all),
        cmocka_unit_test_setup_teardown(a_flag_of_choice_is_a_fault, begin_with_raw_service, end_all),
        cmocka_unit_test_setup_teardown(a_full_disk_is_said_and_harms_nobody, begin_with_service, end_all),
        cmocka_unit_test_setup_teardown(the_service_never_waits_for_it, begin_with_service, end_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
