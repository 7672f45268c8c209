/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of each call of plx_verdict while the service that it asks is disturbed: at each step its engine is killed, its
 * configuration is loaded again, or its pictures get another size, in turns.
 *
 *   bench_verdict_faults [SECONDS [PAUSE_US [STEP_MS [WIDTH SLOTS]]]]
 *
 * SECONDS (30) in all; PAUSE_US (1000, as a loop that commands motors) between calls; STEP_MS (2000) between disturbances;
 * WIDTH (320) of the pictures, which are 3/4 as high, and SLOTS (8) of the ring.
 *
 * Wall: CLOCK_MONOTONIC around the call. Processor: CLOCK_THREAD_CPUTIME_ID around that, with the readings of both clocks in
 * it, which `readings` shows alone. Wall less processor is what the call waited, for the service or for a processor that others
 * use. "all" are all calls; "not well" those that answered that the service is gone or its verdict too old; "changed" those
 * that found a service where the call before found none, or none where it found one: most of them map memory or unmap it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <parallax/client.h>

#include "core/base/clock.h"
#include "tests/bench/service.h"

#define BIN_NS 20
#define BINS 500000 /* up to 10 ms; what takes longer counts in the last one */
#define START_NS (20 * PLX_NS_PER_S)

enum clock { WALL, PROCESSOR, CLOCKS };
enum calls { ALL, NOT_WELL, CHANGED, READINGS, CALLS };
enum disturbance { KILL, RELOAD, RESIZE, DISTURBANCES };

static struct histogram {
    uint32_t bin[BINS];
    long count;
    int64_t max_ns;
} histogram[CALLS][CLOCKS];

static struct bench_service service;
static int done[DISTURBANCES];
static int picture_width = 320, slots = 8;

static void configure(bool wide, bool large)
{
    const int width = wide ? picture_width + 64 : picture_width, height = picture_width * 3 / 4;
    char text[512];
    snprintf(text, sizeof text,
             "source: {width: %d, height: %d, rate_hz: 30}\npublish: {slots: %d}\nmatch: {disparities: 64, paths: 4}\nmount: "
             "{z_m: 1, pitch_deg: 5.73}\n"
             "zones: [{name: way, polygon: [[1.7, -0.4], [%s, -0.4], [%s, 0.4], [1.7, 0.4]]}]\n",
             width, height, slots, large ? "2.7" : "2.5", large ? "2.7" : "2.5");
    bench_service_configure(&service, text);
}

static void disturb(int step)
{
    static bool wide, large;
    const enum disturbance what = (enum disturbance)(step % DISTURBANCES);
    const pid_t engine = bench_service_engine(&service);

    if (what == KILL) {
        done[what] += engine > 0 && kill(engine, SIGKILL) == 0;
        return;
    }
    if (what == RESIZE)
        wide = !wide;
    else
        large = !large;
    configure(wide, large);
    done[what] += kill(service.pid, SIGHUP) == 0;
}

static int64_t read_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * PLX_NS_PER_S + time.tv_nsec;
}

static void add(struct histogram *of, int64_t ns)
{
    const int64_t bin = ns / BIN_NS;
    of->bin[bin < BINS ? bin : BINS - 1]++;
    of->count++;
    of->max_ns = ns > of->max_ns ? ns : of->max_ns;
}

/* Asks once, or with CLIENT NULL only reads the clocks. */
static struct plx_verdict_now ask(struct plx_client *client, int64_t ret_ns[CLOCKS])
{
    struct plx_verdict_now verdict = {.verdict = PLX_VERDICT_STOP};
    const int64_t processor_ns = read_clock(CLOCK_THREAD_CPUTIME_ID), wall_ns = read_clock(CLOCK_MONOTONIC);
    if (client)
        plx_verdict(client, &verdict);
    ret_ns[WALL] = read_clock(CLOCK_MONOTONIC) - wall_ns;
    ret_ns[PROCESSOR] = read_clock(CLOCK_THREAD_CPUTIME_ID) - processor_ns;
    return verdict;
}

static void count(enum calls calls, const int64_t ns[CLOCKS])
{
    for (int clock = 0; clock < CLOCKS; clock++)
        add(&histogram[calls][clock], ns[clock]);
}

static void measure(struct plx_client *client, int seconds, int pause_us, int step_ms)
{
    const int64_t begun = plx_now_ns();
    bool was_attached = true;
    int step = 0;

    for (int64_t now = begun; now - begun < seconds * PLX_NS_PER_S; now = plx_now_ns()) {
        int64_t ns[CLOCKS], readings[CLOCKS];
        if (now - begun >= (step + 1) * step_ms * PLX_NS_PER_MS)
            disturb(step++);
        const struct plx_verdict_now verdict = ask(client, ns);
        const bool attached = !(verdict.reasons & PLX_REASON_NO_SERVICE);
        count(ALL, ns);
        if (verdict.reasons & (PLX_REASON_STALE | PLX_REASON_NO_SERVICE))
            count(NOT_WELL, ns);
        if (attached != was_attached)
            count(CHANGED, ns);
        was_attached = attached;
        ask(NULL, readings);
        count(READINGS, readings);
        if (pause_us > 0)
            usleep((useconds_t)pause_us);
    }
}

static double quantile_us(const struct histogram *of, double share)
{
    const long rank = (long)(share * (double)(of->count - 1));
    long below = 0;
    for (int bin = 0; bin < BINS - 1; bin++) {
        below += of->bin[bin];
        if (below > rank)
            return (bin + 0.5) * BIN_NS / 1e3;
    }
    return (double)of->max_ns / 1e3;
}

static void report(void)
{
    static const char *const calls_name[] = {"all", "not well", "changed", "readings"}, *const clock_name[] = {"wall",
                                                                                                               "processor"};
    printf("%d engines killed, %d reloads, %d resizes\n%-9s %-9s %9s %9s %9s %9s %9s us\n", done[KILL], done[RELOAD],
           done[RESIZE], "calls", "clock", "count", "p50", "p99", "p99.9", "max");
    for (int calls = 0; calls < CALLS; calls++)
        for (int clock = 0; clock < CLOCKS; clock++) {
            const struct histogram *of = &histogram[calls][clock];
            if (of->count > 0)
                printf("%-9s %-9s %9ld %9.2f %9.2f %9.2f %9.2f\n", calls_name[calls], clock_name[clock], of->count,
                       quantile_us(of, 0.5), quantile_us(of, 0.99), quantile_us(of, 0.999), (double)of->max_ns / 1e3);
        }
}

int main(int argc, char **argv)
{
    const int seconds = argc > 1 ? atoi(argv[1]) : 30, pause_us = argc > 2 ? atoi(argv[2]) : 1000,
              step_ms = argc > 3 ? atoi(argv[3]) : 2000;
    struct plx_client *client = NULL;
    const int64_t begun = plx_now_ns();

    picture_width = argc > 5 ? atoi(argv[4]) : picture_width;
    slots = argc > 5 ? atoi(argv[5]) : slots;
    bench_service_make(&service);
    configure(false, false);
    bench_service_start(&service);
    while (plx_connect(service.socket, &client) < 0 && plx_now_ns() - begun < START_NS)
        usleep(10000);
    if (client) {
        measure(client, seconds, pause_us, step_ms);
        report();
    } else {
        fprintf(stderr, "bench_verdict_faults: the service does not start\n");
    }
    plx_disconnect(client);
    bench_service_remove(&service);
    return client ? 0 : 1;
}
