/* SPDX-License-Identifier: Apache-2.0 */
#include "app/engine/sensors.h"

#include <glob.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/frame.h>

#include "core/base/text.h"
#include "core/checks/health_table.h"

/* Shares of the last 10 s in which some, or all, processes waited for memory, percent: the flag begins at FROM, ends below
 * UNTIL. */
#define SOME_FROM 20.0
#define SOME_UNTIL 10.0
#define FULL_FROM 5.0
#define FULL_UNTIL 2.0
/* Without pressure stall information in the kernel: available memory, percent of all. */
#define AVAILABLE_FROM 4.0
#define AVAILABLE_UNTIL 8.0

#define COOLED_MC 3000 /* a zone is no longer hot this far below its trip point, 1/1000 degree */
#define TRIP_POINTS 16
#define LINE 256

/* --- files ---------------------------------------------------------------------------------------------------------- */

/* Reads the first bytes of the file, which may be any bytes; false if there are none. Each read marks the heartbeat. */
static bool read_text(const char *path, char *ret_text, size_t size)
{
    plx_heartbeat_busy(PLX_WATCHED_SENSORS);
    FILE *file = fopen(path, "re");
    const size_t bytes = file ? fread(ret_text, 1, size - 1, file) : 0;

    if (file)
        fclose(file);
    ret_text[bytes] = '\0';
    return bytes > 0;
}

/* The first line of the file, without control characters. */
__attribute__((format(printf, 2, 3))) static bool read_word(char ret_word[LINE], const char *format, ...)
{
    char path[768];
    va_list args;

    va_start(args, format);
    vsnprintf(path, sizeof path, format, args);
    va_end(args);
    if (!read_text(path, ret_word, LINE))
        return false;
    ret_word[strcspn(ret_word, "\n")] = '\0';
    plx_clean_text(ret_word);
    return true;
}

/* The files that match PATTERN below the root; to be freed by globfree. */
static glob_t find_files(const struct plx_system_health *system, const char *pattern)
{
    char path[768];
    glob_t found = {0};

    snprintf(path, sizeof path, "%s%s", system->root, pattern);
    if (glob(path, 0, NULL, &found) != 0)
        found.gl_pathc = 0;
    return found;
}

/* A flag begins with its first cause, and ends after PLX_SYSTEM_HEALTH_HOLD readings without one. */
static uint32_t hold(struct plx_system_fault *fault, bool caused, uint32_t flag)
{
    if (caused)
        fault->hold = PLX_SYSTEM_HEALTH_HOLD;
    else if (fault->hold > 0)
        fault->hold--;
    return fault->hold > 0 ? flag : 0;
}

/* --- memory --------------------------------------------------------------------------------------------------------- */

/* True if FILE, of pressure stall information, shows a shortage; sets *ret_known if the file can be read. */
static bool is_pressed(struct plx_system_health *system, const char *file, bool *ret_known)
{
    char path[768], text[LINE];
    double some, full = 0;

    snprintf(path, sizeof path, "%s%s", system->root, file);
    if (!*file || !read_text(path, text, sizeof text) || sscanf(text, "some avg10=%lf", &some) != 1)
        return false;
    *ret_known = true;
    const char *second = strstr(text, "full avg10=");
    if (second)
        sscanf(second, "full avg10=%lf", &full);
    const bool before = system->memory.hold > 0;
    const bool pressed = some >= (before ? SOME_UNTIL : SOME_FROM) || full >= (before ? FULL_UNTIL : FULL_FROM);
    if (pressed && !before)
        plx_say(&system->memory.message,
                "short of memory: in the last 10 s some processes waited for it %.0f %% of the time, all %.0f %%", some, full);
    return pressed;
}

static bool is_low(struct plx_system_health *system)
{
    char path[512], text[LINE];
    unsigned long long total = 0, available;

    snprintf(path, sizeof path, "%s/proc/meminfo", system->root);
    const bool read = read_text(path, text, sizeof text);
    const char *line = read ? strstr(text, "MemAvailable:") : NULL;
    if (!line || sscanf(text, "MemTotal: %llu", &total) != 1 || sscanf(line, "MemAvailable: %llu", &available) != 1 ||
        total == 0)
        return false;
    const double share = 100.0 * (double)available / (double)total;
    const bool before = system->memory.hold > 0, little = share < (before ? AVAILABLE_UNTIL : AVAILABLE_FROM);
    if (little && !before)
        plx_say(&system->memory.message, "short of memory: %llu of %llu MiB are available", available / 1024, total / 1024);
    return little;
}

static uint32_t read_memory(struct plx_system_health *system)
{
    bool known = false;
    bool pressed = is_pressed(system, "/proc/pressure/memory", &known);

    pressed = pressed || is_pressed(system, system->pressure, &known);
    if (!known)
        pressed = is_low(system);
    return hold(&system->memory, pressed, PLX_HEALTH_MEMORY_PRESSURE);
}

/* --- heat ----------------------------------------------------------------------------------------------------------- */

/* True from the lowest trip point on that throttles clocks or switches the machine off; active trip points start a fan. */
static bool is_hot(struct plx_system_health *system, const char *zone)
{
    char type[LINE], number[LINE];
    long long temperature, trip, lowest = 0;

    if (!read_word(number, "%s/temp", zone) || sscanf(number, "%lld", &temperature) != 1)
        return false;
    for (int i = 0; i < TRIP_POINTS && read_word(type, "%s/trip_point_%d_type", zone, i); i++)
        if (strcmp(type, "active") != 0 && read_word(number, "%s/trip_point_%d_temp", zone, i) &&
            sscanf(number, "%lld", &trip) == 1 && trip > 0 && (lowest == 0 || trip < lowest))
            lowest = trip;
    const bool before = system->heat.hold > 0;
    const bool hot = lowest > 0 && temperature >= lowest - (before ? COOLED_MC : 0);
    if (hot && !before && read_word(type, "%s/type", zone))
        plx_say(&system->heat.message, "too hot: %s has %.1f degrees Celsius, and from %.1f on clocks are slowed down", type,
                (double)temperature / 1000, (double)lowest / 1000);
    return hot;
}

/* True for an active cooling device that throttles clocks, or Jetson's alert of it; not for a fan. */
static bool is_throttled(struct plx_system_health *system, const char *device)
{
    static const char *const slows[] = {"throttle", "hot-surface-alert", "cpufreq-", "devfreq-"};
    char type[LINE], number[LINE];
    long long level;

    if (!read_word(type, "%s/type", device) || !read_word(number, "%s/cur_state", device) ||
        sscanf(number, "%lld", &level) != 1 || level <= 0)
        return false;
    for (size_t i = 0; i < sizeof slows / sizeof *slows; i++)
        if (strstr(type, slows[i])) {
            if (system->heat.hold == 0)
                plx_say(&system->heat.message, "clocks are throttled: cooling device %s is at level %lld", type, level);
            return true;
        }
    return false;
}

/* Compares the throttle counters: x86 counts temperature, Jetson (oc*_event_cnt) temperature, current and voltage. */
static bool has_been_throttled(struct plx_system_health *system)
{
    static const char *const patterns[] = {"/sys/class/hwmon/hwmon*/oc*_event_cnt",
                                           "/sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count"};
    char number[LINE];
    uint64_t sum = 0;
    long long count;
    int counters = 0;

    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t found = find_files(system, patterns[i]);
        for (size_t at = 0; at < found.gl_pathc; at++)
            if (read_word(number, "%s", found.gl_pathv[at]) && sscanf(number, "%lld", &count) == 1) {
                sum += (uint64_t)count;
                counters++;
            }
        globfree(&found);
    }
    const bool more = counters == system->counters && sum > system->throttled;
    if (more && system->heat.hold == 0)
        plx_say(&system->heat.message, "clocks were throttled %" PRIu64 " times in the last second", sum - system->throttled);
    system->throttled = sum;
    system->counters = counters;
    return more;
}

static uint32_t read_heat(struct plx_system_health *system)
{
    bool hot = has_been_throttled(system);
    glob_t found = find_files(system, "/sys/class/thermal/thermal_zone*");

    for (size_t i = 0; i < found.gl_pathc && !hot; i++)
        hot = is_hot(system, found.gl_pathv[i]);
    globfree(&found);
    found = find_files(system, "/sys/class/thermal/cooling_device*");
    for (size_t i = 0; i < found.gl_pathc && !hot; i++)
        hot = is_throttled(system, found.gl_pathv[i]);
    globfree(&found);
    return hold(&system->heat, hot, PLX_HEALTH_HOT);
}

/* --- both ----------------------------------------------------------------------------------------------------------- */

void plx_system_health_init(struct plx_system_health *system, const char *root)
{
    char path[512], text[LINE];

    *system = (struct plx_system_health){.counters = -1};
    snprintf(system->root, sizeof system->root, "%s", root);
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    const char *group = read_text(path, text, sizeof text) ? strstr(text, "0::/") : NULL; /* cgroup version 2 */
    if (group)
        snprintf(system->pressure, sizeof system->pressure, "/sys/fs/cgroup%.*s/memory.pressure", (int)strcspn(group + 3, "\n"),
                 group + 3);
}

uint32_t plx_system_health_read(struct plx_system_health *system)
{
    return read_memory(system) | read_heat(system);
}
