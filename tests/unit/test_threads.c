/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of the CPU backend when a thread loses its processor: the others go on, sleep when they must wait, and the bits
 * stay those of the oracle. */
#include <dirent.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cpu/cpu.h"
#include "cpu/internal.h"
#include "oracle/matching.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"
#include "tests/sanitizer.h"

#define THREADS 8
#define POOL_CALLS (SANITIZED ? 500 : 5000)
#define POOL_TASKS 64
#define FRAMES (SANITIZED ? 4 : 20)
#define LOOKS 30000 /* a millisecond apart, before a test fails */

enum { HEIGHT = 24, BLOCKS = 4, WIDTH = (BLOCKS - 1) * PLX_BLOCK + 5 };

static void allow_cpus(const cpu_set_t *cpus)
{
    assert_int_equal(sched_setaffinity(0, sizeof *cpus, cpus), 0);
}

/* Restricts the threads that are created next to one of the allowed processors; *ret_before: for allow_cpus. */
static void allow_one_cpu(cpu_set_t *ret_before)
{
    cpu_set_t one;
    int cpu = 0;

    assert_int_equal(sched_getaffinity(0, sizeof *ret_before, ret_before), 0);
    while (!CPU_ISSET(cpu, ret_before))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    allow_cpus(&one);
}

static void count_call(void *job, int index)
{
    ((int *)job)[index]++; /* not atomic: the pool must order it before the caller's look */
}

static void pool_calls_each_task_once(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    struct plx_pool *pool;
    cpu_set_t cpus;

    for (int pinned = 0; pinned < 2; pinned++) {
        if (pinned)
            allow_one_cpu(&cpus);
        assert_int_equal(plx_pool_create(THREADS, &pool), 0);
        for (int call = 0; call < POOL_CALLS; call++) {
            const int count = (int)random_below(&seed, POOL_TASKS + 1);
            int calls[POOL_TASKS] = {0};
            plx_pool_run(pool, count, count_call, calls);
            for (int i = 0; i < POOL_TASKS; i++)
                if (calls[i] != (i < count))
                    fail_msg("task %d of %d ran %d times, PLX_TEST_SEED=%llu", i, count, calls[i],
                             (unsigned long long)test_seed());
        }
        plx_pool_destroy(pool);
    }
    allow_cpus(&cpus);
}

struct pair {
    struct plx_match match;
    struct plx_image grey[PLX_EYES], got[MATCHING_PLANES], want[MATCHING_PLANES];
};

static void make_pair(uint64_t *seed, struct pair *ret)
{
    plx_match_default(&ret->match);
    ret->match.disparities = 64;
    for (int i = 0; i < PLX_EYES; i++) {
        ret->grey[i] = test_image_new(WIDTH, HEIGHT, PLX_U8, 0);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                ((uint8_t *)plx_row(&ret->grey[i], y))[x] = (uint8_t)random_next(seed);
    }
    for (int i = 0; i < MATCHING_PLANES; i++) {
        const enum plx_type type = matching_type(&ret->match, (enum matching_plane)i);
        ret->got[i] = test_image_new(WIDTH, HEIGHT, type, 0);
        ret->want[i] = test_image_new(WIDTH, HEIGHT, type, 0);
    }
    matching_oracle(ret->grey, &ret->match, ret->want);
}

/* Compares with the oracle and frees PAIR. */
static void finish_pair(struct pair *pair)
{
    for (int i = 0; i < MATCHING_PLANES; i++) {
        if (!test_image_equal(&pair->got[i], &pair->want[i]))
            fail_msg("%s differs, PLX_TEST_SEED=%llu", matching_names[i], (unsigned long long)test_seed());
        test_image_free(&pair->got[i]);
        test_image_free(&pair->want[i]);
    }
    for (int i = 0; i < PLX_EYES; i++)
        test_image_free(&pair->grey[i]);
}

static void more_threads_than_processors(void **state)
{
    (void)state;
    const struct plx_limits limits = {WIDTH, HEIGHT, 64, THREADS};
    uint64_t seed = test_seed();
    struct plx_stages *stages;
    cpu_set_t cpus;

    allow_one_cpu(&cpus);
    assert_int_equal(plx_cpu_create(&limits, &stages), 0);
    for (int i = 0; i < FRAMES; i++) {
        struct pair pair;
        make_pair(&seed, &pair);
        assert_int_equal(matching_run(stages, pair.grey, &pair.match, pair.got), 0);
        finish_pair(&pair);
    }
    stages->ops->destroy(stages);
    allow_cpus(&cpus);
}

/* --- a thread that loses its processor just before it sleeps -------------------------------------------------------- */

#define HANG_S 300

atomic_int late_loads; /* counts for tests/unit/late_loads.h, which the sgm.c of this program is compiled with */

static const struct plx_kernels *real_kernels;

/* So slow that the threads which follow fall asleep at each block. */
static void cost_slowly(const struct plx_sgm_row *row, int x, int count, uint8_t *ret_cost)
{
    usleep(200);
    real_kernels->cost(row, x, count, ret_cost);
}

static void a_late_sleeper_is_woken(void **state)
{
    (void)state;
    const struct plx_limits limits = {WIDTH, HEIGHT, 64, THREADS};
    uint64_t seed = test_seed();
    struct plx_stages *stages;

    assert_int_equal(plx_cpu_create(&limits, &stages), 0);
    real_kernels = plx_cpu(stages)->kernels;
    struct plx_kernels kernels = *real_kernels;
    kernels.cost = cost_slowly;
    plx_cpu(stages)->kernels = &kernels;
    alarm(HANG_S); /* ends the test where a thread sleeps for ever */
    atomic_store(&late_loads, 100);
    for (int i = 0; i < FRAMES; i++) {
        struct pair pair;
        make_pair(&seed, &pair);
        assert_int_equal(matching_run(stages, pair.grey, &pair.match, pair.got), 0);
        finish_pair(&pair);
    }
    atomic_store(&late_loads, 0);
    alarm(0);
    stages->ops->destroy(stages);
}

/* --- a thread that loses its processor at work ----------------------------------------------------------------------- */

/* The thread that calls the cost kernel first is held there, as if it had lost its processor. */
static struct {
    const struct plx_kernels *real;
    atomic_int blocks; /* calls of the cost kernel */
    bool others_went_on, others_slept;
} held;

static char thread_state(const char *thread)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
    FILE *file = fopen(path, "r");
    if (!file)
        return 'S'; /* has ended */
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    const char *name_end = strrchr(text, ')');
    return name_end ? name_end[2] : '?';
}

static bool others_sleep(void)
{
    DIR *threads = opendir("/proc/self/task");
    bool sleep = true;

    if (!threads)
        return false;
    for (const struct dirent *thread; sleep && (thread = readdir(threads));)
        if (thread->d_name[0] != '.' && atol(thread->d_name) != syscall(SYS_gettid))
            sleep = thread_state(thread->d_name) == 'S';
    closedir(threads);
    return sleep;
}

/* While the first row of a sweep is held, the other sweep can compute all rows but its last, which is the held row. */
static bool others_went_on(void)
{
    return atomic_load(&held.blocks) == 1 + (HEIGHT - 1) * BLOCKS;
}

static bool comes_true(bool (*condition)(void))
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < LOOKS; i++) {
        if (condition())
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

static void cost_held(const struct plx_sgm_row *row, int x, int count, uint8_t *ret_cost)
{
    if (atomic_fetch_add(&held.blocks, 1) == 0) {
        held.others_went_on = comes_true(others_went_on);
        held.others_slept = comes_true(others_sleep);
    }
    held.real->cost(row, x, count, ret_cost);
}

static void waiting_thread_takes_other_rows_then_sleeps(void **state)
{
    (void)state;
    const struct plx_limits limits = {WIDTH, HEIGHT, 64, 2};
    uint64_t seed = test_seed();
    struct plx_stages *stages;
    struct pair pair;

    assert_int_equal(plx_cpu_create(&limits, &stages), 0);
    held.real = plx_cpu(stages)->kernels;
    struct plx_kernels kernels = *held.real;
    kernels.cost = cost_held;
    plx_cpu(stages)->kernels = &kernels;
    make_pair(&seed, &pair);
    assert_int_equal(matching_run(stages, pair.grey, &pair.match, pair.got), 0);
    assert_true(held.others_went_on);
    assert_true(held.others_slept);
    finish_pair(&pair);
    stages->ops->destroy(stages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_calls_each_task_once),
        cmocka_unit_test(more_threads_than_processors),
        cmocka_unit_test(a_late_sleeper_is_woken),
        cmocka_unit_test(waiting_thread_takes_other_rows_then_sleeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
