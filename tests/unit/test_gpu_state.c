/* SPDX-License-Identifier: Apache-2.0 */
/* What is published of a GPU that is lost: which reason counts, and when the CPU's frames are a fault. */
#include <signal.h>
#include <string.h>

#include "app/log.h"
#include "app/supervisor/gpu_state.h"
#include "tests/cmocka.h"

#define S PLX_NS_PER_S

static struct plx_gpu_state gpu;

static const struct plx_engine_end lost = {.failed = true, .gpu_lost = true}, other = {.failed = true};

static char logged[512];
static int lines;

static void keep_line(void *context, int level, const char *line)
{
    (void)context;
    (void)level;
    snprintf(logged, sizeof logged, "%s", line);
    lines++;
}

/* The log got one line since the last call, or none where WORDS is NULL. */
static void expect_logged(const char *words)
{
    assert_int_equal(lines, words ? 1 : 0);
    if (words && !strstr(logged, words))
        fail_msg("\"%s\", expected \"%s\"", logged, words);
    lines = 0;
}

static void expect_reason(const char *words)
{
    if (*words ? !strstr(gpu.reason.text, words) : *gpu.reason.text)
        fail_msg("\"%s\", expected \"%s\"", gpu.reason.text, words);
}

/* A GPU that gave frames and was lost as often as makes the CPU take its place. */
static void lose_gpu(void)
{
    gpu = (struct plx_gpu_state){.reason = {""}};
    plx_gpu_state_frame(&gpu, S, true, false);
    for (int i = 0; i < PLX_GPU_FALLBACK_LOSSES; i++) {
        assert_false(gpu.fallback.active);
        expect_reason("");
        plx_gpu_state_engine_ended(&gpu, 2 * S, &lost, "it fell off the bus");
    }
    assert_true(gpu.fallback.active);
    expect_logged("the GPU was lost 3 times; the CPU replaces it, and the GPU is probed in 30 s");
}

static void frames_of_the_gpu_are_expected_where_it_is_asked_for_or_worked(void **state)
{
    (void)state;
    gpu = (struct plx_gpu_state){.reason = {""}};
    assert_true(plx_gpu_state_is_expected(&gpu, PLX_BACKEND_GPU));
    assert_false(plx_gpu_state_is_expected(&gpu, PLX_BACKEND_AUTO));
    assert_false(plx_gpu_state_is_expected(&gpu, PLX_BACKEND_CPU));
    plx_gpu_state_frame(&gpu, S, false, false);
    assert_false(plx_gpu_state_is_expected(&gpu, PLX_BACKEND_AUTO));
    plx_gpu_state_frame(&gpu, S, true, false);
    assert_true(plx_gpu_state_is_expected(&gpu, PLX_BACKEND_AUTO));
    assert_false(plx_gpu_state_is_expected(&gpu, PLX_BACKEND_CPU));
}

static void a_note_counts_until_the_next_engine(void **state)
{
    (void)state;
    struct plx_error_message note;
    gpu = (struct plx_gpu_state){.reason = {""}};
    plx_say(&note, "no NVIDIA GPU here");
    plx_gpu_state_note(&gpu, &note);
    expect_reason("no NVIDIA GPU here");
    plx_gpu_state_engine_started(&gpu);
    expect_reason("");
}

/* The loss is more important than what an engine on the CPU says, and no new engine ends it. */
static void a_lost_gpu_is_the_reason_until_it_works_again(void **state)
{
    (void)state;
    struct plx_error_message note;
    lose_gpu();
    expect_reason("the GPU was lost 3 times, and the CPU replaces it: it fell off the bus");
    plx_say(&note, "backend is auto, and the CPU works");
    plx_gpu_state_note(&gpu, &note);
    plx_gpu_state_engine_started(&gpu);
    plx_gpu_state_engine_ended(&gpu, 3 * S, &lost, "something else"); /* by then it is the CPU's engine */
    expect_reason("it fell off the bus");
    expect_logged(NULL);
    plx_gpu_state_probed(&gpu, 40 * S, false, "the driver does not answer");
    expect_logged("the GPU is still lost, and is probed again in 60 s: the driver does not answer");
    expect_reason("the GPU is lost, and the CPU replaces it: the driver does not answer");
    assert_true(gpu.fallback.active);
    assert_int_equal(gpu.fallback.retry_ns, 40 * S + 2 * PLX_GPU_FALLBACK_PAUSE_MIN_NS);
    plx_gpu_state_probed(&gpu, 100 * S, true, "");
    expect_logged("the GPU works again");
    assert_false(gpu.fallback.active);
    plx_gpu_state_engine_started(&gpu);
    expect_reason("");
}

static void an_engine_that_ends_for_another_cause_is_no_loss(void **state)
{
    (void)state;
    gpu = (struct plx_gpu_state){.reason = {""}};
    plx_gpu_state_frame(&gpu, S, true, false);
    for (int i = 0; i < 10; i++)
        plx_gpu_state_engine_ended(&gpu, 2 * S, &other, "no camera");
    assert_false(gpu.fallback.active);
    expect_reason("");
}

/* With backend auto a GPU that is gone at the start of an engine costs no loss: the engine took the CPU. */
static void a_gpu_that_is_gone_is_replaced_by_the_first_frame(void **state)
{
    (void)state;
    gpu = (struct plx_gpu_state){.reason = {""}};
    plx_gpu_state_frame(&gpu, S, true, true);
    expect_logged(NULL);
    plx_gpu_state_frame(&gpu, 2 * S, false, true);
    expect_logged("the GPU that worked before is gone");
    assert_true(gpu.fallback.active);
    assert_int_equal(gpu.fallback.retry_ns, 2 * S + PLX_GPU_FALLBACK_PAUSE_MIN_NS);
    plx_gpu_state_frame(&gpu, 3 * S, false, true); /* the time until the probe does not begin anew */
    expect_logged(NULL);
    assert_int_equal(gpu.fallback.retry_ns, 2 * S + PLX_GPU_FALLBACK_PAUSE_MIN_NS);
}

int main(void)
{
    plx_log_copy(keep_line, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_the_gpu_are_expected_where_it_is_asked_for_or_worked),
        cmocka_unit_test(a_note_counts_until_the_next_engine),
        cmocka_unit_test(a_lost_gpu_is_the_reason_until_it_works_again),
        cmocka_unit_test(an_engine_that_ends_for_another_cause_is_no_loss),
        cmocka_unit_test(a_gpu_that_is_gone_is_replaced_by_the_first_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
