/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of a whole frame on the CPU, stage by stage: `bench_frame [THREADS [FRAMES]]`. The demonstration scene at 640 x 480, D
 * 64, 8 paths, preset `default`. `bench_frame -b N` also measures beside N busy processes and compares with a fair share of the
 * processors. Rounds alone and beside them alternate, so that other work disturbs both alike.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/selftest/fixture.h"
#include "core/base/clock.h"
#include "core/base/text.h"
#include "cpu/cpu.h"
#include "tests/bench/timing.h"

#define WARM 3 /* frames of a round that do not count */
#define MAX_FRAMES 1000
#define MAX_BUSY 64
#define ROUND 20 /* frames between two changes of company */

enum { ALONE, BESIDE, COMPANIES };

struct times {
    int frames;
    double total[MAX_FRAMES], cpu[MAX_FRAMES]; /* milliseconds; cpu: of all threads */
    double stage[MAX_FRAMES][PLX_STAGE_COUNT];
    double wall, others; /* milliseconds of all rounds: elapsed, and CPU time of all other programs */
};

static pid_t busy[MAX_BUSY];
static int busy_count;

static double median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, timing_ascending);
    return value[count / 2];
}

static double cpu_ms(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return 1e3 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
}

/* CPU time of the whole machine, of which the busy processes are subtracted. */
static double other_cpu_ms(void)
{
    static const int counted[] = {1, 1, 1, 0, 0, 1, 1, 1}; /* user nice system, not idle iowait, irq softirq steal */
    double ms = 0;
    unsigned long long ticks;
    FILE *file = fopen("/proc/stat", "r");

    if (!file || fscanf(file, "cpu") != 0)
        exit(1);
    for (int i = 0; i < 8 && fscanf(file, "%llu", &ticks) == 1; i++)
        ms += counted[i] * 1e3 * (double)ticks / (double)sysconf(_SC_CLK_TCK);
    fclose(file);
    for (int i = 0; i < busy_count; i++) {
        clockid_t clock;
        struct timespec time = {0};
        if (clock_getcpuclockid(busy[i], &clock) == 0)
            clock_gettime(clock, &time);
        ms -= 1e3 * (double)time.tv_sec + (double)time.tv_nsec / 1e6;
    }
    return ms;
}

static void signal_busy(int number)
{
    for (int i = 0; i < busy_count; i++)
        kill(busy[i], number);
}

static void end_busy(void)
{
    signal_busy(SIGKILL);
    for (int i = 0; i < busy_count; i++)
        waitpid(busy[i], NULL, 0);
}

/* Busy processes of the same session, stopped until a round needs them. They are forked before the pipeline has its memory,
 * which would otherwise be copied page by page while a round is timed. */
static int start_busy(int count)
{
    const pid_t parent = getpid();

    atexit(end_busy);
    for (; busy_count < count; busy_count++) {
        const pid_t pid = fork();
        if (pid < 0)
            return PLX_ERR_NOMEM;
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent)
                _exit(0);
            raise(SIGSTOP);
            for (volatile unsigned long turns = 0;; turns++) {
            }
        }
        busy[busy_count] = pid;
        waitpid(pid, NULL, WUNTRACED); /* until it has stopped */
    }
    return 0;
}

static int measure_round(struct fixture *fixture, int frames, struct times *times)
{
    const double wall = (double)plx_now_ns() / PLX_NS_PER_MS, used = cpu_ms(), others = other_cpu_ms();
    int result = 0;

    for (int i = -WARM; i < frames && result == 0; i++) {
        const double cpu = cpu_ms();
        const int64_t start = plx_now_ns();
        result = plx_pipeline_process(fixture->pipeline, fixture->raw[(i + WARM) % FIXTURE_PAIRS], start, fixture->frame);
        if (i < 0)
            continue;
        times->total[times->frames] = (double)(plx_now_ns() - start) / PLX_NS_PER_MS;
        times->cpu[times->frames] = cpu_ms() - cpu;
        for (int j = 0; j < PLX_STAGE_COUNT; j++)
            times->stage[times->frames][j] = fixture->frame->stage_us[j];
        times->frames++;
    }
    times->wall += (double)plx_now_ns() / PLX_NS_PER_MS - wall;
    times->others += other_cpu_ms() - others - (cpu_ms() - used);
    return result;
}

static int measure(struct fixture *fixture, int frames, struct times *times)
{
    int result = 0;

    while (times[ALONE].frames < frames && result == 0) {
        const int left = frames - times[ALONE].frames, round = busy_count > 0 && left > ROUND ? ROUND : left;
        result = measure_round(fixture, round, &times[ALONE]);
        if (busy_count == 0 || result < 0)
            continue;
        signal_busy(SIGCONT);
        result = measure_round(fixture, round, &times[BESIDE]);
        signal_busy(SIGSTOP);
    }
    return result;
}

static void print(struct times *times)
{
    double column[MAX_FRAMES];

    for (int i = 0; i < PLX_STAGE_COUNT; i++) {
        for (int frame = 0; frame < times->frames; frame++)
            column[frame] = times->stage[frame][i];
        printf("  %-10s %8.2f ms\n", plx_stage_word(i), median(column, times->frames) / 1000);
    }
    const double all = median(times->total, times->frames);
    printf("  %-10s %8.2f ms = %.1f pairs/s (median of %d), CPU time %.2f ms\n", "all", all, 1000 / all, times->frames,
           median(times->cpu, times->frames));
    printf("  other programs used %.2f processors meanwhile\n", times->others / times->wall);
}

/* Processors that THREADS get beside COUNT busy processes of the same priority, if each of both gets the same. */
static double fair_share(int processors, int threads, int count)
{
    const double share = (double)processors * threads / (threads + count);
    return share < threads ? share : threads;
}

static void print_fairness(struct times *times, int threads)
{
    cpu_set_t allowed;
    const int processors = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    threads = threads > 0 ? threads : processors;
    const double alone = fair_share(processors, threads, 0), beside = fair_share(processors, threads, busy_count);
    const double time = median(times[BESIDE].total, times[BESIDE].frames);
    const double fair = median(times[ALONE].total, times[ALONE].frames) * alone / beside;

    printf("beside %d busy processes, stage by stage:\n", busy_count);
    print(&times[BESIDE]);
    printf("a fair share is %.2f of %d processors, alone %.2f: %.2f ms; time beside / fair time %.2f\n", beside, processors,
           alone, fair, time / fair);
}

static int run(int threads, int frames)
{
    static struct times times[COMPANIES];
    struct fixture_kind kind = {.width = 640, .height = 480, .format = PLX_FORMAT_GREY};
    struct plx_stages *stages;
    struct plx_error_message message = {""};
    struct fixture fixture;

    plx_pipeline_params_default(&kind.params);
    kind.params.correction = PLX_CORRECTION_OFF; /* pictures that are rectified are not copied */
    kind.params.match.disparities = 64;
    struct plx_limits limits = fixture_limits(&kind);
    limits.threads = threads;
    int result = plx_cpu_create(&limits, &stages);
    if (result == 0)
        result = fixture_open(stages, &kind, &fixture, &message);
    if (result != 0) {
        fprintf(stderr, "bench_frame: %s\n", message.text[0] ? message.text : plx_strerror(result));
        return result;
    }
    result = measure(&fixture, frames, times);
    if (result == 0) {
        printf("whole frame, %d x %d, D 64, 8 paths, preset default, %d threads\n", kind.width, kind.height, threads);
        print(&times[ALONE]);
        if (busy_count > 0)
            print_fairness(times, threads);
    } else {
        fprintf(stderr, "bench_frame: %s\n", plx_strerror(result));
    }
    fixture_close(&fixture);
    return result;
}

int main(int argc, char **argv)
{
    int count = 0, option;
    bool usage = false;

    while ((option = getopt(argc, argv, "b:")) != -1) {
        if (option == 'b')
            count = atoi(optarg);
        usage |= option != 'b' || count < 1 || count > MAX_BUSY;
    }
    const int threads = argc > optind ? atoi(argv[optind]) : 2, frames = argc > optind + 1 ? atoi(argv[optind + 1]) : 100;
    if (usage || threads < 0 || frames < 1 || frames > MAX_FRAMES) {
        fprintf(stderr,
                "usage: bench_frame [-b BUSY] [THREADS [FRAMES]]  (default 2 100; at most %d busy processes, %d frames)\n",
                MAX_BUSY, MAX_FRAMES);
        return 64;
    }
    if (start_busy(count) < 0) {
        fprintf(stderr, "bench_frame: cannot start %d busy processes\n", count);
        return 1;
    }
    return run(threads, frames) < 0;
}
