/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long it takes from a fault to stop, as a program of the robot sees it: plx_verdict, asked each millisecond. Each
 * repetition begins with go, at a random place within a frame period, and the next one waits for go again.
 */
#ifndef PLX_TESTS_VM_VERDICT_H
#define PLX_TESTS_VM_VERDICT_H

#include "tests/vm/camera.h"
#include "tests/vm/service.h"

#define VERDICT_RATE_HZ 30
#define VERDICT_PERIOD_NS (PLX_NS_PER_S / VERDICT_RATE_HZ)
#define VERDICT_MORE_NS (100 * PLX_NS_PER_MS)
#define VERDICT_POLL_US 1000   /* as a loop that commands motors may ask */
#define VERDICT_PERIODS 2      /* and VERDICT_MORE_NS: the bar, unless a fault has its own */
#define VERDICT_MAX_TIMES 1000 /* repetitions of a fault */
#ifndef VERDICT_TIMES
#    define VERDICT_TIMES 1 /* 5: those of tests/vm/verdict.md, which take a slow machine 20 minutes */
#endif

/* The cameras' ramp is a wall 0.8 m ahead and no ground. So the zone lies behind the robot, and unknown is go: it trips for
 * nothing that is seen, and go depends on the faults alone. Those that need ground or texture, misaligned and camera_moved,
 * would stay unknown, so they do not count. */
#define VERDICT_SETTINGS                                                                                                       \
    SERVICE_STEREOCAM, "source.rate_hz=30", "exposure.enabled=false", "motion.source=none", "mount.z_m=0.5",                   \
        "source.controls=override_enable=1,exposure=200,gain=16",                                                              \
        "zones=[{name: behind, polygon: [[-1.5, -0.5], [-0.5, -0.5], [-0.5, 0.5], [-1.5, 0.5]], unknown: go}]",                \
        "verdict.stop_flags=camera_lost_left,camera_lost_right,no_frames,desync,timestamp,frozen,dark,overexposed,late,"       \
        "buffer_error,not_calibrated",                                                                                         \
        "verdict.slow_flags="

struct verdict_fault {
    const char *name;
    int repetitions;
    int periods; /* 0 = VERDICT_PERIODS */
    void (*begin)(const struct verdict_fault *fault);
    void (*end)(const struct verdict_fault *fault); /* NULL: it ends by itself */
    const char *setting;                            /* settings for stereocam, in VERDICT_SETTING */
    long long value, good;                          /* while it lasts, and after */
};

static struct service service;

/* Where in a period the next fault begins: the same in every run. */
static inline unsigned verdict_random(unsigned below)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % below;
}

/* Waits until plx_verdict answers go, or until it answers anything else. Returns the time of the last answer before. */
static inline int64_t verdict_wait(bool go, unsigned poll_us, const char *what)
{
    struct plx_verdict_now verdict;
    const int64_t begin_ns = plx_now_ns();
    int64_t last_ns = begin_ns, now_ns = begin_ns;

    while ((plx_verdict(service.client, &verdict) == PLX_VERDICT_GO) != go) {
        if (now_ns - begin_ns > SERVICE_MS * PLX_NS_PER_MS)
            fail_msg("%s: no %s, but %s with reasons %x, faults %x: %s", what, go ? "go" : "stop",
                     plx_verdict_word(verdict.verdict), verdict.reasons, verdict.faults, daemon_said(&service.daemon));
        last_ns = now_ns;
        usleep(poll_us);
        now_ns = plx_now_ns();
    }
    return last_ns;
}

static inline void verdict_set(const struct verdict_fault *fault)
{
    stereocam_set(fault->setting, fault->value);
}

static inline void verdict_clear(const struct verdict_fault *fault)
{
    stereocam_set(fault->setting, fault->good);
}

#define VERDICT_SETTING verdict_set, verdict_clear

struct verdict_times {
    int64_t stop_ns[VERDICT_MAX_TIMES]; /* from the fault to the first stop, of each repetition */
    int64_t last_go_ns;                 /* from the fault to the last go, of all: no more than the bar */
    int count;
};

/* Go, then FAULT, then stop. */
static inline void verdict_repetition(const struct verdict_fault *fault, struct verdict_times *times)
{
    assert_true(times->count < VERDICT_MAX_TIMES);
    do {
        verdict_wait(true, 5000, fault->name);
        usleep(verdict_random((unsigned)(VERDICT_PERIOD_NS / PLX_NS_PER_US)));
    } while (plx_verdict(service.client, NULL) != PLX_VERDICT_GO);
    const int64_t since_ns = plx_now_ns();
    fault->begin(fault);
    const int64_t last_go_ns = verdict_wait(false, VERDICT_POLL_US, fault->name) - since_ns;
    times->stop_ns[times->count++] = plx_now_ns() - since_ns;
    if (last_go_ns > times->last_go_ns)
        times->last_go_ns = last_go_ns;
    if (fault->end)
        fault->end(fault);
}

static inline int verdict_compare(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static inline void verdict_heading(void)
{
    print_message("| %-34s | %4s | %6s | %6s | %7s | %4s | ms\n", "fault", "n", "median", "worst", "last go", "bar");
}

/* Prints a row of the table; whether go was never answered after the bar. */
static inline bool verdict_judge(const struct verdict_fault *fault, struct verdict_times *times)
{
    const int periods = fault->periods ? fault->periods : VERDICT_PERIODS;
    const int64_t bar_ns = periods * VERDICT_PERIOD_NS + VERDICT_MORE_NS, *stop_ns = times->stop_ns;
    const bool in_time = times->last_go_ns <= bar_ns;

    qsort(times->stop_ns, (size_t)times->count, sizeof *stop_ns, verdict_compare);
    print_message("| %-34s | %4d | %6.1f | %6.1f | %7.1f | %4.0f | %s\n", fault->name, times->count,
                  (double)stop_ns[times->count / 2] / PLX_NS_PER_MS, (double)stop_ns[times->count - 1] / PLX_NS_PER_MS,
                  (double)times->last_go_ns / PLX_NS_PER_MS, (double)bar_ns / PLX_NS_PER_MS, in_time ? "" : "LATE");
    return in_time;
}

/* Whether FAULT became stop in time; go is back after it. */
static inline bool verdict_measure(const struct verdict_fault *fault)
{
    static struct verdict_times times;

    times.count = 0;
    times.last_go_ns = 0;
    while (times.count < fault->repetitions * VERDICT_TIMES)
        verdict_repetition(fault, &times);
    verdict_wait(true, 5000, fault->name);
    return verdict_judge(fault, &times);
}

/* Every fault is measured, also after one that was late. */
static inline void verdict_measure_all(const struct verdict_fault *faults, size_t count)
{
    const int64_t begin_ns = plx_now_ns();
    bool in_time = true;

    verdict_heading();
    for (size_t i = 0; i < count; i++)
        in_time &= verdict_measure(&faults[i]);
    print_message("in %.0f s of the guest's clock\n", (double)(plx_now_ns() - begin_ns) / PLX_NS_PER_S);
    assert_true(in_time);
}

static inline void verdict_start(void)
{
    service_start(&service, (const char *const[]){VERDICT_SETTINGS, NULL});
    verdict_wait(true, 5000, "the start");
}

static inline int verdict_setup(void **state)
{
    (void)state;
    daemon_make(&service.daemon);
    write_calibration(64, 48);
    verdict_start();
    return 0;
}

static inline int verdict_teardown(void **state)
{
    (void)state;
    service_stop(&service);
    return 0;
}

#endif
