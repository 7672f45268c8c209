/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded latency of the engine: locked memory, processors, real-time priority, and machines that refuse them. */
#include "tests/system/service.h"

#include <sched.h>

#define NOBODY 65534

/* KiB of PROCESS that are locked. */
static long locked_kib(pid_t process)
{
    char path[64], line[128];
    long locked = -1;

    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmLck: %ld", &locked) == 1)
            break;
    fclose(file);
    assert_true(locked >= 0);
    return locked;
}

/* Calls LOOK for each thread of PROCESS. */
static int each_thread(pid_t process, void (*look)(pid_t thread))
{
    char path[64];
    int count = 0;

    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *tasks = opendir(path);
    assert_non_null(tasks);
    for (const struct dirent *task; (task = readdir(tasks));)
        if (task->d_name[0] != '.') {
            look((pid_t)atoi(task->d_name));
            count++;
        }
    closedir(tasks);
    return count;
}

/* True, and said, where this machine refused what REFUSAL names. */
static bool is_refused(const char *refusal)
{
    if (!strstr(daemon_said(&daemon_), refusal))
        return false;
    print_message("skipped: %s", daemon_said(&daemon_));
    return true;
}

static void start_with(const char *const *args)
{
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    plx_disconnect(client);
}

static void ring_and_working_memory_are_locked(void **state)
{
    (void)state;
    start_with(small_args);
    const pid_t engine = engine_of(&daemon_);
    if (is_refused("memory is not locked"))
        skip();
    struct plx_client *client = connect_client();
    const struct plx_frame frame = next_frame(client, START_MS);
    plx_disconnect(client);
    const long ring_kib = 8L * frame.bytes / 1024; /* publish.slots */
    assert_true(locked_kib(engine) > ring_kib);
    assert_true(locked_kib(daemon_.pid) > ring_kib);
    stop_daemon();
}

/* A limit that is too small is said, with what to do, and costs no frame. */
static void a_small_limit_is_no_failure(void **state)
{
    (void)state;
    if (getuid() != 0) {
        print_message("skipped: only root can start the service as somebody else\n");
        skip();
    }
    daemon_.user = NOBODY;
    daemon_.limited = RLIMIT_MEMLOCK;
    daemon_.limit = 65536;
    assert_int_equal(chown(daemon_.directory, NOBODY, NOBODY), 0);
    start_with(small_args);
    wait_until_said("LimitMEMLOCK=infinity", RECOVER_MS);
    assert_int_equal(locked_kib(engine_of(&daemon_)), 0);
    stop_daemon();
}

static void is_on_the_first_processor(pid_t thread)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(thread, sizeof set, &set), 0);
    assert_int_equal(CPU_COUNT(&set), 1);
    assert_true(CPU_ISSET(0, &set));
}

static void the_engine_keeps_to_its_processors(void **state)
{
    (void)state;
    cpu_set_t before, of_supervisor;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    if (!CPU_ISSET(0, &before)) {
        print_message("skipped: processor 0 is not allowed here\n");
        skip();
    }
    start_with((const char *const[]){SMALL, "--set", "engine.cpus=0", "--set", "threads=2", NULL});
    assert_true(each_thread(engine_of(&daemon_), is_on_the_first_processor) >= 2);
    assert_int_equal(sched_getaffinity(daemon_.pid, sizeof of_supervisor, &of_supervisor), 0);
    assert_true(CPU_EQUAL(&of_supervisor, &before));
    stop_daemon();
}

static void an_absent_processor_is_a_configuration_error(void **state)
{
    (void)state;
    daemon_start(&daemon_, (const char *const[]){SMALL, "--set", "engine.cpus=0-1023", NULL});
    assert_int_equal(daemon_wait(&daemon_, START_MS), 78);
    assert_non_null(strstr(daemon_said(&daemon_), "engine.cpus is \"0-1023\" and there is no processor"));
}

static int ordinary; /* threads without real-time priority */

static void count_ordinary(pid_t thread)
{
    struct sched_param param;
    assert_int_equal(sched_getparam(thread, &param), 0);
    ordinary += sched_getscheduler(thread) == SCHED_OTHER;
    assert_int_equal(param.sched_priority, sched_getscheduler(thread) == SCHED_FIFO ? 3 : 0);
}

static void the_engine_gets_real_time_priority(void **state)
{
    (void)state;
    struct rlimit spin;
    start_with((const char *const[]){SMALL, "--set", "engine.realtime_priority=3", "--set", "threads=2", NULL});
    const pid_t engine = engine_of(&daemon_);
    if (is_refused("engine.realtime_priority is 3 and refused"))
        skip();
    ordinary = 0;
    assert_true(each_thread(engine, count_ordinary) >= 3);
    assert_int_equal(ordinary, 2);                                  /* those that read sensors and learn the calibration */
    assert_int_equal(sched_getscheduler(daemon_.pid), SCHED_OTHER); /* it only watches, and is not what computes */
    assert_int_equal(prlimit(engine, RLIMIT_RTTIME, NULL, &spin), 0);
    assert_true(spin.rlim_max != RLIM_INFINITY);
    stop_daemon();
}

static void a_refused_priority_is_no_failure(void **state)
{
    (void)state;
    if (getuid() != 0) {
        print_message("skipped: only root can start the service as somebody else\n");
        skip();
    }
    daemon_.user = NOBODY;
    struct rlimit priority;
    assert_int_equal(getrlimit(RLIMIT_RTPRIO, &priority), 0);
    daemon_.limited = RLIMIT_RTPRIO;
    daemon_.limit = priority.rlim_max > 1 ? 1 : 0; /* raising it may be forbidden, even to root */
    assert_int_equal(chown(daemon_.directory, NOBODY, NOBODY), 0);
    start_with((const char *const[]){SMALL, "--set", "engine.realtime_priority=3", NULL});
    wait_until_said("set LimitRTPRIO=3", RECOVER_MS);
    assert_int_equal(sched_getscheduler(engine_of(&daemon_)), SCHED_OTHER);
    stop_daemon();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ring_and_working_memory_are_locked, make, clean),
        cmocka_unit_test_setup_teardown(a_small_limit_is_no_failure, make, clean),
        cmocka_unit_test_setup_teardown(the_engine_keeps_to_its_processors, make, clean),
        cmocka_unit_test_setup_teardown(an_absent_processor_is_a_configuration_error, make, clean),
        cmocka_unit_test_setup_teardown(the_engine_gets_real_time_priority, make, clean),
        cmocka_unit_test_setup_teardown(a_refused_priority_is_no_failure, make, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
