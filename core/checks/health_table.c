/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checks/health_table.h"

#include <limits.h>
#include <stddef.h>

#include "core/base/clock.h"

#define NEVER_MS INT_MAX /* 24 days */

/* The longer of a fixed time and a multiple of the period. */
struct budget {
    int ms, periods;
};

/* At most the warn time of the source at usual rates; three periods leave room for one late pair. A robot acts by nothing that
 * is older than the limit, however slow its cameras are. */
static const struct budget fresh = {250, 3};
#define FRESH_LIMIT_MS 3000

#define STAGE_ROW(NAME, word) [PLX_STAGE_##NAME] = {"stage " word, {100, 2}, {1000, 5}, PLX_HEALTH_LATE},

struct row {
    const char *name;
    struct budget warn, fatal;
    uint32_t health;
};

static const struct row idle = {"nothing", {NEVER_MS, 0}, {NEVER_MS, 0}, 0};

static const struct row table[PLX_WATCHED_COUNT] = {
    [PLX_WATCHED_SOURCE] = {"the source", {250, 0}, {1000, 5}, PLX_HEALTH_LATE}, /* its loop takes 100 ms at most */
    [PLX_WATCHED_PUBLISH] = {"publishing", {100, 2}, {1000, 5}, PLX_HEALTH_LATE},
    [PLX_WATCHED_START] = {"the start", {5000, 0}, {15000, 0}, PLX_HEALTH_LATE},
    [PLX_WATCHED_LEFT] = {"the left camera", {500, 5}, {10000, 5}, PLX_HEALTH_CAMERA_LOST_LEFT},
    [PLX_WATCHED_RIGHT] = {"the right camera", {500, 5}, {10000, 5}, PLX_HEALTH_CAMERA_LOST_RIGHT},
    [PLX_WATCHED_GPU] = {"opening the GPU", {5000, 0}, {15000, 0}, PLX_HEALTH_LATE},
    [PLX_WATCHED_CAMERAS] = {"serving the cameras", {500, 5}, {5000, 10}, PLX_HEALTH_LATE},
    [PLX_WATCHED_DRIVER_CALL] = {"a call of a camera's driver", {2000, 0}, {12000, 0}, PLX_HEALTH_LATE}, /* USB: 5 s each try */
    [PLX_WATCHED_FEED] = {"reading pictures", {2000, 5}, {10000, 10}, PLX_HEALTH_LATE},
    [PLX_WATCHED_DECODE] = {"decoding", {250, 2}, {2500, 10}, PLX_HEALTH_LATE},
    /* No frame waits for the sensors: logged, not flagged. */
    [PLX_WATCHED_SENSORS] = {"reading the system's sensors", {2000, 0}, {NEVER_MS, 0}, 0},
    PLX_STAGE_TABLE(STAGE_ROW)};

static const char *const threads[PLX_THREAD_COUNT] = {
    [PLX_THREAD_WORK] = "the working thread",         [PLX_THREAD_CAMERAS] = "the thread of the cameras",
    [PLX_THREAD_FEED] = "the thread of the pictures", [PLX_THREAD_DECODE] = "decoding thread 1",
    [PLX_THREAD_DECODE + 1] = "decoding thread 2",    [PLX_THREAD_DECODE + 2] = "decoding thread 3",
    [PLX_THREAD_DECODE + 3] = "decoding thread 4",    [PLX_THREAD_SENSORS] = "the thread of the sensors",
};

static const struct row *row(int what)
{
    if (what == PLX_HEARTBEAT_IDLE)
        return &idle;
    return &table[what >= 0 && what < PLX_WATCHED_COUNT ? what : PLX_WATCHED_START];
}

static int64_t budget_ns(struct budget budget, int64_t period_ns)
{
    const int64_t fixed_ns = budget.ms * PLX_NS_PER_MS, periods_ns = budget.periods * period_ns;
    return fixed_ns > periods_ns ? fixed_ns : periods_ns;
}

int64_t plx_budget_warn_ns(int what, int64_t period_ns)
{
    return budget_ns(row(what)->warn, period_ns);
}

int64_t plx_budget_fatal_ns(int what, int64_t period_ns)
{
    return budget_ns(row(what)->fatal, period_ns);
}

int64_t plx_budget_fresh_ns(int64_t period_ns)
{
    const int64_t ns = budget_ns(fresh, period_ns), limit_ns = FRESH_LIMIT_MS * PLX_NS_PER_MS;
    return ns < limit_ns ? ns : limit_ns;
}

uint32_t plx_budget_health(int what)
{
    return row(what)->health;
}

const char *plx_budget_name(int what)
{
    return row(what)->name;
}

const char *plx_budget_thread(int thread)
{
    return thread >= 0 && thread < PLX_THREAD_COUNT ? threads[thread] : "a thread";
}
