/* SPDX-License-Identifier: Apache-2.0 */
/* A GPU that is lost under the real supervisor and engine; the GPU is the CPU under another name (faulty.c), so that any
 * machine can lose one. */
#include "tests/system/fault.h"

#include "app/supervisor/recovery.h"
#include "tests/command.h"

static const char *const gpu_args[] = {SMALL, "--set", "backend=gpu", NULL};

/* The next frame that the CPU made in the GPU's place, or not; others may come first. */
static struct plx_frame frame_from(struct plx_client *client, bool fallback)
{
    const int64_t deadline = now_ms() + patience_ms();
    struct plx_frame frame;

    do {
        assert_true(now_ms() < deadline);
        frame = whole_frame(client, START_MS);
    } while (((frame.health & PLX_HEALTH_GPU_FALLBACK) != 0) != fallback);
    return frame;
}

/* Frames of the GPU, its losses, then the CPU's frames, flagged. */
static struct plx_client *lose_gpu(const char *const *args)
{
    daemon_.fault = "lose 3";
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    assert_int_equal(whole_frame(client, START_MS).health & PLX_HEALTH_GPU_FALLBACK, 0);
    wait_until_said("the GPU was lost 3 times", START_MS);
    const struct plx_frame frame = frame_from(client, true);
    assert_int_equal(frame.state, PLX_STATE_DEGRADED);
    for (int i = 0; i < 15; i++) /* more than the GPU ever gave */
        assert_true(frame_from(client, true).epoch == frame.epoch);
    assert_int_equal(plx_state(client), PLX_STATE_DEGRADED);
    assert_true(plx_health(client) & PLX_HEALTH_GPU_FALLBACK);
    expect_reason(client, "the GPU was lost 3 times, and the CPU replaces it: engine failed: the pipeline: the GPU of ");
    assert_int_equal(plx_restarts(client), PLX_GPU_FALLBACK_LOSSES);
    return client;
}

static void the_cpu_works_when_the_gpu_is_lost_again_and_again(void **state)
{
    (void)state;
    static const char *const auto_args[] = {SMALL, "--set", "backend=auto", NULL};
    struct plx_client *client = lose_gpu(auto_args);
    stop_daemon();
    plx_disconnect(client);
}

/* A GPU that does not answer: the engine hangs, is replaced in its time, and after the third time the CPU works. */
static void a_gpu_that_hangs_costs_engines_and_then_the_cpu_works(void **state)
{
    (void)state;
    daemon_.fault = "stall 3";
    daemon_start(&daemon_, gpu_args);
    struct plx_client *client = connect_client();
    const struct plx_frame first = whole_frame(client, START_MS);
    const int64_t begin_ms = now_ms();
    assert_int_equal(first.health & PLX_HEALTH_GPU_FALLBACK, 0);
    for (uint32_t engines = 1; engines < PLX_GPU_FALLBACK_LOSSES; engines++) /* back within 3 s and the back-off, each time */
        while (plx_restarts(client) < engines)
            assert_true(whole_frame(client, 3000 + 500).epoch == first.epoch);
    wait_until_said("the GPU was lost 3 times", START_MS);
    assert_int_equal(frame_from(client, true).state, PLX_STATE_DEGRADED);
    print_message("    the CPU works %d ms after the first frame\n", (int)(now_ms() - begin_ms));
    expect_reason(client, "the GPU was lost 3 times, and the CPU replaces it: the engine gives no frames (");
    stop_daemon();
    plx_disconnect(client);
}

/* With backend auto a machine without a GPU is served by its CPU: no fault, and the reason names the cause. */
static void why_the_cpu_works_is_published(void **state)
{
    (void)state;
    static const char *const auto_args[] = {SMALL, "--set", "backend=auto", NULL};
    static const char words[] = "backend is auto, and the CPU works: the GPU of \"PLX_FAULT\" is gone";
    struct command status;

    daemon_.fault = "lose 0";
    daemon_start(&daemon_, auto_args);
    struct plx_client *client = connect_client();
    assert_int_equal(running_frame(client, START_MS).health & PLX_HEALTH_GPU_FALLBACK, 0);
    expect_reason(client, words);
    command_run(&status, (const char *const[]){"status", "--socket", daemon_.socket, NULL});
    assert_int_equal(status.code, 0);
    assert_non_null(strstr(status.out, words));
    command_free(&status);
    command_run(&status, (const char *const[]){"metrics", "--socket", daemon_.socket, NULL});
    assert_non_null(
        strstr(status.out, "\nparallax_reason_info{reason=\"backend is auto, and the CPU works: the GPU of \\\"PLX_FAULT"));
    command_free(&status);
    stop_daemon();
    plx_disconnect(client);
}

/* The words of CUDA, which sound like a fault, are neither in the log nor in the reason. */
static void a_machine_without_gpu_has_no_fault(void **state)
{
    (void)state;
    static const char *const auto_args[] = {SMALL, "--set", "backend=auto", NULL};
    daemon_.fault = "absent gpu 0";
    daemon_start(&daemon_, auto_args);
    struct plx_client *client = connect_client();
    const struct plx_frame frame = running_frame(client, START_MS);
    assert_int_equal(frame.health & PLX_HEALTH_GPU_FALLBACK, 0);
    assert_int_equal(frame.state, PLX_STATE_RUNNING);
    expect_reason(client, "no NVIDIA GPU here: computing on the CPU");
    assert_non_null(strstr(daemon_said(&daemon_), "no NVIDIA GPU here: computing on the CPU"));
    assert_null(strstr(daemon_said(&daemon_), "CUDA"));
    stop_daemon();
    plx_disconnect(client);
}

/* Asked for, it is a fault, and the exit code is that of a wrong configuration. */
static void a_gpu_that_is_asked_for_and_absent_is_an_error(void **state)
{
    (void)state;
    daemon_.fault = "absent gpu 0";
    daemon_start(&daemon_, gpu_args);
    assert_int_equal(daemon_wait(&daemon_, START_MS), 78);
    assert_non_null(strstr(daemon_said(&daemon_), "backend is gpu, but there is no GPU that CUDA can use: no CUDA-capable"));
}

static void a_gpu_that_works_again_is_used_again(void **state)
{
    (void)state;
    const int wait_ms = (int)(PLX_GPU_FALLBACK_PAUSE_MIN_NS / PLX_NS_PER_MS) + RECOVER_MS;
    if (!fault_full()) {
        print_message("    skipped: it takes %d s; ./dev test faults has it\n", wait_ms / 1000);
        skip();
    }
    struct plx_client *client = lose_gpu(gpu_args);
    wait_until_said("the GPU works again", wait_ms);
    frame_from(client, false);
    wait_until_said("the GPU was lost 4 times; the CPU replaces it, and the GPU is probed in 60 s", START_MS);
    frame_from(client, true);
    stop_daemon();
    plx_disconnect(client);
}

static void a_gpu_that_is_not_there_at_the_start_is_said_and_not_worked_around(void **state)
{
    (void)state;
    daemon_.fault = "lose 0";
    daemon_start(&daemon_, gpu_args);
    assert_int_equal(daemon_wait(&daemon_, START_MS), 69);
    assert_non_null(strstr(daemon_said(&daemon_), "backend is gpu"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)
    const struct CMUnitTest tests[] = {
        TEST(the_cpu_works_when_the_gpu_is_lost_again_and_again),
        TEST(a_gpu_that_hangs_costs_engines_and_then_the_cpu_works),
        TEST(why_the_cpu_works_is_published),
        TEST(a_machine_without_gpu_has_no_fault),
        TEST(a_gpu_that_is_asked_for_and_absent_is_an_error),
        TEST(a_gpu_that_works_again_is_used_again),
        TEST(a_gpu_that_is_not_there_at_the_start_is_said_and_not_worked_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
