/* SPDX-License-Identifier: Apache-2.0 */
#include "app/budget.h"

#include <limits.h>

#define MS PLX_NS_PER_MS
#define FOR_EVER INT_MAX /* ms: 24 days */

/* At least so many milliseconds, and at least so many paces; the longer of both counts. */
#define STAGE(word)                                                                                                            \
    {                                                                                                                          \
        "stage " word, {100, 2}, {1000, 5}, PLX_HEALTH_LATE                                                                    \
    }

struct budget {
    int ms, paces;
};

/* No longer than the source may be silent before it is flagged, unless its pictures come farther apart; with one that is late.
 */
static const struct budget fresh = {250, 3};

static const struct {
    const char *name;
    struct budget warn, fatal;
    uint32_t health;
} table[PLX_WATCHED_COUNT] = {
    [PLX_STAGE_CONVERT] = STAGE("convert"),
    [PLX_STAGE_HISTOGRAM] = STAGE("histogram"),
    [PLX_STAGE_RECTIFY] = STAGE("rectify"),
    [PLX_STAGE_PREFILTER] = STAGE("prefilter"),
    [PLX_STAGE_CENSUS] = STAGE("census"),
    [PLX_STAGE_SGM] = STAGE("sgm"),
    [PLX_STAGE_CHECK] = STAGE("check"),
    [PLX_STAGE_REFINE] = STAGE("refine"),
    [PLX_STAGE_GROUND] = STAGE("ground"),
    [PLX_STAGE_OBSTACLES] = STAGE("obstacles"),
    [PLX_STAGE_TRACKS] = STAGE("tracks"),
    [PLX_WATCHED_SOURCE] = {"the source", {250, 0}, {1000, 5}, PLX_HEALTH_LATE}, /* it comes round every 100 ms */
    [PLX_WATCHED_PUBLISH] = {"publishing", {100, 2}, {1000, 5}, PLX_HEALTH_LATE},
    [PLX_WATCHED_START] = {"the start", {5000, 0}, {15000, 0}, PLX_HEALTH_LATE},
    [PLX_WATCHED_LEFT] = {"the left camera", {500, 5}, {10000, 5}, PLX_HEALTH_CAMERA_LOST_LEFT},
    [PLX_WATCHED_RIGHT] = {"the right camera", {500, 5}, {10000, 5}, PLX_HEALTH_CAMERA_LOST_RIGHT},
    [PLX_WATCHED_GPU] = {"opening the GPU", {5000, 0}, {15000, 0}, PLX_HEALTH_LATE},
    [PLX_WATCHED_CAMERAS] = {"serving the cameras", {500, 5}, {5000, 10}, PLX_HEALTH_LATE},
    [PLX_WATCHED_DRIVER_CALL] = {"a call of a camera's driver", {2000, 0}, {12000, 0}, PLX_HEALTH_LATE}, /* USB: 5 s each try */
    [PLX_WATCHED_FEED] = {"reading pictures", {2000, 5}, {10000, 10}, PLX_HEALTH_LATE},
    [PLX_WATCHED_DECODE] = {"decoding", {250, 2}, {2500, 10}, PLX_HEALTH_LATE},
    /* No frame waits for it: said in the log, and no more. */
    [PLX_WATCHED_SENSORS] = {"reading the system's sensors", {2000, 0}, {FOR_EVER, 0}, 0},
    [PLX_WATCHED_IDLE] = {"nothing", {FOR_EVER, 0}, {FOR_EVER, 0}, 0},
};

static const char *const threads[PLX_THREAD_COUNT] = {
    [PLX_THREAD_WORK] = "the working thread",         [PLX_THREAD_CAMERAS] = "the thread of the cameras",
    [PLX_THREAD_FEED] = "the thread of the pictures", [PLX_THREAD_DECODE] = "decoding thread 1",
    [PLX_THREAD_DECODE + 1] = "decoding thread 2",    [PLX_THREAD_DECODE + 2] = "decoding thread 3",
    [PLX_THREAD_DECODE + 3] = "decoding thread 4",    [PLX_THREAD_SENSORS] = "the thread of the sensors",
};

static int row(int what)
{
    return what >= 0 && what < PLX_WATCHED_COUNT ? what : PLX_WATCHED_START;
}

static int64_t longer(struct budget budget, int64_t pace_ns)
{
    const int64_t least_ns = budget.ms * MS, paces_ns = budget.paces * pace_ns;
    return least_ns > paces_ns ? least_ns : paces_ns;
}

int64_t plx_budget_warn_ns(int what, int64_t pace_ns)
{
    return longer(table[row(what)].warn, pace_ns);
}

int64_t plx_budget_fresh_ns(int64_t pace_ns)
{
    return longer(fresh, pace_ns);
}

int64_t plx_budget_fatal_ns(int what, int64_t pace_ns)
{
    return longer(table[row(what)].fatal, pace_ns);
}

uint32_t plx_budget_health(int what)
{
    return table[row(what)].health;
}

const char *plx_budget_name(int what)
{
    return table[row(what)].name;
}

const char *plx_budget_thread(int thread)
{
    return thread >= 0 && thread < PLX_THREAD_COUNT ? threads[thread] : "a thread";
}
