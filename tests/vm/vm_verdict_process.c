/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict when processes of the service die or stop: how long it takes from the signal to stop.
 *
 * guest: stereocam width=64 height=48
 */
#include "tests/vm/verdict.h"

#define STOPS 40                      /* stops of an engine */
#define SERVICES (10 * VERDICT_TIMES) /* that are killed */
#define ENGINES 3                     /* killed of each: the pause before the next engine doubles */

static pid_t engine; /* looked up before the fault, whose time would hold that work */

static void kill_engine(const struct verdict_fault *fault)
{
    (void)fault;
    kill(engine, SIGKILL);
}

static void stop_engine(const struct verdict_fault *fault)
{
    (void)fault;
    kill(engine, SIGSTOP);
}

static void continue_engine(const struct verdict_fault *fault)
{
    (void)fault;
    kill(engine, SIGCONT);
}

static void kill_supervisor(const struct verdict_fault *fault)
{
    (void)fault;
    kill(service.daemon.pid, SIGKILL);
}

static void find_engine(void)
{
    verdict_wait(true, 5000, "an engine");
    engine = daemon_child(&service.daemon, "parallax-engine");
    assert_true(engine > 0);
}

static const struct verdict_fault stopped = {
    .name = "engine stopped (SIGSTOP)", .repetitions = STOPS, .begin = stop_engine, .end = continue_engine};
static const struct verdict_fault killed = {.name = "engine killed (SIGKILL)", .begin = kill_engine};
static const struct verdict_fault orphaned = {.name = "supervisor killed (SIGKILL)", .begin = kill_supervisor};

static void test_a_stopped_engine(void **state)
{
    (void)state;
    find_engine();
    verdict_measure_all(&stopped, 1);
    assert_int_equal(daemon_child(&service.daemon, "parallax-engine"), engine);
}

/* The client stays: by plx_verdict alone it finds the next service. */
static void start_next(void)
{
    struct plx_client *client = service.client;
    assert_int_equal(daemon_wait(&service.daemon, SERVICE_MS), 128 + SIGKILL);
    verdict_start();
    plx_disconnect(service.client);
    service.client = client;
}

static void test_killed_processes(void **state)
{
    (void)state;
    static struct verdict_times engines, supervisors;

    for (int i = 0; i < SERVICES; i++) {
        for (int k = 0; k < ENGINES; k++) {
            find_engine();
            verdict_repetition(&killed, &engines);
        }
        verdict_repetition(&orphaned, &supervisors);
        start_next();
    }
    verdict_heading();
    const bool in_time = verdict_judge(&killed, &engines);
    assert_true(verdict_judge(&orphaned, &supervisors) && in_time);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stopped_engine),
        cmocka_unit_test(test_killed_processes),
    };
    return cmocka_run_group_tests_name("verdict_process", tests, verdict_setup, verdict_teardown);
}
