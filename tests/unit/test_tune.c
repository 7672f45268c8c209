/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax tune`: it keeps the schedule of the fastest frames; its file comes back where it holds, and is refused with its
 * place everywhere else. Its measurement needs a GPU (parity/test_tune). */
#include <string.h>

#include <parallax/error.h>

#include "app/cli/offline/tune_frames.h"
#include "app/tune.h"
#include "app/version.h"
#include "gpu/gpu.h"
#include "tests/cmocka.h"
#include "tests/scratch.h"

static struct scratch scratch;
static struct plx_match match;
static struct plx_tune_conditions here = {"NVIDIA Orin, 16 multiprocessors", 640, 480, &match};

static int begin(void **state)
{
    (void)state;
    plx_match_default(&match);
    match.disparities = 64;
    return scratch_begin(&scratch, "tune.yaml");
}

static int end(void **state)
{
    (void)state;
    scratch_end(&scratch);
    return 0;
}

static void skip_without_schedules(void)
{
    if (!plx_gpu_schedule_name(0))
        skip(); /* built without CUDA */
}

/* It must be refused with ERROR, in one line that has VALUE_BYTES, and leave the schedule alone. */
static void assert_refused(const struct plx_tune_conditions *conditions, int error, const char *words)
{
    struct plx_error_message message = {""};
    int schedule = -7;
    assert_int_equal(plx_tune_load(scratch.path, conditions, &schedule, &message), error);
    assert_int_equal(schedule, -7);
    if (!strstr(message.text, words) || strchr(message.text, '\n'))
        fail_msg("\"%s\" does not say \"%s\"", message.text, words);
}

static void every_schedule_is_read_back(void **state)
{
    (void)state;
    skip_without_schedules();
    for (int schedule = 0; schedule < PLX_GPU_SCHEDULES; schedule++) {
        struct plx_error_message message = {""};
        int loaded = -1;
        assert_int_equal(plx_tune_save(scratch.path, &here, schedule, 1.25, &message), 0);
        assert_int_equal(plx_tune_load(scratch.path, &here, &loaded, &message), 0);
        assert_int_equal(loaded, schedule);
    }
}

static void a_file_for_something_else_is_refused(void **state)
{
    (void)state;
    skip_without_schedules();
    struct plx_match other = match;
    struct plx_tune_conditions there = here;

    assert_int_equal(plx_tune_save(scratch.path, &here, 1, 1.25, NULL), 0);
    there.device = "NVIDIA Orin, 8 multiprocessors";
    assert_refused(&there, PLX_ERR_UNSUPPORTED,
                   "tune.yaml:3:9: measured for device \"NVIDIA Orin, 16 multiprocessors\", but here");
    there = here;
    there.width = 641;
    assert_refused(&there, PLX_ERR_UNSUPPORTED, "picture \"640 x 480\", but here it is \"641 x 480\"; run parallax tune");
    there = here;
    there.match = &other;
    other.paths = 4;
    assert_refused(&there, PLX_ERR_UNSUPPORTED, "4 paths");
    other = match;
    other.disparities = 128;
    assert_refused(&there, PLX_ERR_UNSUPPORTED, "128 disparities");
    other = match;
    other.p2_scale = 0;
    assert_refused(&there, PLX_ERR_UNSUPPORTED, "P2 fixed");
}

static void write_text(const char *text)
{
    assert_int_equal(scratch_write(&scratch, text, strlen(text)), 0);
}

static void another_kind_of_file_is_refused(void **state)
{
    (void)state;
    char text[512];

    assert_refused(&here, PLX_ERR_NOT_FOUND, "tune.yaml");
    write_text("");
    assert_refused(&here, PLX_ERR_FORMAT, "tune.yaml: expected the key version");
    write_text("- 1\n- 2\n");
    assert_refused(&here, PLX_ERR_FORMAT, "expected the key version");
    write_text("version: [0, 1]\n");
    assert_refused(&here, PLX_ERR_FORMAT, "tune.yaml:1:10: expected the key version with a text");
    write_text("version: {\n");
    assert_refused(&here, PLX_ERR_FORMAT, "tune.yaml:");
    write_text("version: 0.0.0-foreign\n");
    assert_refused(&here, PLX_ERR_UNSUPPORTED, "tune.yaml:1:10: measured for version \"0.0.0-foreign\"");
    snprintf(text, sizeof text,
             "version: %s\ndevice: %s\npicture: 640 x 480\nmatch: 64 disparities, 8 paths, P2 varies\nschedule: sideways\n",
             plx_version, here.device);
    write_text(text);
    assert_refused(&here, PLX_ERR_UNSUPPORTED, "tune.yaml:5:11: unknown schedule \"sideways\"");
}

static void a_place_that_cannot_be_written_is_named(void **state)
{
    (void)state;
    skip_without_schedules();
    struct plx_error_message message = {""};
    assert_int_equal(plx_tune_save("/nonexistent/directory/tune.yaml", &here, 0, 1, &message), PLX_ERR_NOT_FOUND);
    assert_non_null(strstr(message.text, "/nonexistent/directory/tune.yaml"));
}

static void the_fastest_frame_wins(void **state)
{
    (void)state;
    const struct plx_tune_time none = {.runs = false}, slow_stage = {true, 3.0, 1.5}, fast_stage = {true, 3.5, 0.5},
                               slowest = {true, 4.0, 1.0};
    const struct {
        struct plx_tune_time time[PLX_GPU_SCHEDULES];
        int fastest;
    } table[] = {
        {{slow_stage, fast_stage, slowest}, 0}, {{slowest, fast_stage, slow_stage}, 2}, {{none, slowest, none}, 1},
        {{none, slowest, fast_stage}, 2},       {{slow_stage, slow_stage, none}, 0},    {{none, none, none}, -1},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_int_equal(plx_tune_fastest(table[i].time), table[i].fastest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_frame_wins),
        cmocka_unit_test_setup_teardown(every_schedule_is_read_back, begin, end),
        cmocka_unit_test_setup_teardown(a_file_for_something_else_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(another_kind_of_file_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_place_that_cannot_be_written_is_named, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
