/* SPDX-License-Identifier: Apache-2.0 */
/* Standard error that nobody reads: a pipe that is full before the service starts. It serves, replaces engines and ends as if
 * somebody read. */
#include "tests/system/fault.h"

static int reader; /* the pipe's other end */

static int fill_a_pipe(void **state)
{
    static const char line[] = "what somebody wrote before\n";

    make(state);
    assert_int_equal(mkfifo(daemon_.log, 0600), 0);
    reader = open(daemon_.log, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    while (write(reader, line, sizeof line - 1) > 0)
        ;
    while (write(reader, "\n", 1) > 0)
        ;
    return 0;
}

static int close_it(void **state)
{
    close(reader);
    return clean(state);
}

/* The lines written since, in static storage. */
static const char *read_pipe(void)
{
    static char text[1 << 17];
    size_t used = 0;
    ssize_t bytes;

    while (used < sizeof text - 1 && (bytes = read(reader, text + used, sizeof text - 1 - used)) > 0)
        used += (size_t)bytes;
    text[used] = '\0';
    return text;
}

static void nobody_reads_and_it_serves_and_ends_in_time(void **state)
{
    (void)state;
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    for (uint32_t engines = 1; engines <= 2; engines++) { /* each end of an engine is logged */
        kill(engine_of(&daemon_), SIGKILL);
        while (plx_restarts(client) < engines)
            usleep(1000);
        whole_frame(client, START_MS);
    }
    stop_daemon();
    plx_disconnect(client);
}

static void what_was_lost_is_said_when_somebody_reads_again(void **state)
{
    (void)state;
    unsigned lost = 0;

    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    kill(engine_of(&daemon_), SIGKILL);
    while (plx_restarts(client) == 0)
        usleep(1000);
    whole_frame(client, START_MS);
    read_pipe();
    const int64_t begin_ms = now_ms();
    while (sscanf(read_pipe(), "parallaxd: %u lines lost", &lost) != 1) { /* without anything else to log */
        assert_false(is_late(begin_ms, RECOVER_MS));
        usleep(10000);
    }
    assert_true(lost > 0);
    stop_daemon();
    plx_disconnect(client);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fill_a_pipe, close_it)
    const struct CMUnitTest tests[] = {
        TEST(nobody_reads_and_it_serves_and_ends_in_time),
        TEST(what_was_lost_is_said_when_somebody_reads_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
