/* SPDX-License-Identifier: Apache-2.0 */
/* A machine short of memory, too hot, or whose sensors do not answer: flagged, taken back, and no frame the worse. */
#include "tests/system/service.h"

#define HOLD_MS 10000 /* PLX_SYSTEM_HEALTH_HOLD readings */

static void folders(const char *path)
{
    char command[256];
    snprintf(command, sizeof command, "mkdir -p %s/root/%s", daemon_.directory, path);
    assert_int_equal(system(command), 0);
}

static void put(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "root/%s", name);
    write_text(daemon_.directory, path, text);
}

static void start_with_sensors(const char *fault)
{
    char root[96];
    snprintf(root, sizeof root, "%s/root", daemon_.directory);
    folders("proc/pressure");
    folders("sys/class/thermal/thermal_zone0");
    put("proc/pressure/memory", "some avg10=0.00\nfull avg10=0.00\n");
    put("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n");
    put("sys/class/thermal/thermal_zone0/temp", "50000\n");
    put("sys/class/thermal/thermal_zone0/trip_point_0_type", "passive\n");
    put("sys/class/thermal/thermal_zone0/trip_point_0_temp", "90000\n");
    setenv("PLX_FAKE_ROOT", root, 1);
    daemon_.fault = fault;
    daemon_start(&daemon_, small_args);
}

/* Until frames carry exactly HEALTH of both flags. */
static void wait_for_flags(struct plx_client *client, uint32_t health, int timeout_ms)
{
    const uint32_t both = PLX_HEALTH_MEMORY_PRESSURE | PLX_HEALTH_HOT;
    const int64_t begin_ms = now_ms();

    while ((next_frame(client, START_MS).health & both) != health)
        assert_false(is_late(begin_ms, timeout_ms));
}

static void pressure_and_heat_are_flagged_and_taken_back(void **state)
{
    (void)state;
    start_with_sensors("slow plx_system_health_read 0");
    struct plx_client *client = connect_client();
    wait_for_flags(client, 0, START_MS);
    put("proc/pressure/memory", "some avg10=44.00\nfull avg10=30.00\n");
    wait_for_flags(client, PLX_HEALTH_MEMORY_PRESSURE, 3000);
    wait_until_said("short of memory: in the last 10 s some processes waited for it 44 %", RECOVER_MS);
    put("sys/class/thermal/thermal_zone0/temp", "91000\n");
    wait_for_flags(client, PLX_HEALTH_MEMORY_PRESSURE | PLX_HEALTH_HOT, 3000);
    wait_until_said("too hot: cpu-thermal has 91.0", RECOVER_MS);
    put("proc/pressure/memory", "some avg10=0.00\nfull avg10=0.00\n");
    put("sys/class/thermal/thermal_zone0/temp", "50000\n");
    wait_for_flags(client, 0, HOLD_MS + 3000);
    wait_until_said("no longer short of memory", RECOVER_MS);
    plx_disconnect(client);
    stop_daemon();
}

/* The third reading never returns: frames come from the same engine, beyond the budget of every other thread. */
static void a_sensor_that_never_answers_costs_no_frame(void **state)
{
    (void)state;
    start_with_sensors("hang plx_system_health_read 3");
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);
    wait_until_said("fault: hang plx_system_health_read", START_MS);
    for (const int64_t begin_ms = now_ms(); now_ms() - begin_ms < 13000;)
        next_frame(client, RECOVER_MS);
    assert_int_equal(engine_of(&daemon_), engine);
    plx_disconnect(client);
    stop_daemon();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pressure_and_heat_are_flagged_and_taken_back, make, clean),
        cmocka_unit_test_setup_teardown(a_sensor_that_never_answers_costs_no_frame, make, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
