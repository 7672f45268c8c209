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
#define VERDICT_POLL_NS PLX_NS_PER_MS /* as a loop that commands motors may ask; times are no more exact */
#define VERDICT_PERIODS 2             /* and VERDICT_MORE_NS: the bar, unless a fault has its own */
#define VERDICT_MOST 1000             /* repetitions of a fault */

/* The cameras' ramp is a wall 0.8 m ahead and no ground. So the zone lies behind the robot, and unknown is go: it trips for
 * nothing that is seen, and go depends on the faults alone. */
#define VERDICT_SETTINGS                                                                                                       \
    SERVICE_STEREOCAM, "source.rate_hz=30", "exposure.enabled=false", "motion.source=none", "mount.z_m=0.5",                   \
        "source.controls=override_enable=1,exposure=200,gain=16",                                                              \
        "zones=[{name: behind, polygon: [[-1.5, -0.5], [-0.5, -0.5], [-0.5, 0.5], [-1.5, 0.5]], unknown: go}]",                \
        "verdict.slow_flags="

struct verdict_fault {
    const char *name;
    int repetitions;
    int periods; /* 0 = VERDICT_PERIODS */
    void (*begin)(const struct verdict_fault *fault);
    void (*end)(const struct verdict_fault *fault); /* NULL: it ends by itself */
    const char *setting;                            /* of stereocam, for VERDICT_SETTING */
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

/* Waits until plx_verdict answers go (or anything else, if not GO). */
static inline void verdict_wait(bool go, unsigned poll_us, const char *what)
{
    struct plx_verdict_now verdict;
    const int64_t end_ns = plx_now_ns() + SERVICE_MS * PLX_NS_PER_MS;

    while ((plx_verdict(service.client, &verdict) == PLX_VERDICT_GO) != go) {
        if (plx_now_ns() > end_ns)
            fail_msg("%s: no %s, but %s with reasons %x, faults %x: %s", what, go ? "go" : "stop",
                     plx_verdict_word(verdict.verdict), verdict.reasons, verdict.faults, daemon_said(&service.daemon));
        usleep(poll_us);
    }
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

/* Go, then FAULT: the time until stop. */
static inline int64_t verdict_repetition(const struct verdict_fault *fault)
{
    do {
        verdict_wait(true, 5000, fault->name);
        usleep(verdict_random((unsigned)(VERDICT_PERIOD_NS / PLX_NS_PER_US)));
    } while (plx_verdict(service.client, NULL) != PLX_VERDICT_GO);
    const int64_t since_ns = plx_now_ns();
    fault->begin(fault);
    verdict_wait(false, VERDICT_POLL_NS / PLX_NS_PER_US, fault->name);
    const int64_t took_ns = plx_now_ns() - since_ns;
    if (fault->end)
        fault->end(fault);
    return took_ns;
}

static inline int verdict_compare(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static inline void verdict_heading(void)
{
    print_message("| %-34s | %4s | %6s | %6s | %4s | ms\n", "fault", "n", "median", "worst", "bar");
}

/* Prints a row of the table; whether the longest of COUNT times is within the bar. */
static inline bool verdict_judge(const struct verdict_fault *fault, int64_t *took_ns, int count)
{
    const int periods = fault->periods ? fault->periods : VERDICT_PERIODS;
    const int64_t bar_ns = periods * VERDICT_PERIOD_NS + VERDICT_MORE_NS;

    qsort(took_ns, (size_t)count, sizeof *took_ns, verdict_compare);
    const bool in_time = took_ns[count - 1] <= bar_ns + VERDICT_POLL_NS;
    print_message("| %-34s | %4d | %6.1f | %6.1f | %4.0f | %s\n", fault->name, count,
                  (double)took_ns[count / 2] / PLX_NS_PER_MS, (double)took_ns[count - 1] / PLX_NS_PER_MS,
                  (double)bar_ns / PLX_NS_PER_MS, in_time ? "" : "LATE");
    return in_time;
}

/* Whether FAULT became stop in time; go is back after it. */
static inline bool verdict_measure(const struct verdict_fault *fault)
{
    static int64_t took_ns[VERDICT_MOST];
    assert_true(fault->repetitions <= VERDICT_MOST);
    for (int i = 0; i < fault->repetitions; i++)
        took_ns[i] = verdict_repetition(fault);
    verdict_wait(true, 5000, fault->name);
    return verdict_judge(fault, took_ns, fault->repetitions);
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
