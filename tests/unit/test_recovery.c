/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's decisions, with a clock of the test's own. */
#include "app/supervisor/recovery.h"
#include "core/checks/health_table.h"
#include "tests/cmocka.h"

#define MS PLX_NS_PER_MS
#define S PLX_NS_PER_S
#define PERIOD (33 * MS)

/* A service whose engine has just published a frame without faults at time NOW. */
static struct plx_recovery running_at(int64_t now)
{
    struct plx_recovery recovery;
    plx_recovery_init(&recovery, now - 100 * MS);
    plx_recovery_started(&recovery, now - 100 * MS);
    plx_recovery_frame(&recovery, now, 0, PERIOD, 10 * MS);
    return recovery;
}

static void starts_at_once_and_runs_with_the_first_frame(void **state)
{
    (void)state;
    struct plx_recovery recovery;
    plx_recovery_init(&recovery, 7 * S);
    assert_int_equal(recovery.state, PLX_STATE_STARTING);
    assert_true(plx_recovery_wants_engine(&recovery, 7 * S));
    plx_recovery_started(&recovery, 7 * S);
    assert_false(plx_recovery_wants_engine(&recovery, 8 * S));
    plx_recovery_frame(&recovery, 8 * S, 0, PERIOD, MS);
    assert_int_equal(recovery.state, PLX_STATE_RUNNING);
    plx_recovery_frame(&recovery, 8 * S, PLX_HEALTH_DESYNC, PERIOD, MS);
    assert_int_equal(recovery.state, PLX_STATE_DEGRADED);
    assert_int_equal(recovery.health, PLX_HEALTH_DESYNC);
}

/* What is known of the last engine says nothing of the next one. */
static void a_new_engine_is_not_late(void **state)
{
    (void)state;
    struct plx_recovery recovery = running_at(10 * S);
    plx_recovery_progress(&recovery, PLX_THREAD_WORK, PLX_HEARTBEAT_IDLE, 10 * S);
    plx_recovery_progress(&recovery, PLX_THREAD_CAMERAS, PLX_WATCHED_DRIVER_CALL, 10 * S);
    plx_recovery_delayed(&recovery, 3 * S);
    assert_true(plx_recovery_tick(&recovery, 30 * S));
    assert_true(recovery.late && recovery.suspect == PLX_THREAD_CAMERAS);
    plx_recovery_died(&recovery, 30 * S, false);
    plx_recovery_started(&recovery, 31 * S);
    assert_false(recovery.late || recovery.held_up || recovery.fresh);
    assert_int_equal(recovery.run_delay_ns, 0);
    assert_int_equal(plx_recovery_activity(&recovery)->doing, PLX_WATCHED_START);
    assert_true(plx_recovery_activity(&recovery)->since_ns == 31 * S);
    assert_int_equal(recovery.activity[PLX_THREAD_CAMERAS].doing, PLX_HEARTBEAT_IDLE);
    assert_false(plx_recovery_tick(&recovery, 32 * S));
    assert_false(recovery.late);
}

static void back_off_grows_to_its_limit_and_shrinks_after_a_stable_run(void **state)
{
    (void)state;
    const int64_t expected_ms[] = {100, 200, 400, 800, 1600, 3200, 5000, 5000};
    int64_t now = 10 * S;
    struct plx_recovery recovery = running_at(now);
    for (size_t i = 0; i < sizeof expected_ms / sizeof expected_ms[0]; i++) {
        plx_recovery_died(&recovery, now, false);
        assert_int_equal(recovery.state, PLX_STATE_RECOVERING);
        assert_true(recovery.health & PLX_HEALTH_NO_FRAMES);
        assert_false(plx_recovery_wants_engine(&recovery, now + expected_ms[i] * MS - 1));
        assert_true(plx_recovery_wants_engine(&recovery, now + expected_ms[i] * MS));
        now += expected_ms[i] * MS;
        plx_recovery_started(&recovery, now);
        plx_recovery_frame(&recovery, now + 50 * MS, 0, PERIOD, MS);
        assert_int_equal(recovery.state, PLX_STATE_RUNNING);
    }
    plx_recovery_frame(&recovery, now + PLX_STABLE_NS, 0, PERIOD, MS);
    plx_recovery_died(&recovery, now + PLX_STABLE_NS, false);
    assert_true(plx_recovery_wants_engine(&recovery, now + PLX_STABLE_NS + PLX_BACKOFF_MIN_NS));
    assert_int_equal(recovery.deaths, sizeof expected_ms / sizeof expected_ms[0] + 1);
}

/* Neither engines that say what they lack, nor a start that cannot be yet, end the service by the watchdog. */
static void what_is_missing_is_waited_for_for_ever(void **state)
{
    (void)state;
    const int64_t hour = 3600 * S;
    int64_t now = 10 * S;
    struct plx_recovery recovery;

    plx_recovery_init(&recovery, now);
    while (now < hour) {
        plx_recovery_start_postponed(&recovery, now);
        assert_true(recovery.start_ns > now && recovery.start_ns <= now + PLX_BACKOFF_MAX_NS);
        assert_false(plx_recovery_wants_engine(&recovery, recovery.start_ns - 1));
        now = recovery.start_ns;
        assert_true(plx_recovery_wants_engine(&recovery, now) && plx_recovery_is_well(&recovery, now));
    }
    assert_int_equal(recovery.deaths, 0);

    recovery = running_at(now);
    const int64_t end = now + hour;
    while (now < end) {
        plx_recovery_died(&recovery, now, false);
        plx_recovery_lacks_resource(&recovery, now);
        now = recovery.start_ns;
        assert_false(plx_recovery_tick(&recovery, now));
        assert_true(plx_recovery_is_well(&recovery, now));
        assert_int_equal(recovery.state, PLX_STATE_RECOVERING);
        plx_recovery_started(&recovery, now);
    }
    plx_recovery_died(&recovery, now, false); /* without a word the budget counts */
    assert_false(plx_recovery_is_well(&recovery, now + PLX_RECOVERY_BUDGET_NS + S));
}

static void planned_ends_cost_no_back_off(void **state)
{
    (void)state;
    struct plx_recovery recovery = running_at(10 * S);
    plx_recovery_died(&recovery, 10 * S, true);
    assert_true(plx_recovery_wants_engine(&recovery, 10 * S));
    assert_int_equal(recovery.deaths, 0);
    assert_int_equal(recovery.backoff_ns, PLX_BACKOFF_MIN_NS);
}

static void silence_is_a_hang_after_a_second_or_some_periods(void **state)
{
    (void)state;
    struct plx_recovery recovery = running_at(10 * S);
    assert_false(plx_recovery_tick(&recovery, 11 * S));
    assert_int_equal(recovery.state, PLX_STATE_DEGRADED);
    assert_true(plx_recovery_tick(&recovery, 11 * S + 1));
    assert_int_equal(recovery.state, PLX_STATE_RECOVERING);

    recovery = running_at(10 * S);
    plx_recovery_frame(&recovery, 10 * S, 0, PERIOD, 2 * S); /* one stall gives the next hang no more time, */
    assert_true(plx_recovery_tick(&recovery, 11 * S + 1));
    for (int i = 0; i < 3; i++)
        plx_recovery_frame(&recovery, 10 * S, 0, PERIOD, 2 * S); /* and a slow machine is no hang */
    assert_false(plx_recovery_tick(&recovery, 10 * S + 5 * 2 * S));
    assert_true(plx_recovery_tick(&recovery, 10 * S + 5 * 2 * S + 1));
}

static void an_engine_may_take_its_time_to_start_but_not_for_ever(void **state)
{
    (void)state;
    struct plx_recovery recovery;
    plx_recovery_init(&recovery, 0);
    plx_recovery_started(&recovery, 0);
    assert_false(plx_recovery_tick(&recovery, 15 * S));
    assert_int_equal(recovery.state, PLX_STATE_STARTING);
    assert_true(plx_recovery_tick(&recovery, 15 * S + 1));
}

static void a_source_without_pairs_is_no_hang_at_first(void **state)
{
    (void)state;
    struct plx_recovery recovery = running_at(10 * S);
    int64_t now = 10 * S;
    for (; now <= 10 * S + 10 * S; now += 100 * MS) {
        plx_recovery_progress(&recovery, PLX_THREAD_WORK, PLX_WATCHED_SOURCE, now);
        plx_recovery_waiting(&recovery, now, 0, false);
        assert_false(plx_recovery_tick(&recovery, now));
        assert_int_equal(recovery.state, now > 11 * S ? PLX_STATE_RECOVERING : PLX_STATE_RUNNING);
    }
    plx_recovery_waiting(&recovery, now, 0, false);
    assert_true(plx_recovery_tick(&recovery, now));
}

/* A recording with a gap of a minute, as the engine tells of it, and then with a source that has nothing when its time comes.
 */
static void a_gap_in_a_recording_is_waited_out(void **state)
{
    (void)state;
    struct plx_recovery recovery = running_at(10 * S);
    const int64_t due = 70 * S;
    int64_t now = 10 * S;
    for (; now <= due; now += 100 * MS) {
        plx_recovery_progress(&recovery, PLX_THREAD_WORK, PLX_WATCHED_SOURCE, now);
        plx_recovery_waiting(&recovery, now, 0, false);
        plx_recovery_scheduled(&recovery, now, due);
        assert_false(plx_recovery_tick(&recovery, now));
        assert_true(plx_recovery_is_well(&recovery, now));
        assert_int_equal(recovery.state, now > 11 * S ? PLX_STATE_DEGRADED : PLX_STATE_RUNNING);
        assert_int_equal(recovery.health, now > 11 * S ? PLX_HEALTH_NO_FRAMES : 0);
    }
    for (; now <= due + 10 * S; now += 100 * MS) { /* from then on the usual budgets hold */
        plx_recovery_progress(&recovery, PLX_THREAD_WORK, PLX_WATCHED_SOURCE, now);
        plx_recovery_waiting(&recovery, now, 0, false);
        assert_false(plx_recovery_tick(&recovery, now));
    }
    assert_int_equal(recovery.state, PLX_STATE_RECOVERING);
    plx_recovery_waiting(&recovery, now, 0, false);
    assert_true(plx_recovery_tick(&recovery, now));
}

/* A service that starts without its cameras: no engine is late, hangs or is replaced, and systemd hears that all is well. */
static void cameras_that_never_came_are_waited_for(void **state)
{
    (void)state;
    struct plx_recovery recovery;
    int64_t now = 10 * S;
    plx_recovery_init(&recovery, now);
    plx_recovery_started(&recovery, now);
    for (; now <= 10 * S + 3 * PLX_RECOVERY_BUDGET_NS; now += 100 * MS) {
        plx_recovery_waiting(&recovery, now, PLX_HEALTH_CAMERA_LOST_LEFT, true);
        assert_false(plx_recovery_tick(&recovery, now + 50 * MS));
        assert_false(recovery.late);
        assert_true(plx_recovery_is_well(&recovery, now));
        assert_int_equal(recovery.state, PLX_STATE_STARTING);
        assert_int_equal(recovery.health, PLX_HEALTH_CAMERA_LOST_LEFT);
    }
    plx_recovery_frame(&recovery, now, 0, PERIOD, MS);
    assert_int_equal(recovery.state, PLX_STATE_RUNNING);
    assert_int_equal(recovery.health, 0);
}

/* The thread that looks for cameras is stuck in a driver: what it said before counts no more. */
static void away_counts_only_while_somebody_looks(void **state)
{
    (void)state;
    const int64_t begin = 10 * S, warn = plx_budget_warn_ns(PLX_WATCHED_DRIVER_CALL, 0),
                  fatal = plx_budget_fatal_ns(PLX_WATCHED_DRIVER_CALL, 0);
    struct plx_recovery recovery;
    bool hangs = false;
    int64_t now;
    plx_recovery_init(&recovery, begin);
    plx_recovery_started(&recovery, begin);
    for (now = begin; !hangs; now += 100 * MS) {
        plx_recovery_progress(&recovery, PLX_THREAD_CAMERAS, PLX_WATCHED_DRIVER_CALL, begin);
        plx_recovery_progress(&recovery, PLX_THREAD_WORK, PLX_WATCHED_SOURCE, now);
        plx_recovery_waiting(&recovery, now, PLX_HEALTH_CAMERA_LOST_LEFT, true); /* its reader knows nothing of it */
        hangs = plx_recovery_tick(&recovery, now);
        assert_int_equal(recovery.late, now - begin > warn);
        assert_true(recovery.camera_lost_ns <= begin + warn);
        assert_true(now <= begin + fatal + 100 * MS);
    }
    assert_int_equal(recovery.suspect, PLX_THREAD_CAMERAS);
    assert_int_equal(plx_recovery_activity(&recovery)->doing, PLX_WATCHED_DRIVER_CALL);
    assert_true(recovery.health & PLX_HEALTH_LATE);

    plx_recovery_died(&recovery, now, false); /* and the next one is stuck in it before it has threads */
    plx_recovery_started(&recovery, now);
    const int64_t born = now;
    for (hangs = false; !hangs; now += 100 * MS) {
        plx_recovery_progress(&recovery, PLX_THREAD_WORK, PLX_WATCHED_DRIVER_CALL, born);
        hangs = plx_recovery_tick(&recovery, now);
    }
    assert_int_equal(plx_recovery_activity(&recovery)->doing, PLX_WATCHED_DRIVER_CALL);
    assert_true(now - born <= fatal + 200 * MS);
    assert_true(plx_recovery_is_well(&recovery, begin + PLX_RECOVERY_BUDGET_NS));
    assert_false(plx_recovery_is_well(&recovery, begin + warn + PLX_RECOVERY_BUDGET_NS + 1));
}

/* Each thread but the working one, busy with what is its own: idle is never late, busy is. */
static void any_thread_that_hangs_is_named(void **state)
{
    (void)state;
    static const struct {
        enum plx_thread thread;
        int what;
    } rows[] = {
        {PLX_THREAD_CAMERAS, PLX_WATCHED_CAMERAS},   {PLX_THREAD_CAMERAS, PLX_WATCHED_DRIVER_CALL},
        {PLX_THREAD_FEED, PLX_WATCHED_FEED},         {PLX_THREAD_DECODE, PLX_WATCHED_DECODE},
        {PLX_THREAD_DECODE + 3, PLX_WATCHED_DECODE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plx_recovery recovery = running_at(10 * S);
        const int64_t warn = plx_budget_warn_ns(rows[i].what, PERIOD), fatal = plx_budget_fatal_ns(rows[i].what, PERIOD);
        for (int64_t now = 10 * S; now <= 10 * S + fatal; now += 33 * MS) { /* frames come all the time */
            plx_recovery_frame(&recovery, now, 0, PERIOD, MS);
            plx_recovery_progress(&recovery, rows[i].thread, rows[i].what, 10 * S);
            assert_false(plx_recovery_tick(&recovery, now));
            assert_int_equal(recovery.late, now - 10 * S > warn);
            assert_int_equal(recovery.suspect, recovery.late ? rows[i].thread : PLX_THREAD_WORK);
        }
        assert_true(plx_recovery_tick(&recovery, 10 * S + fatal + 1));
        plx_recovery_frame(&recovery, 100 * S, 0, PERIOD, MS);
        plx_recovery_progress(&recovery, rows[i].thread, PLX_HEARTBEAT_IDLE, 10 * S);
        assert_false(plx_recovery_tick(&recovery, 100 * S));
        assert_false(recovery.late);
    }
}

/* Kept from running by other programs, for 90 of each 100 ms: late, and said to be so, but not replaced before it has had as
 * much of a processor as an engine that hangs on an idle machine. */
static void a_busy_machine_is_no_hang(void **state)
{
    (void)state;
    const int64_t fatal = plx_budget_fatal_ns(PLX_STAGE_SGM, PERIOD), warn = plx_budget_warn_ns(PLX_STAGE_SGM, PERIOD);
    struct plx_recovery recovery = running_at(10 * S);
    int64_t now = 10 * S;
    for (bool hangs = false; !hangs; now += 100 * MS) {
        plx_recovery_progress(&recovery, PLX_THREAD_WORK, PLX_STAGE_SGM, 10 * S);
        if (recovery.late)
            plx_recovery_delayed(&recovery, 90 * MS);
        hangs = plx_recovery_tick(&recovery, now);
        assert_int_equal(recovery.late, now - 10 * S > warn);
        assert_int_equal(recovery.held_up, now - 10 * S > fatal && !hangs);
    }
    assert_in_range(now - 10 * S, 9 * (fatal - warn), 11 * fatal);

    recovery = running_at(10 * S); /* and none of it is left for the next frame */
    plx_recovery_progress(&recovery, PLX_THREAD_WORK, PLX_STAGE_SGM, 10 * S);
    plx_recovery_delayed(&recovery, 5 * S);
    assert_false(plx_recovery_tick(&recovery, 12 * S));
    plx_recovery_frame(&recovery, 12 * S, 0, PERIOD, MS);
    plx_recovery_progress(&recovery, PLX_THREAD_WORK, PLX_STAGE_SGM, 12 * S);
    assert_true(plx_recovery_tick(&recovery, 12 * S + fatal + 1));
    assert_false(recovery.held_up);
}

static void an_engine_that_does_not_die_is_the_end_of_wellness(void **state)
{
    (void)state;
    struct plx_recovery recovery = running_at(10 * S);
    assert_true(plx_recovery_is_well(&recovery, 11 * S));
    plx_recovery_unkillable(&recovery);
    assert_false(plx_recovery_is_well(&recovery, 11 * S));
    assert_int_equal(recovery.state, PLX_STATE_FAILED);
    assert_false(plx_recovery_wants_engine(&recovery, 100 * S)); /* two would fight for the cameras */
    plx_recovery_died(&recovery, 12 * S, false);                 /* after all */
    assert_true(plx_recovery_is_well(&recovery, 12 * S));
    assert_true(plx_recovery_wants_engine(&recovery, 13 * S));
}

static void failed_when_the_budget_is_spent_and_running_again_with_a_frame(void **state)
{
    (void)state;
    struct plx_recovery recovery = running_at(10 * S);
    plx_recovery_died(&recovery, 10 * S, false);
    int64_t now = 10 * S + PLX_RECOVERY_BUDGET_NS;
    plx_recovery_tick(&recovery, now);
    assert_int_equal(recovery.state, PLX_STATE_RECOVERING);
    assert_true(plx_recovery_is_well(&recovery, now));
    plx_recovery_tick(&recovery, now + 1);
    assert_int_equal(recovery.state, PLX_STATE_FAILED);
    assert_false(plx_recovery_is_well(&recovery, now + 1));

    plx_recovery_started(&recovery, now + 1);
    plx_recovery_frame(&recovery, now + 2, 0, PERIOD, MS);
    plx_recovery_tick(&recovery, now + 3);
    assert_int_equal(recovery.state, PLX_STATE_RUNNING);
    assert_true(plx_recovery_is_well(&recovery, now + 3));
}

/* An engine that is stuck in one thing: flagged within three periods, lost and to be killed by the fatal budget. */
static void what_hangs_is_late_and_then_lost(void **state)
{
    (void)state;
    for (int what = 0; what <= PLX_WATCHED_PUBLISH; what++) {
        struct plx_recovery recovery = running_at(10 * S);
        const int64_t warn = plx_budget_warn_ns(what, PERIOD), fatal = plx_budget_fatal_ns(what, PERIOD);
        assert_true(what == PLX_WATCHED_SOURCE || warn <= 100 * MS + PERIOD);
        assert_true(warn < fatal && fatal <= 3 * S);
        plx_recovery_progress(&recovery, PLX_THREAD_WORK, what, 10 * S);
        assert_false(plx_recovery_tick(&recovery, 10 * S + warn));
        assert_int_equal(recovery.state, PLX_STATE_RUNNING);
        assert_false(recovery.late);
        assert_false(plx_recovery_tick(&recovery, 10 * S + warn + 1));
        assert_int_equal(recovery.state, PLX_STATE_DEGRADED);
        assert_int_equal(recovery.health, PLX_HEALTH_LATE);
        assert_true(recovery.late);
        assert_int_equal(plx_recovery_activity(&recovery)->doing, what);
        assert_false(plx_recovery_tick(&recovery, 10 * S + fatal));
        assert_true(plx_recovery_tick(&recovery, 10 * S + fatal + 1));
        assert_int_equal(recovery.state, PLX_STATE_RECOVERING);

        plx_recovery_frame(&recovery, 12 * S, 0, PERIOD, MS); /* it was slow after all */
        assert_int_equal(recovery.state, PLX_STATE_RUNNING);
        assert_int_equal(recovery.health, 0);
    }
}

static void a_silent_camera_is_flagged_by_its_name(void **state)
{
    (void)state;
    struct plx_recovery recovery = running_at(10 * S);
    /* A frame is news no longer than silence goes unflagged, and at a slow rate until the next one is overdue. */
    assert_int_equal(plx_budget_fresh_ns(PERIOD), 250 * MS);
    assert_int_equal(plx_budget_fresh_ns(0), 250 * MS);
    assert_int_equal(plx_budget_fresh_ns(S), 3 * S);
    assert_int_equal(plx_budget_fresh_ns(3600 * S), 3 * S); /* however slow: a robot does not act by what was */
    for (int64_t pace = MS; pace < 5 * S; pace += MS)
        assert_true(plx_budget_fresh_ns(pace) < plx_budget_warn_ns(PLX_WATCHED_LEFT, pace));
    assert_int_equal(plx_budget_health(PLX_WATCHED_LEFT), PLX_HEALTH_CAMERA_LOST_LEFT);
    assert_int_equal(plx_budget_health(PLX_WATCHED_RIGHT), PLX_HEALTH_CAMERA_LOST_RIGHT);
    plx_recovery_waiting(&recovery, 10 * S + 600 * MS, PLX_HEALTH_CAMERA_LOST_RIGHT, false);
    assert_int_equal(recovery.state, PLX_STATE_DEGRADED);
    assert_int_equal(recovery.health, PLX_HEALTH_CAMERA_LOST_RIGHT);
}

static void every_row_of_the_health_table_is_filled(void **state)
{
    (void)state;
    for (int thread = 0; thread < PLX_THREAD_COUNT; thread++)
        assert_non_null(plx_budget_thread(thread));
    for (int what = 0; what < PLX_WATCHED_COUNT; what++) {
        assert_non_null(plx_budget_name(what));
        assert_true(plx_budget_warn_ns(what, 0) > 0 && plx_budget_warn_ns(what, 0) < plx_budget_fatal_ns(what, 0));
        assert_true(plx_budget_warn_ns(what, S) <= plx_budget_fatal_ns(what, S));
        assert_true((plx_budget_health(what) != 0) == (what != PLX_WATCHED_SENSORS)); /* no frame waits for those */
    }
    assert_string_equal(plx_budget_name(PLX_STAGE_SGM), "stage sgm");
    assert_string_equal(plx_budget_name(254), plx_budget_name(PLX_WATCHED_START)); /* a damaged mark */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_at_once_and_runs_with_the_first_frame),
        cmocka_unit_test(a_new_engine_is_not_late),
        cmocka_unit_test(back_off_grows_to_its_limit_and_shrinks_after_a_stable_run),
        cmocka_unit_test(what_is_missing_is_waited_for_for_ever),
        cmocka_unit_test(planned_ends_cost_no_back_off),
        cmocka_unit_test(silence_is_a_hang_after_a_second_or_some_periods),
        cmocka_unit_test(an_engine_may_take_its_time_to_start_but_not_for_ever),
        cmocka_unit_test(a_source_without_pairs_is_no_hang_at_first),
        cmocka_unit_test(what_hangs_is_late_and_then_lost),
        cmocka_unit_test(a_silent_camera_is_flagged_by_its_name),
        cmocka_unit_test(every_row_of_the_health_table_is_filled),
        cmocka_unit_test(a_gap_in_a_recording_is_waited_out),
        cmocka_unit_test(cameras_that_never_came_are_waited_for),
        cmocka_unit_test(away_counts_only_while_somebody_looks),
        cmocka_unit_test(any_thread_that_hangs_is_named),
        cmocka_unit_test(a_busy_machine_is_no_hang),
        cmocka_unit_test(an_engine_that_does_not_die_is_the_end_of_wellness),
        cmocka_unit_test(failed_when_the_budget_is_spent_and_running_again_with_a_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
