/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to parallax-recorder beside a real parallaxd: snapshots, too many of them, messages that are none. */
#include <sys/socket.h>
#include <sys/un.h>

#include "app/flight_recorder/request.h"
#include "tests/system/recorder.h"

static void a_person_asks(void **state)
{
    (void)state;
    struct command command;
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    snapshot(&command, "1", NULL);
    assert_int_equal(command.code, PLX_EXIT_UNAVAILABLE);
    command_free(&command);

    start_recorder("1", "", 0);
    seen_count = 0;
    const int frames = remember_frames(client, 2500);
    snapshot(&command, "1.5", path_of("mine.mcap"));
    if (command.code != 0)
        fail_msg("%s", command.err);
    assert_non_null(strstr(command.out, "mine.mcap: "));
    command_free(&command);
    const struct contents contents = contents_of(path_of("mine.mcap"));
    assert_true(contents.pictures[PLX_LEFT] > 0);
    if (is_quiet(frames, 2500))
        assert_true(contents.pictures[PLX_LEFT] > RATE_HZ && contents.last_ns - contents.first_ns < 1500000000);

    snapshot(&command, "10", path_of("mine.mcap")); /* exists */
    assert_int_equal(command.code, PLX_EXIT_CANNOT_WRITE);
    assert_non_null(strstr(command.err, "File exists; the recorder's file is"));
    command_free(&command);
    command_run(&command, (const char *const[]){"snapshot", "--socket", daemon_.socket, path_of("mine.mcap"), NULL});
    assert_int_equal(command.code, PLX_EXIT_USAGE);
    command_free(&command);
    for (int i = 0; i < 3; i++) {
        snapshot(&command, "10", NULL);
        assert_int_equal(command.code, 0);
        assert_non_null(strstr(command.out, "-snapshot.mcap: "));
        command_free(&command);
    }
    assert_int_equal(count_files("-snapshot.mcap", NULL), 3); /* recorder.keep */
    assert_true(file_says(path_of("mine.mcap"), "snapshot"));
    plx_disconnect(client);
}

static int connect_recorder(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path_of("r"));
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* Any viewer of the page may ask, and must not erase what the recorder is there for. */
static void those_who_ask_displace_no_fault(void **state)
{
    (void)state;
    enum { SILENT = 60, ENOUGH = 8 };
    struct command command;
    char path[512];
    int silent[SILENT];
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    start_recorder("1", "", 0);
    remember_frames(client, 300);
    kill(engine_of(&daemon_), SIGKILL);
    wait_for_file(client, "-engine-replaced.mcap", now_ms(), path);
    for (int i = 0; i < SILENT; i++)
        silent[i] = connect_recorder();
    const int64_t begin_ms = now_ms();
    for (int i = 0; i < ENOUGH; i++) {
        snapshot(&command, "1", NULL);
        if (command.code != 0)
            fail_msg("%d: %s", i, command.err);
        command_free(&command);
    }
    assert_false(is_late(begin_ms, 6000)); /* the silent ones held nobody up */
    snapshot(&command, "1", NULL);
    assert_int_not_equal(command.code, 0);
    assert_non_null(strstr(command.err, "snapshots within 60 s are enough"));
    command_free(&command);
    assert_int_equal(count_files("-snapshot.mcap", NULL), 3);
    assert_int_equal(count_files("-engine-replaced.mcap", NULL), 1);
    for (int i = 0; i < SILENT; i++)
        close(silent[i]);
    plx_disconnect(client);
}

static void wrong_requests_are_dropped(void **state)
{
    (void)state;
    const struct plx_recorder_request good = {PLX_RECORDER_MAGIC, PLX_RECORDER_VERSION, 1000, 0};
    struct plx_recorder_request bad[] = {good, good, good, good, good};
    struct plx_client *client = connect_client();
    struct command command;
    char byte;
    running_frame(client, START_MS);
    start_recorder("1", "", 0);
    bad[0].magic++;
    bad[1].version++;
    bad[2].milliseconds = 0;
    bad[3].milliseconds = 1000 * PLX_RECORDER_MAX_SECONDS + 1;
    bad[4].reserved = 1;
    for (size_t i = 0; i < 7; i++) { /* the last two: too short, too long */
        const size_t bytes = i < 5 ? sizeof *bad : i == 5 ? 3 : sizeof bad;
        const int fd = connect_recorder();
        assert_int_equal(send(fd, &bad[i < 5 ? i : 0], bytes, MSG_NOSIGNAL), bytes);
        assert_int_equal(recv(fd, &byte, 1, 0), 0); /* the end of the connection */
        close(fd);
    }
    const int silent = connect_recorder();
    remember_frames(client, 300);
    snapshot(&command, "10", NULL); /* after the second of the silent one */
    assert_int_equal(command.code, 0);
    command_free(&command);
    close(silent);
    plx_disconnect(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_person_asks, begin_with_service, end_all),
        cmocka_unit_test_setup_teardown(those_who_ask_displace_no_fault, begin_with_service, end_all),
        cmocka_unit_test_setup_teardown(wrong_requests_are_dropped, begin_with_service, end_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
