/* SPDX-License-Identifier: Apache-2.0 */
/* What the end of an engine says: how it is logged, whether the next one waits for a resource, and what the GPU has to do with
 * it. */
#include <signal.h>
#include <string.h>

#include <parallax/error.h>

#include "app/supervisor/engine_process.h"
#include "tests/cmocka.h"

static struct plx_heartbeats heartbeats;
static struct plx_engine_process engine;
static struct plx_recovery recovery;

static void begin(void)
{
    engine = (struct plx_engine_process){.child = PLX_CHILD_NONE, .heartbeats = &heartbeats};
    plx_recovery_init(&recovery, PLX_NS_PER_S);
    plx_recovery_started(&recovery, PLX_NS_PER_S);
}

/* The end, with STATUS as of waitpid, of an engine that reported ERROR. */
static struct plx_engine_exit fail_with(int error, bool gpu_lost)
{
    begin();
    engine.last_report = (struct plx_report){.kind = PLX_REPORT_FAILED, .error = error, .gpu_lost = gpu_lost};
    plx_say(&engine.last_report.message, "no camera");
    return plx_engine_process_reaped(&engine, &recovery, 1 << 8);
}

static void the_signal_says_who_killed_it(void **state)
{
    (void)state;
    static const struct {
        int status;
        bool has_failed, lacks_resource;
        int signal;
        const char *words;
    } cases[] = {
        {SIGKILL, false, true, SIGKILL, "sent from outside, or because memory is exhausted"},
        {SIGKILL, true, false, SIGKILL, "engine died of signal 9 (Killed)"}, /* the supervisor did it */
        {SIGSEGV, false, false, SIGSEGV, "engine died of signal 11"},
        {3 << 8, false, false, 0, "engine ended with status 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        engine.has_failed = cases[i].has_failed;
        const struct plx_engine_exit end = plx_engine_process_reaped(&engine, &recovery, cases[i].status);
        assert_non_null(strstr(end.sentence.text, cases[i].words));
        assert_int_equal(end.lacks_resource, cases[i].lacks_resource);
        assert_int_equal(end.end.signal, cases[i].signal);
        assert_int_equal(end.end.hung, cases[i].has_failed);
        assert_false(end.end.failed || end.is_permanent || end.is_planned || end.has_source_ended);
    }
}

static void a_fault_of_the_configuration_stays(void **state)
{
    (void)state;
    static const struct {
        int error;
        bool is_permanent;
    } cases[] = {
        {PLX_ERR_FORMAT, true},     {PLX_ERR_RANGE, true}, {PLX_ERR_NOT_FOUND, true}, {PLX_ERR_UNSUPPORTED, true},
        {PLX_ERR_PERMISSION, true}, {PLX_ERR_LOST, false}, {PLX_ERR_NOMEM, false},    {PLX_ERR_IO, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct plx_engine_exit end = fail_with(cases[i].error, false);
        assert_string_equal(end.sentence.text, "engine failed: no camera");
        assert_int_equal(end.is_permanent, cases[i].is_permanent);
        assert_true(end.lacks_resource && end.end.failed && !end.end.gpu_lost);
        /* A GPU that is lost is replaced: the next engine does without it. */
        const struct plx_engine_exit lost = fail_with(cases[i].error, true);
        assert_true(!lost.is_permanent && !lost.lacks_resource && lost.end.gpu_lost);
    }
}

static void an_engine_that_was_asked_ends_as_planned(void **state)
{
    (void)state;
    begin();
    engine.is_replaced = true;
    engine.kill_ns = engine.sigkill_ns = 1;
    assert_true(plx_engine_process_reaped(&engine, &recovery, 0).is_planned);
    assert_true(engine.kill_ns == 0 && engine.sigkill_ns == 0);
    begin();
    engine.last_report.kind = PLX_REPORT_END;
    assert_true(plx_engine_process_reaped(&engine, &recovery, 0).has_source_ended);
}

/* The last heartbeat, or the activity for which the supervisor ended it. */
static void its_last_activity_is_kept(void **state)
{
    (void)state;
    begin();
    plx_heartbeat_mark(&heartbeats.thread[PLX_THREAD_WORK], PLX_WATCHED_GPU);
    assert_int_equal(plx_engine_process_reaped(&engine, &recovery, SIGSEGV).end.doing, PLX_WATCHED_GPU);
    begin();
    engine.has_failed = true;
    assert_int_equal(plx_engine_process_reaped(&engine, &recovery, SIGKILL).end.doing, PLX_WATCHED_START);
}

static void hints_need_an_engine(void **state)
{
    (void)state;
    static const struct plx_motion_hint hint;
    begin();
    assert_int_equal(plx_engine_process_hint(&engine, &hint), PLX_ERR_BUSY);
    assert_int_equal(engine.hints, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_signal_says_who_killed_it),
        cmocka_unit_test(a_fault_of_the_configuration_stays),
        cmocka_unit_test(an_engine_that_was_asked_ends_as_planned),
        cmocka_unit_test(its_last_activity_is_kept),
        cmocka_unit_test(hints_need_an_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
