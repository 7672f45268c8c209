/* SPDX-License-Identifier: Apache-2.0 */
/*
 * systemd's watchdog, as the unit sets it: it is fed while the service recovers within its budget and no longer, and a
 * supervisor that hangs is back in time. The test does what systemd does: it listens, kills and starts again. The real one:
 * ./dev vm systemd.
 */
#include "tests/system/fault.h"

#include "tests/system/systemd.h"

#define WATCHDOG_MS 2000

static int listen_as_systemd(void **state)
{
    make(state);
    systemd_listen(daemon_.directory, WATCHDOG_MS);
    return 0;
}

static int hear_no_more(void **state)
{
    systemd_leave();
    return clean(state);
}

/* Milliseconds that the unit names for KEY, in whole seconds or in ms. */
static int unit_ms(const char *key)
{
    char line[256], format[64], unit[8] = "";
    int value = -1;

    FILE *file = fopen(PLX_BINARY_DIR "/systemd/parallaxd.service", "r");
    assert_non_null(file);
    snprintf(format, sizeof format, "%s=", key);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, format, strlen(format)) == 0)
            sscanf(line + strlen(format), "%d%7s", &value, unit);
    fclose(file);
    assert_true(value > 0);
    return strcmp(unit, "ms") == 0 ? value : value * 1000;
}

static void a_supervisor_that_hangs_is_back_in_time(void **state)
{
    (void)state;
    const int pause_ms = unit_ms("RestartSec");

    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    const struct plx_frame before = running_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);
    systemd_expect("WATCHDOG=1", "", WATCHDOG_MS);

    const int64_t hung_ms = now_ms();
    kill(daemon_.pid, SIGSTOP);
    while (systemd_fed(WATCHDOG_MS)) /* what was on its way */
        ;
    kill(daemon_.pid, SIGKILL); /* WatchdogSignal= */
    assert_int_equal(end_within(1000), 128 + SIGKILL);
    assert_true(is_gone(engine));
    usleep((useconds_t)pause_ms * 1000);
    daemon_start(&daemon_, small_args);
    while (whole_frame(client, START_MS).epoch == before.epoch) /* the client reattaches by itself */
        assert_true(now_ms() - hung_ms < START_MS);
    const int back_ms = (int)(now_ms() - hung_ms);
    print_message("    frames again %d ms after it hung, with WatchdogSec=%d ms and RestartSec=%d ms\n", back_ms, WATCHDOG_MS,
                  pause_ms);
    assert_false(is_late(hung_ms + WATCHDOG_MS, 1500));
    stop_daemon();
    plx_disconnect(client);
}

/* Each engine is stopped as soon as it lives: the watchdog is fed for the 30 s that recovery may take, then no more. */
static void the_watchdog_starves_when_recovery_takes_too_long(void **state)
{
    (void)state;
    if (!fault_full()) {
        print_message("    skipped: it takes 40 s; ./dev test faults has it\n");
        skip();
    }
    const int budget_ms = 30000;
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    const int64_t stopped_ms = now_ms();
    int64_t fed_ms = stopped_ms;

    while (now_ms() - fed_ms < WATCHDOG_MS) {
        const pid_t engine = daemon_child(&daemon_, "parallax-engine");
        if (engine > 0)
            kill(engine, SIGSTOP);
        if (systemd_fed(20))
            fed_ms = now_ms();
        assert_true(now_ms() - stopped_ms < budget_ms + 2 * WATCHDOG_MS);
    }
    print_message("    fed for %d ms without frames, %u engines replaced\n", (int)(fed_ms - stopped_ms), plx_restarts(client));
    assert_in_range(fed_ms - stopped_ms, budget_ms - WATCHDOG_MS, budget_ms + 1000);
    assert_int_equal(plx_state(client), PLX_STATE_FAILED);
    assert_true(plx_restarts(client) > 0);
    kill(daemon_.pid, SIGKILL); /* WatchdogSignal= */
    assert_int_equal(end_within(1000), 128 + SIGKILL);
    plx_disconnect(client);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, listen_as_systemd, hear_no_more)
    const struct CMUnitTest tests[] = {
        TEST(a_supervisor_that_hangs_is_back_in_time),
        TEST(the_watchdog_starves_when_recovery_takes_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
