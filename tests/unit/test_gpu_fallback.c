/* SPDX-License-Identifier: Apache-2.0 */
/* When the CPU takes the GPU's place and when the GPU gets it back, with a clock of the test's own. */
#include <signal.h>

#include "app/supervisor/recovery.h"
#include "core/checks/health_table.h"
#include "tests/cmocka.h"

#define S PLX_NS_PER_S

static struct plx_gpu_fallback on_gpu(void)
{
    struct plx_gpu_fallback gpu_fallback = {0};
    plx_gpu_fallback_frame(&gpu_fallback, S, true, false);
    return gpu_fallback;
}

static void the_cpu_takes_over_after_three_losses(void **state)
{
    (void)state;
    struct plx_gpu_fallback gpu_fallback = on_gpu();
    for (int i = 1; i < PLX_GPU_FALLBACK_LOSSES; i++) {
        plx_gpu_fallback_lost(&gpu_fallback, i * S);
        assert_false(gpu_fallback.active);
    }
    plx_gpu_fallback_lost(&gpu_fallback, 10 * S);
    assert_true(gpu_fallback.active);
    plx_gpu_fallback_frame(&gpu_fallback, 11 * S, false, true); /* the CPU's frames change nothing */
    assert_true(gpu_fallback.active);
    assert_int_equal(gpu_fallback.retry_ns, 10 * S + PLX_GPU_FALLBACK_PAUSE_MIN_NS);
}

static void a_stable_run_forgives(void **state)
{
    (void)state;
    struct plx_gpu_fallback gpu_fallback = on_gpu();
    for (int i = 0; i < 10 * PLX_GPU_FALLBACK_LOSSES; i++) {
        plx_gpu_fallback_lost(&gpu_fallback, i * S);
        assert_false(gpu_fallback.active);
        plx_gpu_fallback_frame(&gpu_fallback, i * S, true, true);
    }
}

static void pauses_double_to_their_limit(void **state)
{
    (void)state;
    const int expected_s[] = {30, 60, 120, 240, 480, 600, 600};
    struct plx_gpu_fallback gpu_fallback = on_gpu();
    int64_t now = 100 * S;
    for (int i = 0; i < PLX_GPU_FALLBACK_LOSSES; i++)
        plx_gpu_fallback_lost(&gpu_fallback, now);
    for (size_t i = 0; i < sizeof expected_s / sizeof expected_s[0]; i++) {
        assert_false(plx_gpu_fallback_wants_probe(&gpu_fallback, now + expected_s[i] * S - 1));
        now += expected_s[i] * S;
        assert_true(plx_gpu_fallback_wants_probe(&gpu_fallback, now));
        plx_gpu_fallback_probed(&gpu_fallback, now, false);
        assert_true(gpu_fallback.active);
    }
}

static void one_more_loss_takes_a_regained_gpu_away_for_longer(void **state)
{
    (void)state;
    struct plx_gpu_fallback gpu_fallback = on_gpu();
    for (int i = 0; i < PLX_GPU_FALLBACK_LOSSES; i++)
        plx_gpu_fallback_lost(&gpu_fallback, S);
    plx_gpu_fallback_probed(&gpu_fallback, 40 * S, true);
    assert_false(gpu_fallback.active);
    assert_false(plx_gpu_fallback_wants_probe(&gpu_fallback, 1000 * S));
    plx_gpu_fallback_frame(&gpu_fallback, 41 * S, true, false);
    plx_gpu_fallback_lost(&gpu_fallback, 42 * S);
    assert_true(gpu_fallback.active);
    assert_int_equal(gpu_fallback.retry_ns, 42 * S + 2 * PLX_GPU_FALLBACK_PAUSE_MIN_NS);

    plx_gpu_fallback_probed(&gpu_fallback, 200 * S, true); /* and when it proves stable all is as it was */
    plx_gpu_fallback_frame(&gpu_fallback, 210 * S, true, true);
    plx_gpu_fallback_lost(&gpu_fallback, 211 * S);
    assert_false(gpu_fallback.active);
}

static void a_machine_without_a_gpu_misses_none(void **state)
{
    (void)state;
    struct plx_gpu_fallback gpu_fallback = {0};
    plx_gpu_fallback_frame(&gpu_fallback, S, false, true);
    assert_false(gpu_fallback.active || gpu_fallback.worked);
    gpu_fallback = on_gpu();
    plx_gpu_fallback_frame(&gpu_fallback, 2 * S, false, false); /* the engine chose the CPU by itself */
    assert_true(gpu_fallback.active);
    assert_true(plx_gpu_fallback_wants_probe(&gpu_fallback, 2 * S + PLX_GPU_FALLBACK_PAUSE_MIN_NS));
}

static void only_the_gpus_own_failures_are_losses(void **state)
{
    (void)state;
    static const struct {
        struct plx_engine_end end;
        bool loss;
    } rows[] = {
        {{.failed = true, .gpu_lost = true, .doing = PLX_WATCHED_SOURCE}, true}, /* it said so */
        {{.failed = true, .doing = PLX_STAGE_SGM}, false},                       /* it reported another cause */
        {{.signal = SIGSEGV, .doing = PLX_STAGE_SGM}, true},
        {{.signal = SIGABRT, .doing = PLX_WATCHED_GPU}, true},
        {{.signal = SIGKILL, .hung = true, .doing = PLX_STAGE_OBSTACLES}, true},
        {{.signal = SIGKILL, .hung = true, .doing = PLX_WATCHED_GPU}, true},
        {{.signal = SIGKILL, .hung = true, .doing = PLX_WATCHED_SOURCE}, false}, /* frozen, or a camera is silent */
        {{.signal = SIGKILL, .hung = true, .doing = PLX_WATCHED_PUBLISH}, false},
        {{.signal = SIGKILL, .hung = true, .doing = PLX_WATCHED_START}, false},
        {{.signal = SIGKILL, .hung = true, .doing = PLX_WATCHED_DRIVER_CALL}, false},
        {{.signal = SIGKILL, .hung = true, .doing = PLX_STAGE_MOTION}, false}, /* the CPU's in any case */
        {{.signal = SIGKILL, .hung = true, .doing = PLX_STAGE_TRACKS}, false},
        {{.signal = SIGKILL, .doing = PLX_STAGE_SGM}, false}, /* by somebody, or for lack of memory */
        {{.signal = SIGSEGV, .doing = PLX_WATCHED_SOURCE}, false},
        {{.doing = PLX_STAGE_SGM}, false}, /* it ended by itself */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (plx_gpu_fallback_is_loss(&rows[i].end) != rows[i].loss)
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
