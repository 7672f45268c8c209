/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration file that is replaced in place, and read when it is half written. */
#include "tests/system/fault.h"

static const char whole[] =
    "# a pair of eyes\n" SMALL_SOURCE "match:\n  disparities: 64\n  paths: 4\nexposure:\n  target: 0.4\n";

/* Tells the service to read its file again and waits for its answer. */
static void reload(void)
{
    const int64_t deadline = now_ms() + patience_ms();

    assert_int_equal(truncate(daemon_.log, 0), 0);
    do { /* again, when it is still trying the one before */
        kill(daemon_.pid, SIGHUP);
        usleep(20000);
        for (int i = 0; i < 100 && !strstr(daemon_said(&daemon_), "configuration"); i++)
            usleep(5000);
        assert_true(now_ms() < deadline);
    } while (!strstr(daemon_said(&daemon_), "configuration reloaded") && !strstr(daemon_said(&daemon_), "configuration kept"));
}

static void a_half_written_file_is_taken_as_it_is_or_refused_and_the_service_goes_on(void **state)
{
    (void)state;
    char path[128], part[sizeof whole];
    const char *const args[] = {"--config", path, NULL};
    uint64_t random = scratch_seed();
    int kept = 0;

    snprintf(path, sizeof path, "%s/parallax.yaml", daemon_.directory);
    write_config(whole);
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    next_frame(client, START_MS);
    for (size_t bytes = 1; bytes < sizeof whole - 1; bytes += fault_full() ? 1 : 1 + scratch_random(&random) % 16) {
        memcpy(part, whole, bytes);
        part[bytes] = '\0';
        write_text(daemon_.directory, "parallax.yaml", part); /* in place, as editors and scripts do */
        reload();
        if (strstr(daemon_said(&daemon_), "configuration kept")) {
            assert_non_null(strstr(daemon_said(&daemon_), "parallax.yaml:"));
            kept++;
        }
        next_frame(client, START_MS);
    }
    write_text(daemon_.directory, "parallax.yaml", whole);
    reload();
    const int64_t deadline = now_ms() + patience_ms();
    struct plx_frame frame;
    do {
        frame = next_frame(client, START_MS);
        assert_true(now_ms() < deadline);
    } while (frame.width != WIDTH || frame.disparities != 64);
    assert_true(kept > 0);
    assert_int_equal(plx_restarts(client), 0);
    stop_daemon();
    plx_disconnect(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_half_written_file_is_taken_as_it_is_or_refused_and_the_service_goes_on, make, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
