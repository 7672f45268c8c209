/* SPDX-License-Identifier: Apache-2.0 */
/* A recording with a gap that is longer than any budget: the replay keeps its pace, and nothing is killed meanwhile. */
#include "tests/system/service.h"
#include "tests/system/systemd.h"

#define PAIRS 12
#define GAP_AFTER 4
#define GAP_S 16 /* above the 10 s after which a silent camera costs the engine its life */

static void write_times(void)
{
    char times[512] = "";
    for (int i = 0; i < PAIRS; i++)
        snprintf(times + strlen(times), sizeof times - strlen(times), "%.1f\n", i * PAIR_S + (i < GAP_AFTER ? 0 : GAP_S));
    write_text(daemon_.directory, "times.txt", times);
}

static void a_gap_is_waited_out(void **state)
{
    (void)state;
    char source[160];
    write_replay(PAIRS, NULL);
    write_times();
    snprintf(source, sizeof source, "source.path=%s", daemon_.directory);
    const char *args[] = {"--set", "source.type=replay",   "--set", source,          "--set", "source.loop=true",
                          "--set", "match.disparities=64", "--set", "match.paths=4", NULL};
    systemd_listen(daemon_.directory, 5000);
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    const pid_t engine = engine_of(&daemon_);
    next_frame(client, START_MS);
    expect_reason(client, "waiting for the recording's next pair in ");
    systemd_expect("STATUS=", "obstacles unknown", START_MS); /* what the last pair showed is old */
    const int64_t begin_ms = now_ms();
    while (plx_state(client) != PLX_STATE_DEGRADED && now_ms() - begin_ms < GAP_S * 1000)
        usleep(100000);
    assert_int_equal(plx_state(client), PLX_STATE_DEGRADED);
    assert_int_equal(plx_health(client) & (PLX_HEALTH_CAMERA_LOST_LEFT | PLX_HEALTH_CAMERA_LOST_RIGHT), 0);

    const struct plx_frame before = next_frame(client, (GAP_S + 5) * 1000);
    assert_int_equal(before.blind, 0);
    assert_true(before.sequence >= 1);
    assert_int_equal(engine_of(&daemon_), engine);
    assert_int_equal(plx_restarts(client), 0);
    plx_disconnect(client);
    stop_daemon();
    systemd_leave();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(a_gap_is_waited_out, make, clean)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
