/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latency of frames of the real parallaxd while the machine is under load, with and without locked memory and real-time
 * priority. All rows come from one run, so rows can be compared even if other programs run on the machine.
 *
 *   bench_pressure [SECONDS]   SECONDS (default 20) per row, 12 rows; rows that need root are left out without it
 *
 * "capture to publish": from the left picture's capture time to published_ns. "publish to reader": from published_ns to the
 * return of plx_next in this process. The scene is 320 x 240 at 60 Hz on the CPU. Loads: hogs: two busy processes for each
 * processor. reclaim: the service shares a control group of GROUP_MIB with a process that reads and writes a file of twice that
 * size. crowd: CROWD processes that wait for each frame.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <parallax/client.h>

#include "core/base/clock.h"
#include "tests/exec_as.h"
#include "tests/system/control_group.h"

#define RATE_HZ 60
#define MAX_FRAMES 100000
#define MAX_LOADERS 256
#define CROWD 32
#define GROUP_MIB 96
#define START_S 20 /* limit for the start of the service */
#define NOBODY 65534

enum load { QUIET, HOGS, RECLAIM, CROWDED, LOADS };
enum variant { UNLOCKED, LOCKED, FIFO, VARIANTS };

static const char *const load_name[LOADS] = {"quiet", "hogs", "reclaim", "crowd"};
static const char *const variant_name[VARIANTS] = {"unlocked", "locked", "locked, fifo"};
static char directory[64], socket_path[96];
static struct control_group group;
static pid_t loader[MAX_LOADERS]; /* processes that make the load */
static int loader_count;

/* --- the load ---------------------------------------------------------------------------------------------------------- */

static void join_group(void)
{
    if (group.version > 0 && !control_group_write(&group, "cgroup.procs", "0"))
        _exit(1);
}

static _Noreturn void compute(void)
{
    for (volatile unsigned long i = 0;; i++)
        ;
}

static _Noreturn void fill_page_cache(void)
{
    static char block[1 << 20];
    char path[128];

    join_group();
    snprintf(path, sizeof path, "%s/file", directory);
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    for (long at = 0;; at = (at + 1) % (2 * GROUP_MIB)) {
        memset(block, (int)at, sizeof block);
        if (pwrite(file, block, sizeof block, at << 20) < 0 ||
            pread(file, block, sizeof block, ((at + 7) % (2 * GROUP_MIB)) << 20) < 0)
            _exit(1);
    }
}

static _Noreturn void wait_for_frames(void)
{
    struct plx_client *client;
    struct plx_view view;

    if (plx_connect(socket_path, &client) < 0)
        _exit(1);
    for (;;)
        if (plx_next(client, 1000, &view) == 0)
            plx_release(client, &view);
}

static void start_loaders(void (*work)(void), int count)
{
    for (int i = 0; i < count && loader_count < MAX_LOADERS; i++) {
        const pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            work();
        }
        if (child > 0)
            loader[loader_count++] = child;
    }
}

/* A failed fork gave -1, which to kill() means every process. */
static void stop_child(pid_t child)
{
    if (child <= 0)
        return;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void stop_loaders(void)
{
    while (loader_count > 0)
        stop_child(loader[--loader_count]);
}

static void start_load(enum load load)
{
    if (load == HOGS)
        start_loaders(compute, 2 * (int)sysconf(_SC_NPROCESSORS_ONLN));
    if (load == RECLAIM)
        start_loaders(fill_page_cache, 1);
    if (load == CROWDED)
        start_loaders(wait_for_frames, CROWD);
}

/* --- the service ------------------------------------------------------------------------------------------------------- */

static pid_t start_service(const char *program, enum variant variant)
{
    char socket_key[128];
    char *argv[] = {(char *)"parallaxd",
                    (char *)"--set",
                    socket_key,
                    (char *)"--set",
                    (char *)"backend=cpu",
                    (char *)"--set",
                    (char *)"source.width=320",
                    (char *)"--set",
                    (char *)"source.height=240",
                    (char *)"--set",
                    (char *)"source.rate_hz=60",
                    (char *)"--set",
                    (char *)"match.disparities=64",
                    (char *)"--set",
                    (char *)"match.paths=4",
                    (char *)"--set",
                    (char *)"blackbox.directory=",
                    (char *)"--set",
                    (char *)(variant == FIFO ? "engine.realtime_priority=10" : "engine.realtime_priority=0"),
                    NULL};

    snprintf(socket_key, sizeof socket_key, "publish.socket=%s", socket_path);
    const pid_t child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    join_group();
    const int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const bool lock = variant != UNLOCKED;
    if (log < 0 || dup2(log, STDERR_FILENO) < 0 || (!lock && setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){0, 0}) < 0))
        _exit(1);
    exec_as(lock ? 0 : NOBODY, program, argv);
}

/* --- the numbers ------------------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void print_quantiles(int64_t *value, int count)
{
    static const double quantile[] = {0.5, 0.99, 0.999, 1};

    qsort(value, (size_t)count, sizeof *value, ascending);
    for (int i = 0; i < 4; i++)
        printf(" %8.2f", (double)value[(int)(quantile[i] * (count - 1))] / 1e6);
}

static bool measure(int seconds)
{
    static int64_t capture[MAX_FRAMES], reader[MAX_FRAMES];
    struct plx_client *client;
    struct plx_view view;
    int64_t begin_ns = plx_now_ns();
    uint64_t skipped[2] = {0};
    int count = 0;

    while (plx_connect(socket_path, &client) < 0)
        if (plx_now_ns() - begin_ns > START_S * PLX_NS_PER_S)
            return false;
    begin_ns = plx_now_ns() + PLX_NS_PER_S; /* leaves out the start */
    while (plx_now_ns() - begin_ns < seconds * PLX_NS_PER_S && count < MAX_FRAMES) {
        if (plx_next(client, 1000, &view) < 0)
            continue;
        const int64_t now = plx_now_ns(), published = view.frame->published_ns;
        const int64_t captured = view.frame->capture[PLX_LEFT].capture_ns;
        const uint64_t skips = view.frame->pairs_skipped;
        if (plx_release(client, &view) < 0 || now < begin_ns)
            continue;
        skipped[count > 0] = skips;
        capture[count] = published - captured;
        reader[count++] = now - published;
    }
    plx_disconnect(client);
    if (count < 2)
        return false;
    printf(" %6d %7d", count, (int)(skipped[1] - skipped[0]));
    print_quantiles(capture, count);
    print_quantiles(reader, count);
    return true;
}

static void run_row(const char *program, enum load load, enum variant variant, int seconds)
{
    printf("%-8s %-13s", load_name[load], variant_name[variant]);
    fflush(stdout);
    if (load == RECLAIM &&
        (!control_group_make(&group, "memory") || !control_group_limit_memory(&group, (long)GROUP_MIB << 20))) {
        puts(" cannot make a control group");
        return;
    }
    if (getuid() != 0 && variant != LOCKED) {
        puts(" needs root");
        return;
    }
    const pid_t service = start_service(program, variant);
    if (load == CROWDED)
        usleep(2000000); /* the crowd connects once, so the service must run */
    start_load(load);
    puts(service > 0 && measure(seconds) ? "" : " no frames");
    fflush(stdout);
    stop_child(service);
    stop_loaders();
    control_group_remove(&group);
}

int main(int argc, char **argv)
{
    const int seconds = argc > 1 ? atoi(argv[1]) : 20;
    char program[4096];

    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - sizeof "parallaxd");
    strcpy(directory, "/tmp/plx-pressure-XXXXXX");
    if (seconds < 1 || length < 0 || !mkdtemp(directory) || chmod(directory, 0777) < 0)
        return 1;
    program[length] = '\0';
    memcpy(strrchr(program, '/') + 1, "parallaxd", sizeof "parallaxd");
    snprintf(socket_path, sizeof socket_path, "%s/s", directory);
    printf("milliseconds: p50, p99, p99.9, max\n%-8s %-13s %6s %7s %35s %35s\n", "load", "service", "frames", "skipped",
           "capture to publish", "publish to reader");
    for (int load = 0; load < LOADS; load++)
        for (int variant = 0; variant < VARIANTS; variant++)
            run_row(program, (enum load)load, (enum variant)variant, seconds);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command) == 0 ? 0 : 1;
}
