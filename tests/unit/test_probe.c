/* SPDX-License-Identifier: Apache-2.0 */
/* What a probe that ended without a word stands for: whether the start goes on waiting for better luck, and the exit code. */
#include <signal.h>
#include <string.h>

#include "app/exit.h"
#include "app/supervisor/probe.h"
#include "tests/cmocka.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_a_probe_ended_says_whether_another_may_succeed),
        cmocka_unit_test(an_answer_counts_whatever_comes_after_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
