/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's process under the supervisor's clock: it is asked to end, killed and given up in time; its last reports are
 * passed on; hints leave room for other commands; what is late is said once; and the next engine begins anew. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/log.h"
#include "app/supervisor/engine_process.h"
#include "core/base/clock.h"
#include "tests/child_alive.h"
#include "tests/cmocka.h"

#define NOW_NS (1000 * PLX_NS_PER_S)
#define ORDERLY_END_NS PLX_NS_PER_S

static struct plx_heartbeats heartbeats;
static struct plx_engine_process engine;
static struct plx_recovery recovery;
static struct plx_report passed_on[8];
static int passed;

static void on_report(void *context, const struct plx_report *report)
{
    assert_ptr_equal(context, &engine);
    assert_true(passed < 8);
    passed_on[passed++] = *report;
}

/* No engine. */
static void begin(void)
{
    passed = 0;
    memset(&heartbeats, 0, sizeof heartbeats);
    engine = (struct plx_engine_process){
        .child = PLX_CHILD_NONE, .heartbeats = &heartbeats, .on_report = on_report, .context = &engine};
    plx_recovery_init(&recovery, NOW_NS);
    plx_recovery_started(&recovery, NOW_NS);
}

/* A process that dies of SIGTERM, or DEAF to it. */
static void begin_with_process(bool deaf)
{
    sigset_t term;
    begin();
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL); /* inherited */
    engine.child.pid = fork();
    if (engine.child.pid == 0) {
        if (!deaf)
            sigprocmask(SIG_UNBLOCK, &term, NULL);
        for (;;)
            pause();
    }
    sigprocmask(SIG_UNBLOCK, &term, NULL);
    assert_true(engine.child.pid > 0);
}

static void expect_dead_of(int signal)
{
    int status;
    assert_int_equal(waitpid(engine.child.pid, &status, 0), engine.child.pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), signal);
    engine.child.pid = 0;
}

static void an_engine_has_a_second_to_end_in_order(void **state)
{
    (void)state;
    begin_with_process(false);
    plx_engine_process_tick(&engine, 10 * NOW_NS); /* nobody has asked it */
    expect_alive(engine.child.pid);
    plx_engine_process_ask_to_end(&engine, NOW_NS);
    expect_dead_of(SIGTERM);

    begin_with_process(true);
    plx_engine_process_ask_to_end(&engine, NOW_NS);
    plx_engine_process_tick(&engine, NOW_NS + ORDERLY_END_NS);
    assert_int_equal(engine.sigkill_ns, 0);
    expect_alive(engine.child.pid);
    plx_engine_process_tick(&engine, NOW_NS + ORDERLY_END_NS + 1);
    expect_dead_of(SIGKILL);
    assert_int_equal(engine.sigkill_ns, NOW_NS + ORDERLY_END_NS + 1);
}

static void an_engine_that_is_replaced_is_asked_and_the_next_one_starts_at_once(void **state)
{
    (void)state;
    begin_with_process(false);
    recovery.start_ns = 2 * NOW_NS;
    plx_engine_process_replace(&engine, &recovery, NOW_NS);
    assert_true(engine.is_replaced);
    assert_int_equal(recovery.start_ns, NOW_NS);
    expect_dead_of(SIGTERM);
    begin(); /* none runs: the back-off ends */
    recovery.start_ns = 2 * NOW_NS;
    plx_engine_process_replace(&engine, &recovery, NOW_NS);
    assert_false(engine.is_replaced);
    assert_int_equal(engine.kill_ns, 0);
    assert_int_equal(recovery.start_ns, NOW_NS);
}

/* The process that nobody has reaped stands for one that a driver holds. */
static void an_engine_that_sigkill_does_not_end_is_given_up(void **state)
{
    (void)state;
    struct plx_error_message reason = {""};
    char words[64];
    begin_with_process(true);
    plx_engine_watch_kill_result(&engine, &recovery, 10 * NOW_NS, &reason);
    assert_false(recovery.unkillable); /* it was not killed */
    plx_engine_process_kill(&engine, NOW_NS);
    plx_engine_process_kill(&engine, NOW_NS + 1); /* the time since the first one counts */
    plx_engine_watch_kill_result(&engine, &recovery, NOW_NS + PLX_KILL_BUDGET_NS - 1, &reason);
    assert_false(recovery.unkillable || plx_engine_process_has_ended(&engine, &recovery));
    assert_string_equal(reason.text, "");
    int64_t budget_ns = PLX_KILL_BUDGET_NS;
    if (access("/proc/self/schedstat", R_OK) == 0) { /* else Linux does not tell what does not count: waits for a processor */
        siginfo_t info;
        assert_int_equal(waitid(P_PID, (id_t)engine.child.pid, &info, WEXITED | WNOWAIT), 0); /* its numbers stand still */
        plx_engine_watch_kill_result(&engine, &recovery, NOW_NS, &reason);
        budget_ns += engine.sigkill_ns - NOW_NS + PLX_NS_PER_S;
        engine.run_delay.thread[0].delay_ns -= PLX_NS_PER_S;
        plx_engine_watch_kill_result(&engine, &recovery, NOW_NS + budget_ns - 1, &reason);
        assert_false(recovery.unkillable);
    }
    plx_engine_watch_kill_result(&engine, &recovery, NOW_NS + budget_ns, &reason);
    assert_true(recovery.unkillable && plx_engine_process_has_ended(&engine, &recovery));
    snprintf(words, sizeof words, "the engine (pid %d) does not die of SIGKILL", (int)engine.child.pid);
    assert_non_null(strstr(reason.text, words));
    plx_say(&reason, "another");
    plx_engine_watch_kill_result(&engine, &recovery, NOW_NS + 2 * budget_ns, &reason);
    assert_string_equal(reason.text, "another"); /* said once */
    expect_dead_of(SIGKILL);

    begin();
    engine.sigkill_ns = NOW_NS;
    plx_engine_watch_kill_result(&engine, &recovery, 10 * NOW_NS, &reason);
    assert_false(recovery.unkillable); /* it has died */
    assert_true(plx_engine_process_has_ended(&engine, &recovery));
}

static void last_reports_are_passed_on(void **state)
{
    (void)state;
    const struct plx_report frame = {.kind = PLX_REPORT_FRAME, .sequence = 7}, note = {.kind = PLX_REPORT_NOTE},
                            end = {.kind = PLX_REPORT_END};
    int fd[2];
    begin();
    assert_int_equal(plx_report_pair(fd), 0);
    engine.child.report_fd = fd[0];
    engine.hints = 5;
    engine.kill_ns = engine.sigkill_ns = NOW_NS;
    assert_int_equal(plx_report_send(fd[1], &note), 0);
    assert_int_equal(plx_report_send(fd[1], &frame), 0);
    assert_int_equal(plx_report_send(fd[1], &end), 0);
    const struct plx_engine_exit result = plx_engine_process_reaped(&engine, &recovery, 0);
    assert_true(result.has_source_ended && !result.end.failed);
    assert_int_equal(passed, 2);
    assert_int_equal(passed_on[0].kind, PLX_REPORT_NOTE);
    assert_int_equal(passed_on[1].sequence, 7);
    assert_int_equal(engine.hints, 0);
    assert_int_equal(engine.child.report_fd, -1);
    assert_true(engine.kill_ns == 0 && engine.sigkill_ns == 0); /* the next one was neither asked nor killed */
    close(fd[1]);

    begin();
    assert_int_equal(plx_report_pair(fd), 0);
    engine.child.report_fd = fd[0];
    engine.hints = 5;
    assert_int_equal(plx_report_send(fd[1], &note), 0);
    plx_engine_process_reaped(&engine, &recovery, 0);
    assert_int_equal(engine.hints, 5); /* only a frame says that they were taken */
    close(fd[1]);
}

static void an_engine_that_was_given_up_is_no_victim_of_others(void **state)
{
    (void)state;
    begin();
    assert_true(plx_engine_process_reaped(&engine, &recovery, SIGKILL).lacks_resource);
    begin();
    plx_engine_process_fail(&engine, "the engine gives no frames");
    const struct plx_engine_exit end = plx_engine_process_reaped(&engine, &recovery, SIGKILL);
    assert_true(end.end.hung && !end.lacks_resource);
}

static void hints_leave_room_for_other_commands(void **state)
{
    (void)state;
    const struct plx_motion_hint hint = {1, 2000000, {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 3}}};
    const struct plx_engine_command exposure = {.kind = PLX_COMMAND_EXPOSURE};
    struct plx_engine_command got;
    int fd[2];
    begin();
    assert_int_equal(plx_engine_process_hint(&engine, &hint), PLX_ERR_BUSY); /* no engine */
    assert_int_equal(plx_engine_process_command(&engine, &exposure), PLX_ERR_LOST);
    assert_int_equal(engine.hints, 0);
    assert_int_equal(plx_report_pair(fd), 0);
    engine.child = (struct plx_child){.pid = getpid(), .report_fd = fd[0]};
    int taken = 0;
    while (plx_engine_process_hint(&engine, &hint) == 0)
        assert_true(++taken < 1000);
    assert_int_equal(taken, 32);
    assert_int_equal(plx_engine_process_command(&engine, &exposure), 0);
    for (int i = 0; i < taken; i++) {
        assert_true(plx_engine_command_receive(fd[1], &got));
        assert_int_equal(got.kind, PLX_COMMAND_HINT);
        assert_memory_equal(&got.hint, &hint, sizeof hint);
    }
    assert_true(plx_engine_command_receive(fd[1], &got));
    assert_int_equal(got.kind, PLX_COMMAND_EXPOSURE);
    assert_false(plx_engine_command_receive(fd[1], &got));
    close(fd[0]);
    close(fd[1]);
}

static struct plx_service_clock clock_now;
static int64_t warn_ns, fatal_ns; /* when the budgets of a stage are over that has begun now */

/* The heartbeat says when an activity began; the supervisor's clock, when that is too long ago. */
static void begin_stage(void)
{
    int64_t since_ns;
    plx_heartbeat_mark(&heartbeats.thread[PLX_THREAD_WORK], PLX_STAGE_SGM);
    plx_heartbeat_read(&heartbeats.thread[PLX_THREAD_WORK], &since_ns);
    plx_service_clock_init(&clock_now, since_ns);
    plx_recovery_init(&recovery, since_ns);
    plx_recovery_started(&recovery, since_ns);
    plx_recovery_frame(&recovery, since_ns, 0, PLX_NS_PER_MS, 0);
    warn_ns = since_ns + plx_budget_warn_ns(PLX_STAGE_SGM, PLX_NS_PER_MS);
    fatal_ns = since_ns + plx_budget_fatal_ns(PLX_STAGE_SGM, PLX_NS_PER_MS);
}

static bool watch(int64_t now_ns, struct plx_error_message *reason)
{
    return plx_engine_watch_progress(&engine, &recovery, &clock_now, now_ns, reason);
}

static char line[256]; /* the last one of the log */

static void keep_line(void *context, int level, const char *text)
{
    (void)context;
    (void)level;
    snprintf(line, sizeof line, "%s", text);
}

/* The line goes on after BEFORE with TIME_NS, in seconds. */
static void expect_time_said(const char *before, int64_t time_ns)
{
    const char *said = strstr(line, before);
    if (!said)
        fail_msg("\"%s\" is not in \"%s\"", before, line);
    else
        assert_float_equal(strtod(said + strlen(before), NULL), (double)time_ns * 1e-9, 0.006);
}

static void what_is_late_is_said_once(void **state)
{
    (void)state;
    struct plx_error_message reason = {""};
    begin();
    begin_stage();
    assert_false(watch(warn_ns, &reason));
    assert_string_equal(reason.text, "");
    assert_false(watch(warn_ns + 1, &reason));
    assert_string_equal(reason.text, "stage sgm takes longer than its budget");
    expect_time_said("stage sgm has taken ", plx_budget_warn_ns(PLX_STAGE_SGM, PLX_NS_PER_MS) + 1);
    plx_say(&reason, "another");
    assert_false(watch(fatal_ns, &reason));
    assert_string_equal(reason.text, "another");
    assert_true(watch(fatal_ns + 1, &reason));
}

/* An engine that other programs keep from running is no engine that hangs: a new one would wait as long. The process is
 * stopped, so that its own wait does not change; the test changes the one that is remembered. */
static void an_engine_that_waits_for_a_processor_is_kept(void **state)
{
    (void)state;
    struct plx_error_message reason = {""};
    int status;
    if (access("/proc/self/schedstat", R_OK) != 0) {
        print_message("    skipped: this Linux does not count the wait\n");
        skip();
    }
    begin_with_process(false);
    assert_int_equal(kill(engine.child.pid, SIGSTOP), 0);
    assert_int_equal(waitpid(engine.child.pid, &status, WUNTRACED), engine.child.pid);
    begin_stage();
    assert_false(watch(warn_ns + 1, &reason)); /* from now on the wait is measured */
    assert_false(watch(warn_ns + 2, &reason));
    assert_true(engine.run_delay.count >= 1); /* a sanitizer has a thread of its own */
    watch(warn_ns + 3, &reason);              /* by now the process stands still */
    const int64_t waited_ns = recovery.run_delay_ns;
    engine.run_delay.thread[0].delay_ns -= PLX_NS_PER_S;
    assert_false(watch(fatal_ns + PLX_NS_PER_S, &reason));
    assert_true(recovery.held_up && recovery.run_delay_ns == waited_ns + PLX_NS_PER_S);
    assert_string_equal(reason.text, "other programs keep the processors busy: stage sgm waits for one");
    expect_time_said("stage sgm has waited ", recovery.run_delay_ns);
    plx_say(&reason, "another");
    assert_false(watch(fatal_ns + PLX_NS_PER_S, &reason));
    assert_string_equal(reason.text, "another");                          /* said once */
    assert_true(watch(fatal_ns + waited_ns + PLX_NS_PER_S + 1, &reason)); /* the rest of the time is its own */

    begin_stage(); /* it goes on: the next wait begins anew */
    watch(warn_ns, &reason);
    assert_int_equal(engine.run_delay.count, 0);
    assert_int_equal(kill(engine.child.pid, SIGKILL), 0);
    expect_dead_of(SIGKILL);
}

static void close_nothing(void *context)
{
    (void)context;
}

/* Nothing of the engine before counts for the next one, which here fails at once. */
static void the_next_engine_begins_anew(void **state)
{
    (void)state;
    static struct plx_plan plan; /* large */
    struct plx_parent parent = {.close_in_child = close_nothing};
    const struct plx_engine_task task = {.plan = &plan};
    int status;

    begin();
    plx_config_default(&plan.config);
    plan.config.source.type = PLX_SOURCE_REPLAY;
    snprintf(plan.config.source.path, sizeof plan.config.source.path, "/no/such/recording");
    assert_true(sd_event_new(&parent.event) >= 0);
    assert_int_equal(plx_engine_process_init(&engine, on_report, &engine), 0);
    engine.last_report.kind = PLX_REPORT_END;
    engine.has_failed = engine.is_replaced = true;
    engine.kill_ns = engine.sigkill_ns = NOW_NS;
    engine.hints = 32;
    plx_heartbeat_mark(&engine.heartbeats->thread[PLX_THREAD_SENSORS], PLX_WATCHED_SENSORS);
    assert_int_equal(plx_engine_process_start(&engine, &parent, &task), 0);
    assert_true(plx_engine_process_is_running(&engine));
    assert_false(engine.has_failed || engine.is_replaced || engine.last_report.kind);
    assert_true(engine.kill_ns == 0 && engine.sigkill_ns == 0 && engine.hints == 0);
    assert_int_equal(waitpid(engine.child.pid, &status, 0), engine.child.pid);
    engine.child.pid = 0;
    assert_true(WIFEXITED(status));
    int64_t since_ns;
    assert_int_equal(plx_heartbeat_read(&engine.heartbeats->thread[PLX_THREAD_WORK], &since_ns), PLX_WATCHED_START);
    assert_int_equal(plx_heartbeat_read(&engine.heartbeats->thread[PLX_THREAD_SENSORS], &since_ns), PLX_HEARTBEAT_IDLE);
    const struct plx_engine_exit end = plx_engine_process_reaped(&engine, &recovery, status);
    assert_true(end.end.failed && !end.is_planned && !end.has_source_ended);
    assert_non_null(strstr(end.sentence.text, "/no/such/recording"));
    plx_engine_process_finish(&engine);
    sd_event_unref(parent.event);
}

int main(void)
{
    plx_log_copy(keep_line, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_has_a_second_to_end_in_order),
        cmocka_unit_test(an_engine_that_is_replaced_is_asked_and_the_next_one_starts_at_once),
        cmocka_unit_test(an_engine_that_sigkill_does_not_end_is_given_up),
        cmocka_unit_test(last_reports_are_passed_on),
        cmocka_unit_test(an_engine_that_was_given_up_is_no_victim_of_others),
        cmocka_unit_test(hints_leave_room_for_other_commands),
        cmocka_unit_test(what_is_late_is_said_once),
        cmocka_unit_test(an_engine_that_waits_for_a_processor_is_kept),
        cmocka_unit_test(the_next_engine_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
