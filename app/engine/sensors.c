/* SPDX-License-Identifier: Apache-2.0 */
#include "app/engine/sensors.h"

#include <sched.h>
#include <signal.h>
#include <time.h>

#include "app/log.h"
#include "core/base/clock.h"

#define PERIOD_NS PLX_NS_PER_S
#define STEP_NS (50 * PLX_NS_PER_MS) /* the longest delay until the thread notices a stop */

static bool is_stopped(struct plx_sensors *sensors)
{
    return atomic_load_explicit(&sensors->stop, memory_order_relaxed); /* no other data depends on the flag */
}

/* Gives the log one change of flags at a time. BEFORE: the flags as logged so far; returns them with the change. */
static uint32_t report_change(struct plx_sensors *sensors, uint32_t before, uint32_t now)
{
    const uint32_t changed = before ^ now;
    const uint32_t flag = changed & PLX_HEALTH_MEMORY_PRESSURE ? PLX_HEALTH_MEMORY_PRESSURE : changed;
    const bool is_memory = flag == PLX_HEALTH_MEMORY_PRESSURE;

    /* Acquire: the last sentence was read before the next one is written. */
    if (flag == 0 || atomic_load_explicit(&sensors->has_news, memory_order_acquire))
        return before;
    if (now & flag)
        sensors->news = is_memory ? sensors->machine.memory.message : sensors->machine.heat.message;
    else
        plx_say(&sensors->news, "no longer %s", is_memory ? "short of memory" : "too hot or throttled");
    atomic_store_explicit(&sensors->has_news, true, memory_order_release); /* the sentence is visible with the flag */
    return before ^ flag;
}

static void *read_sensors(void *argument)
{
    struct plx_sensors *sensors = argument;
    const struct sched_param ordinary = {.sched_priority = 0};
    const struct timespec step = {.tv_nsec = STEP_NS};
    uint32_t logged = 0;

    sched_setscheduler(0, SCHED_OTHER, &ordinary); /* no frame waits for this thread, which may read hundreds of files */
    plx_heartbeat_join(sensors->heartbeat);
    plx_heartbeat_busy(PLX_WATCHED_SENSORS);
    plx_system_health_init(&sensors->machine, "");
    while (!is_stopped(sensors)) {
        const int64_t next_ns = plx_now_ns() + PERIOD_NS;
        plx_heartbeat_busy(PLX_WATCHED_SENSORS);
        const uint32_t now = plx_system_health_read(&sensors->machine);
        atomic_store_explicit(&sensors->health, now, memory_order_relaxed); /* no other data depends on the word */
        logged = report_change(sensors, logged, now);
        plx_heartbeat_idle();
        while (!is_stopped(sensors) && plx_now_ns() < next_ns)
            nanosleep(&step, NULL);
    }
    plx_heartbeat_leave();
    return NULL;
}

void plx_sensors_start(struct plx_sensors *sensors, struct plx_heartbeat *heartbeat)
{
    sigset_t all, before;

    sensors->heartbeat = heartbeat;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* the main thread handles SIGTERM */
    sensors->started = pthread_create(&sensors->thread, NULL, read_sensors, sensors) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!sensors->started)
        plx_log(LOG_WARNING, "out of threads: memory pressure and temperature are not watched");
}

void plx_sensors_stop(struct plx_sensors *sensors)
{
    struct timespec until;

    if (!sensors->started)
        return;
    atomic_store_explicit(&sensors->stop, true, memory_order_relaxed); /* as above */
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 4 * STEP_NS;
    if (until.tv_nsec >= PLX_NS_PER_S) {
        until.tv_nsec -= PLX_NS_PER_S;
        until.tv_sec++;
    }
    if (pthread_clockjoin_np(sensors->thread, NULL, CLOCK_MONOTONIC, &until) != 0)
        pthread_detach(sensors->thread);
}

void plx_sensors_log(struct plx_sensors *sensors)
{
    if (!atomic_load_explicit(&sensors->has_news, memory_order_acquire)) /* the sentence is visible with the flag */
        return;
    plx_log(LOG_NOTICE, "%s", sensors->news.text);
    atomic_store_explicit(&sensors->has_news, false, memory_order_release); /* the sentence was read */
}

uint32_t plx_sensors_health(const struct plx_sensors *sensors)
{
    return atomic_load_explicit(&sensors->health, memory_order_relaxed); /* as above */
}
