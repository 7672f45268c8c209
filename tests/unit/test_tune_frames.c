/* SPDX-License-Identifier: Apache-2.0 */
/* How `parallax tune` measures: frames of the CPU, and schedules of a fake GPU (the linker puts the functions below in front of
 * the real ones). */
#include <string.h>

#include <parallax/error.h>

#include "app/cli/offline/tune_frames.h"
#include "cpu/cpu.h"
#include "gpu/gpu.h"
#include "tests/cmocka.h"

#define MAX_TURNS 100
#define REFUSED 1 /* the schedule in whose place the fake takes another */

static int in_force;
static int turn[MAX_TURNS], turns; /* the schedules that were set, in order */

int __wrap_plx_gpu_set_schedule(struct plx_stages *stages, int schedule);
void __wrap_plx_gpu_plan(const struct plx_stages *stages, int width, int height, const struct plx_match *match,
                         struct plx_gpu_plan *ret_plan);
const char *__wrap_plx_gpu_schedule_name(int schedule);

int __wrap_plx_gpu_set_schedule(struct plx_stages *stages, int schedule)
{
    (void)stages;
    assert_true(turns < MAX_TURNS);
    turn[turns++] = in_force = schedule;
    return 0;
}

void __wrap_plx_gpu_plan(const struct plx_stages *stages, int width, int height, const struct plx_match *match,
                         struct plx_gpu_plan *ret_plan)
{
    (void)stages;
    assert_true(width == 160 && height == 120 && match->disparities == 64);
    *ret_plan = (struct plx_gpu_plan){.schedule = in_force == REFUSED ? 0 : in_force};
}

const char *__wrap_plx_gpu_schedule_name(int schedule)
{
    static const char *const name[PLX_GPU_SCHEDULES] = {"first", "second", "third"};
    return name[schedule];
}

static struct fixture_kind kind = {160, 120, PLX_FORMAT_GREY, true, {.refine = false}, NULL};
static struct fixture fixture;

static int begin(void **state)
{
    struct plx_error_message message = {""};
    struct plx_stages *stages;
    (void)state;
    plx_pipeline_params_default(&kind.params);
    kind.params.match.disparities = 64;
    kind.params.motion = PLX_MOTION_VISUAL;
    const struct plx_limits limits = fixture_limits(&kind);
    in_force = -1;
    turns = 0;
    return plx_cpu_create(&limits, &stages) < 0 || fixture_open(stages, &kind, &fixture, &message) < 0 ? -1 : 0;
}

static int end(void **state)
{
    (void)state;
    fixture_close(&fixture);
    return 0;
}

static void schedules_that_run_take_turns(void **state)
{
    (void)state;
    const struct plx_frame *frame = fixture.frame;
    struct plx_tune_time time[PLX_GPU_SCHEDULES];
    struct plx_error_message message = {""};

    assert_int_equal(plx_tune_frames(&fixture, &kind, time, &message), 0);
    for (int schedule = 0; schedule < PLX_GPU_SCHEDULES; schedule++) {
        assert_int_equal(time[schedule].runs, schedule != REFUSED);
        if (schedule != REFUSED)
            assert_true(time[schedule].sgm_ms > 0 && time[schedule].frame_ms > time[schedule].sgm_ms);
    }
    assert_true(turns > PLX_GPU_SCHEDULES + 2 * PLX_TUNE_TURNS); /* behind those that ask what runs */
    for (int i = PLX_GPU_SCHEDULES; i < turns - 1; i++)
        assert_int_equal(turn[i], (i - PLX_GPU_SCHEDULES) % 2 == 0 ? 0 : 2);
    assert_int_equal(in_force, -1); /* by itself again */
    assert_ptr_equal(fixture.frame, frame);
}

static void a_frame_that_fails_names_its_schedule(void **state)
{
    (void)state;
    const struct plx_frame *frame = fixture.frame;
    const struct plx_raw whole = fixture.raw[1][PLX_LEFT];
    struct plx_tune_time time[PLX_GPU_SCHEDULES] = {{.frame_ms = 7}};
    struct plx_error_message message = {""};

    fixture.raw[1][PLX_LEFT].width = 7;
    assert_true(plx_tune_frames(&fixture, &kind, time, &message) < 0);
    fixture.raw[1][PLX_LEFT] = whole;
    assert_non_null(strstr(message.text, "cannot measure first: "));
    assert_true(time[0].frame_ms == 7); /* untouched */
    assert_int_equal(in_force, -1);
    assert_ptr_equal(fixture.frame, frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(schedules_that_run_take_turns, begin, end),
        cmocka_unit_test_setup_teardown(a_frame_that_fails_names_its_schedule, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
