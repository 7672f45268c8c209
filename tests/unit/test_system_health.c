/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pressure, heat and throttling, from files that a kernel might show. */
#include "app/engine/sensors.h"

#include <parallax/frame.h>

#include "tests/cmocka.h"
#include "tests/unit/files.h"

#define MEMORY PLX_HEALTH_MEMORY_PRESSURE
#define HOT PLX_HEALTH_HOT

static struct plx_system_health monitored;

/* Writes NAME with all folders above it. */
static void put(const char *name, const char *text)
{
    char path[128];
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(path, sizeof path, "%.*s", (int)(slash - name), name);
        files_folder(path);
    }
    files_text(name, text);
}

static void pressure(const char *file, double some, double full)
{
    char text[200];
    snprintf(text, sizeof text,
             "some avg10=%.2f avg60=0.00 avg300=0.00 total=5\nfull avg10=%.2f avg60=0.00 avg300=0.00 total=2\n", some, full);
    put(file, text);
}

/* Reads TIMES, and expects HEALTH each time. */
static void expect(uint32_t health, int times)
{
    for (int i = 0; i < times; i++)
        assert_int_equal(plx_system_health_read(&monitored), health);
}

static void a_machine_that_tells_nothing_has_no_faults(void **state)
{
    (void)state;
    plx_system_health_init(&monitored, files_directory);
    expect(0, 3);
}

static void pressure_comes_and_goes(void **state)
{
    (void)state;
    pressure("proc/pressure/memory", 19, 4);
    plx_system_health_init(&monitored, files_directory);
    expect(0, 3);
    pressure("proc/pressure/memory", 21, 0);
    expect(MEMORY, 1);
    assert_non_null(strstr(monitored.memory.message.text, "21 %"));
    pressure("proc/pressure/memory", 11, 0); /* no new cause, but not over either */
    expect(MEMORY, 2 * PLX_SYSTEM_HEALTH_HOLD);
    pressure("proc/pressure/memory", 9, 0);
    expect(MEMORY, PLX_SYSTEM_HEALTH_HOLD - 1);
    pressure("proc/pressure/memory", 10, 0); /* again: the time begins again */
    expect(MEMORY, 1);
    pressure("proc/pressure/memory", 0, 0);
    expect(MEMORY, PLX_SYSTEM_HEALTH_HOLD - 1);
    expect(0, 3);
    pressure("proc/pressure/memory", 6, 6);
    expect(MEMORY, 1);
}

static void the_own_control_group_counts(void **state)
{
    (void)state;
    put("proc/self/cgroup", "1:name=systemd:/init\n0::/system.slice/parallaxd.service\n");
    pressure("proc/pressure/memory", 0, 0);
    pressure("sys/fs/cgroup/system.slice/parallaxd.service/memory.pressure", 50, 40);
    plx_system_health_init(&monitored, files_directory);
    expect(MEMORY, 2);
}

static void without_stall_information_available_memory_counts(void **state)
{
    (void)state;
    put("proc/meminfo", "MemTotal:  1000000 kB\nMemFree: 10 kB\nMemAvailable:  50000 kB\n");
    plx_system_health_init(&monitored, files_directory);
    expect(0, 2);
    put("proc/meminfo", "MemTotal:  1000000 kB\nMemFree: 10 kB\nMemAvailable:  30000 kB\n");
    expect(MEMORY, 1);
    put("proc/meminfo", "MemTotal:  1000000 kB\nMemFree: 10 kB\nMemAvailable:  70000 kB\n");
    expect(MEMORY, PLX_SYSTEM_HEALTH_HOLD);
    put("proc/meminfo", "MemTotal:  1000000 kB\nMemFree: 10 kB\nMemAvailable:  90000 kB\n");
    expect(MEMORY, PLX_SYSTEM_HEALTH_HOLD - 1);
    expect(0, 1);
}

static void zone(const char *temperature)
{
    put("sys/class/thermal/thermal_zone3/temp", temperature);
}

static void a_zone_beyond_its_trip_point_is_hot(void **state)
{
    (void)state;
    put("sys/class/thermal/thermal_zone0/type", "off");
    put("sys/class/thermal/thermal_zone0/temp", ""); /* an engine that sleeps */
    put("sys/class/thermal/thermal_zone3/type", "cpu-thermal\n");
    put("sys/class/thermal/thermal_zone3/trip_point_0_type", "active\n"); /* a fan */
    put("sys/class/thermal/thermal_zone3/trip_point_0_temp", "40000\n");
    put("sys/class/thermal/thermal_zone3/trip_point_1_type", "critical\n");
    put("sys/class/thermal/thermal_zone3/trip_point_1_temp", "105000\n");
    put("sys/class/thermal/thermal_zone3/trip_point_2_type", "passive\n");
    put("sys/class/thermal/thermal_zone3/trip_point_2_temp", "95000\n");
    zone("94900\n");
    plx_system_health_init(&monitored, files_directory);
    expect(0, 2);
    zone("95000\n");
    expect(HOT, 1);
    assert_non_null(strstr(monitored.heat.message.text, "cpu-thermal has 95.0"));
    zone("92500\n"); /* not yet cooled */
    expect(HOT, 2 * PLX_SYSTEM_HEALTH_HOLD);
    zone("91900\n");
    expect(HOT, PLX_SYSTEM_HEALTH_HOLD - 1);
    expect(0, 1);
    zone("93000\n");
    expect(0, 3);
}

static void throttled_clocks_are_hot(void **state)
{
    (void)state;
    put("sys/class/thermal/cooling_device0/type", "pwm-fan\n");
    put("sys/class/thermal/cooling_device0/cur_state", "3\n");
    put("sys/class/thermal/cooling_device1/type", "gpu-throttle-alert\n");
    put("sys/class/thermal/cooling_device1/cur_state", "0\n");
    plx_system_health_init(&monitored, files_directory);
    expect(0, 2);
    put("sys/class/thermal/cooling_device1/cur_state", "1\n");
    expect(HOT, 2);
    put("sys/class/thermal/cooling_device1/cur_state", "0\n");
    expect(HOT, PLX_SYSTEM_HEALTH_HOLD - 1);
    expect(0, 1);
}

static void counters_count_from_now_on(void **state)
{
    (void)state;
    put("sys/class/hwmon/hwmon2/oc1_event_cnt", "7\n");
    put("sys/class/hwmon/hwmon2/oc2_event_cnt", "0\n");
    put("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "1000\n");
    plx_system_health_init(&monitored, files_directory);
    expect(0, 3); /* what was before is no news */
    put("sys/class/hwmon/hwmon2/oc2_event_cnt", "2\n");
    expect(HOT, PLX_SYSTEM_HEALTH_HOLD);
    expect(0, 1);
    put("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "1001\n");
    expect(HOT, 1);
}

static void files_of_any_bytes_do_no_harm(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "\n", "some avg10=", "some avg10=nan", "-9999999999999999999999\n", "\x1b[2J\xff\xfe", "99999999999999999999999"};
    static const char *const names[] = {"proc/pressure/memory",
                                        "proc/meminfo",
                                        "proc/self/cgroup",
                                        "sys/class/thermal/thermal_zone1/temp",
                                        "sys/class/thermal/thermal_zone1/type",
                                        "sys/class/thermal/thermal_zone1/trip_point_0_type",
                                        "sys/class/thermal/thermal_zone1/trip_point_0_temp",
                                        "sys/class/thermal/cooling_device1/type",
                                        "sys/class/thermal/cooling_device1/cur_state",
                                        "sys/class/hwmon/hwmon1/oc1_event_cnt"};
    for (size_t text = 0; text < sizeof texts / sizeof *texts; text++) {
        for (size_t name = 0; name < sizeof names / sizeof *names; name++)
            put(names[name], texts[text]);
        plx_system_health_init(&monitored, files_directory);
        plx_system_health_read(&monitored);
        assert_null(strpbrk(monitored.heat.message.text, "\n\x1b"));
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, files_begin, files_end)
    const struct CMUnitTest tests[] = {
        CASE(a_machine_that_tells_nothing_has_no_faults),
        CASE(pressure_comes_and_goes),
        CASE(the_own_control_group_counts),
        CASE(without_stall_information_available_memory_counts),
        CASE(a_zone_beyond_its_trip_point_is_hot),
        CASE(throttled_clocks_are_hot),
        CASE(counters_count_from_now_on),
        CASE(files_of_any_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
