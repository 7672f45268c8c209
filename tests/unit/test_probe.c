/* SPDX-License-Identifier: Apache-2.0 */
/* What a probe that ended without a word stands for: whether the start goes on waiting for better luck, and the exit code. A
 * probe that takes too long is killed, and a GPU is opened by a process of its own. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/exit.h"
#include "app/supervisor/probe.h"
#include "tests/child_alive.h"
#include "tests/cmocka.h"
#include "tests/patience.h"

#define KILL_NS (20 * PLX_NS_PER_S)

static struct plx_probe probe;

/* The answer of a probe that wrote nothing and ended at NOW_NS with STATUS, as of waitpid. */
static struct plx_report end_without_a_word(int64_t now_ns, int status)
{
    struct plx_report answer;
    probe = (struct plx_probe){.child = PLX_CHILD_NONE, .kill_ns = KILL_NS};
    plx_probe_reaped(&probe, now_ns, status);
    assert_true(plx_probe_take_answer(&probe, &answer));
    assert_false(plx_probe_take_answer(&probe, &answer));
    return answer;
}

static void how_a_probe_ended_says_whether_another_may_succeed(void **state)
{
    (void)state;
    static const struct {
        int64_t now_ns;
        int status, exit_code;
        bool transient;
        const char *words;
    } cases[] = {
        {KILL_NS, SIGKILL, PLX_EXIT_OS, true, "killed from outside"}, /* memory may be free again */
        {KILL_NS, SIGSEGV, PLX_EXIT_FAILURE, false, "without an answer"},
        {KILL_NS, SIGTERM, PLX_EXIT_FAILURE, false, "without an answer"},
        {KILL_NS, SIGKILL << 8, PLX_EXIT_FAILURE, false, "without an answer"}, /* it returned that number */
        {KILL_NS, 0, PLX_EXIT_FAILURE, false, "without an answer"},
        {KILL_NS + 1, SIGKILL, PLX_EXIT_FAILURE, true, "longer than 20 s"}, /* killed by the supervisor */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct plx_report answer = end_without_a_word(cases[i].now_ns, cases[i].status);
        assert_int_equal(answer.kind, PLX_REPORT_FAILED);
        assert_int_equal(answer.exit_code, cases[i].exit_code);
        assert_int_equal(answer.transient, cases[i].transient);
        assert_non_null(strstr(answer.message.text, cases[i].words));
    }
}

static void an_answer_counts_whatever_comes_after_it(void **state)
{
    (void)state;
    struct plx_report answer;
    probe =
        (struct plx_probe){.child = PLX_CHILD_NONE, .kill_ns = KILL_NS, .answer = {.kind = PLX_REPORT_PLAN}, .answered = true};
    plx_probe_reaped(&probe, KILL_NS + 1, SIGKILL);
    assert_true(plx_probe_take_answer(&probe, &answer));
    assert_int_equal(answer.kind, PLX_REPORT_PLAN);
}

/* A probe that opens something for ever, and is killed at KILL_NS. */
static void start_endless(void)
{
    probe = (struct plx_probe){.child = PLX_CHILD_NONE, .kill_ns = KILL_NS};
    probe.child.pid = fork();
    if (probe.child.pid == 0)
        for (;;)
            pause();
    assert_true(probe.child.pid > 0);
}

/* The process was sent SIGKILL, and nothing before it. */
static void expect_killed(void)
{
    int status;
    assert_int_equal(waitpid(probe.child.pid, &status, 0), probe.child.pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    probe.child.pid = 0;
}

static void a_probe_has_its_time_and_not_more(void **state)
{
    (void)state;
    struct plx_report answer;
    start_endless();
    plx_probe_tick(&probe, KILL_NS);
    expect_alive(probe.child.pid);
    plx_probe_tick(&probe, KILL_NS + 1);
    assert_false(plx_probe_take_answer(&probe, &answer)); /* its end is still to come */
    assert_false(plx_probe_has_ended(&probe, KILL_NS + PLX_KILL_BUDGET_NS));
    expect_killed();
    assert_true(plx_probe_has_ended(&probe, KILL_NS));
}

/* The process that nobody has reaped stands for one that a driver holds. */
static void a_probe_that_sigkill_does_not_end_is_given_up(void **state)
{
    (void)state;
    struct plx_report answer;
    start_endless();
    plx_probe_tick(&probe, KILL_NS + PLX_KILL_BUDGET_NS);
    assert_false(plx_probe_take_answer(&probe, &answer));
    plx_probe_tick(&probe, KILL_NS + PLX_KILL_BUDGET_NS + 1);
    assert_true(plx_probe_take_answer(&probe, &answer));
    assert_int_equal(answer.kind, PLX_REPORT_FAILED);
    assert_int_equal(answer.exit_code, PLX_EXIT_FAILURE);
    assert_true(answer.transient);
    assert_non_null(strstr(answer.message.text, "does not die of SIGKILL"));
    assert_true(plx_probe_is_running(&probe) && plx_probe_has_ended(&probe, KILL_NS + PLX_KILL_BUDGET_NS + 1));
    plx_probe_tick(&probe, KILL_NS + PLX_KILL_BUDGET_NS + 2);
    assert_false(plx_probe_take_answer(&probe, &answer)); /* said once */
    expect_killed();
}

/* The service stops: it waits for a probe at most the time from a SIGKILL to an end. */
static void a_stopped_probe_is_killed_at_once(void **state)
{
    (void)state;
    start_endless();
    plx_probe_stop(&probe, KILL_NS / 2);
    assert_false(plx_probe_has_ended(&probe, KILL_NS / 2 + PLX_KILL_BUDGET_NS));
    assert_true(plx_probe_has_ended(&probe, KILL_NS / 2 + PLX_KILL_BUDGET_NS + 1));
    plx_probe_stop(&probe, KILL_NS); /* again and later: the time since the first counts */
    assert_true(plx_probe_has_ended(&probe, KILL_NS / 2 + PLX_KILL_BUDGET_NS + 1));
    expect_killed();
    plx_probe_stop(&probe, KILL_NS); /* nobody is there */
}

static void close_in_child(void *context)
{
    const int *report = context;
    assert_int_equal(write(report[1], "c", 1), 1);
}

/* Where there is no GPU, the answer says so; in any case the process answers, and leaves its parent alone. */
static void a_gpu_is_opened_in_a_process_of_its_own(void **state)
{
    (void)state;
    int closed[2], status;
    struct plx_parent parent = {.close_in_child = close_in_child, .context = closed};
    struct plx_report answer;
    char said[8];
    const int64_t end_ns = patience_end_ns();

    assert_int_equal(pipe(closed), 0);
    assert_true(sd_event_new(&parent.event) >= 0);
    plx_probe_start_gpu(&probe, &parent, KILL_NS);
    assert_true(plx_probe_is_running(&probe) && probe.child.pid != getpid());
    assert_int_equal(probe.kind, PLX_PROBE_GPU);
    assert_int_equal(probe.kill_ns, KILL_NS + KILL_NS);
    assert_false(plx_probe_has_ended(&probe, KILL_NS));
    while (!plx_probe_take_answer(&probe, &answer)) {
        assert_true(plx_now_ns() < end_ns);
        assert_true(sd_event_run(parent.event, 100000) >= 0);
    }
    assert_true(answer.kind == PLX_REPORT_PLAN || answer.kind == PLX_REPORT_FAILED);
    assert_true(answer.kind == PLX_REPORT_PLAN || answer.message.text[0] != '\0');
    assert_int_equal(waitpid(probe.child.pid, &status, 0), probe.child.pid);
    probe.child.pid = 0;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), answer.exit_code);
    assert_int_equal(answer.exit_code == 0, answer.kind == PLX_REPORT_PLAN);
    plx_probe_reaped(&probe, KILL_NS, status);
    assert_false(plx_probe_take_answer(&probe, &answer)); /* the first one counts */
    assert_false(plx_probe_is_running(&probe));
    assert_int_equal(probe.child.report_fd, -1);
    close(closed[1]);
    assert_int_equal(read(closed[0], said, sizeof said), 1); /* in the child, once: what it inherited would outlive its owner */
    close(closed[0]);
    sd_event_unref(parent.event);
}

static void close_nothing(void *context)
{
    (void)context;
}

/* The end of the process may be noticed before its last words. */
static void an_answer_is_read_at_the_end_of_its_process_at_the_latest(void **state)
{
    (void)state;
    struct plx_parent parent = {.close_in_child = close_nothing};
    struct plx_report answer;
    int status;

    assert_true(sd_event_new(&parent.event) >= 0);
    plx_probe_start_gpu(&probe, &parent, KILL_NS);
    assert_int_equal(waitpid(probe.child.pid, &status, 0), probe.child.pid);
    probe.child.pid = 0;
    plx_probe_reaped(&probe, KILL_NS, status);
    assert_true(plx_probe_take_answer(&probe, &answer));
    assert_null(strstr(answer.message.text, "without an answer"));
    sd_event_unref(parent.event);
}

static void without_descriptors_another_probe_may_succeed(void **state)
{
    (void)state;
    struct plx_parent parent = {.close_in_child = close_nothing};
    struct plx_report answer;
    struct rlimit old, low;

    assert_true(sd_event_new(&parent.event) >= 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    low = (struct rlimit){.rlim_cur = 0, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    plx_probe_start_gpu(&probe, &parent, KILL_NS);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_false(plx_probe_is_running(&probe));
    assert_true(plx_probe_has_ended(&probe, KILL_NS));
    assert_true(plx_probe_take_answer(&probe, &answer));
    assert_int_equal(answer.kind, PLX_REPORT_FAILED);
    assert_int_equal(answer.exit_code, PLX_EXIT_OS);
    assert_true(answer.transient);
    sd_event_unref(parent.event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_a_probe_ended_says_whether_another_may_succeed),
        cmocka_unit_test(an_answer_counts_whatever_comes_after_it),
        cmocka_unit_test(a_probe_has_its_time_and_not_more),
        cmocka_unit_test(a_probe_that_sigkill_does_not_end_is_given_up),
        cmocka_unit_test(a_stopped_probe_is_killed_at_once),
        cmocka_unit_test(a_gpu_is_opened_in_a_process_of_its_own),
        cmocka_unit_test(an_answer_is_read_at_the_end_of_its_process_at_the_latest),
        cmocka_unit_test(without_descriptors_another_probe_may_succeed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
