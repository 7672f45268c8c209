/* SPDX-License-Identifier: Apache-2.0 */
/* When the CPU takes the GPU's place and when the GPU gets it back, with a clock of the test's own. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/supervisor/ladder.h"
#include "core/heartbeat.h"

#define S PLX_NS_PER_S

static struct plx_ladder on_gpu(void)
{
    struct plx_ladder ladder = {0};
    plx_ladder_frame(&ladder, S, true, false);
    return ladder;
}

static void the_cpu_takes_over_after_three_losses(void **state)
{
    (void)state;
    struct plx_ladder ladder = on_gpu();
    for (int i = 1; i < PLX_LADDER_LOSSES; i++) {
        plx_ladder_lost(&ladder, i * S);
        assert_false(ladder.fallen);
    }
    plx_ladder_lost(&ladder, 10 * S);
    assert_true(ladder.fallen);
    plx_ladder_frame(&ladder, 11 * S, false, true); /* the CPU's frames change nothing */
    assert_true(ladder.fallen);
    assert_int_equal(ladder.retry_ns, 10 * S + PLX_LADDER_PAUSE_MIN_NS);
}

static void a_stable_run_forgives(void **state)
{
    (void)state;
    struct plx_ladder ladder = on_gpu();
    for (int i = 0; i < 10 * PLX_LADDER_LOSSES; i++) {
        plx_ladder_lost(&ladder, i * S);
        assert_false(ladder.fallen);
        plx_ladder_frame(&ladder, i * S, true, true);
    }
}

static void pauses_double_to_their_limit(void **state)
{
    (void)state;
    const int expected_s[] = {30, 60, 120, 240, 480, 600, 600};
    struct plx_ladder ladder = on_gpu();
    int64_t now = 100 * S;
    for (int i = 0; i < PLX_LADDER_LOSSES; i++)
        plx_ladder_lost(&ladder, now);
    for (size_t i = 0; i < sizeof expected_s / sizeof expected_s[0]; i++) {
        assert_false(plx_ladder_wants_trial(&ladder, now + expected_s[i] * S - 1));
        now += expected_s[i] * S;
        assert_true(plx_ladder_wants_trial(&ladder, now));
        plx_ladder_tried(&ladder, now, false);
        assert_true(ladder.fallen);
    }
}

static void one_more_loss_takes_a_regained_gpu_away_for_longer(void **state)
{
    (void)state;
    struct plx_ladder ladder = on_gpu();
    for (int i = 0; i < PLX_LADDER_LOSSES; i++)
        plx_ladder_lost(&ladder, S);
    plx_ladder_tried(&ladder, 40 * S, true);
    assert_false(ladder.fallen);
    assert_false(plx_ladder_wants_trial(&ladder, 1000 * S));
    plx_ladder_frame(&ladder, 41 * S, true, false);
    plx_ladder_lost(&ladder, 42 * S);
    assert_true(ladder.fallen);
    assert_int_equal(ladder.retry_ns, 42 * S + 2 * PLX_LADDER_PAUSE_MIN_NS);

    plx_ladder_tried(&ladder, 200 * S, true); /* and when it proves stable all is as it was */
    plx_ladder_frame(&ladder, 210 * S, true, true);
    plx_ladder_lost(&ladder, 211 * S);
    assert_false(ladder.fallen);
}

static void a_machine_without_a_gpu_misses_none(void **state)
{
    (void)state;
    struct plx_ladder ladder = {0};
    plx_ladder_frame(&ladder, S, false, true);
    assert_false(ladder.fallen || ladder.worked);
    ladder = on_gpu();
    plx_ladder_frame(&ladder, 2 * S, false, false); /* the engine chose the CPU by itself */
    assert_true(ladder.fallen);
    assert_true(plx_ladder_wants_trial(&ladder, 2 * S + PLX_LADDER_PAUSE_MIN_NS));
}

static void only_the_gpus_own_failures_are_losses(void **state)
{
    (void)state;
    static const struct {
        struct plx_engine_end end;
        bool loss;
    } rows[] = {
        {{.failed = true, .gpu_lost = true, .doing = PLX_WATCHED_SOURCE}, true}, /* it said so */
        {{.failed = true, .doing = PLX_STAGE_SGM}, false},                       /* it said that something else was why */
        {{.signal = SIGSEGV, .doing = PLX_STAGE_SGM}, true},
        {{.signal = SIGABRT, .doing = PLX_WATCHED_GPU}, true},
        {{.signal = SIGKILL, .hung = true, .doing = PLX_STAGE_OBSTACLES}, true},
        {{.signal = SIGKILL, .hung = true, .doing = PLX_WATCHED_GPU}, true},
        {{.signal = SIGKILL, .hung = true, .doing = PLX_WATCHED_SOURCE}, false}, /* frozen, or a camera is silent */
        {{.signal = SIGKILL, .hung = true, .doing = PLX_WATCHED_PUBLISH}, false},
        {{.signal = SIGKILL, .hung = true, .doing = PLX_WATCHED_START}, false},
        {{.signal = SIGKILL, .hung = true, .doing = PLX_WATCHED_DRIVER_CALL}, false},
        {{.signal = SIGKILL, .hung = true, .doing = PLX_STAGE_TRACKS}, false}, /* the CPU's in any case */
        {{.signal = SIGKILL, .doing = PLX_STAGE_SGM}, false},                  /* by somebody, or for lack of memory */
        {{.signal = SIGSEGV, .doing = PLX_WATCHED_SOURCE}, false},
        {{.doing = PLX_STAGE_SGM}, false}, /* it ended by itself */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (plx_ladder_is_loss(&rows[i].end) != rows[i].loss)
            fail_msg("row %zu", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cpu_takes_over_after_three_losses),
        cmocka_unit_test(a_stable_run_forgives),
        cmocka_unit_test(pauses_double_to_their_limit),
        cmocka_unit_test(one_more_loss_takes_a_regained_gpu_away_for_longer),
        cmocka_unit_test(a_machine_without_a_gpu_misses_none),
        cmocka_unit_test(only_the_gpus_own_failures_are_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
