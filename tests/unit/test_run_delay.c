/* SPDX-License-Identifier: Apache-2.0 */
/* How long the threads of a process waited for a processor. The process is stopped: its own numbers stand still, and the test
 * changes those that are remembered. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/supervisor/run_delay.h"
#include "tests/cmocka.h"

#define THREADS 3

static struct plx_run_delay run_delay;

static void *sleep_for_ever(void *argument)
{
    for (;;)
        pause();
    return argument;
}

/* A stopped process of THREADS threads. */
static pid_t start_stopped(void)
{
    int ready[2], status;
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        pthread_t thread;
        for (int i = 1; i < THREADS; i++)
            if (pthread_create(&thread, NULL, sleep_for_ever, NULL))
                _exit(1);
        if (write(ready[1], "r", 1) == 1)
            sleep_for_ever(NULL);
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    return pid;
}

static void the_longest_wait_since_the_last_call_counts(void **state)
{
    (void)state;
    if (access("/proc/self/schedstat", R_OK) != 0) {
        print_message("    skipped: this Linux does not count it\n");
        skip();
    }
    const pid_t pid = start_stopped();
    run_delay.count = 0;
    assert_int_equal(plx_run_delay_ns(&run_delay, pid), 0); /* what was before the first call does not count */
    const int threads = run_delay.count;
    assert_true(threads >= THREADS);   /* a sanitizer has one of its own */
    plx_run_delay_ns(&run_delay, pid); /* by now all of them stand still */
    assert_int_equal(plx_run_delay_ns(&run_delay, pid), 0);
    for (int longest = 0; longest < threads; longest++) {
        for (int i = 0; i < threads; i++)
            run_delay.thread[i].delay_ns -= i == longest ? 9000 : 2000 + i;
        assert_int_equal(plx_run_delay_ns(&run_delay, pid), 9000);
        assert_int_equal(plx_run_delay_ns(&run_delay, pid), 0); /* counted once */
    }
    run_delay.thread[1].tid = 0; /* a thread that is new */
    run_delay.thread[1].delay_ns = -1000000;
    assert_int_equal(plx_run_delay_ns(&run_delay, pid), 0);
    assert_int_equal(run_delay.count, threads);

    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(plx_run_delay_ns(&run_delay, pid), 0); /* there is no such process */
    assert_int_equal(run_delay.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_longest_wait_since_the_last_call_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
