/* SPDX-License-Identifier: Apache-2.0 */
/* Which plan is in force in the course of a reload, and what the supervisor is told of it. */
#include "app/supervisor/reload.h"

#include <string.h>

#include "tests/cmocka.h"
#include "tests/unit/files.h"

static struct plx_reload reload;
static const struct plx_config_source source = {.path = NULL};

/* A service with a plan of 100 bytes and the default configuration. */
static void begin(void)
{
    static struct plx_config config; /* large */
    struct plx_error_message message;
    assert_int_equal(plx_config_read(&source, &config, &message), 0);
    plx_reload_init(&reload, &config);
    reload.plan.frame_bytes = 100;
}

static struct plx_report opens(uint32_t frame_bytes)
{
    return (struct plx_report){.kind = PLX_REPORT_PLAN, .frame_bytes = frame_bytes};
}

static struct plx_report fails(const char *sentence)
{
    struct plx_report report = {.kind = PLX_REPORT_FAILED};
    plx_say(&report.message, "%s", sentence);
    return report;
}

/* The file names another source: it needs an engine of its own. */
static void probe_another(void)
{
    const struct plx_report report = opens(200);
    begin();
    reload.candidate.config.source.width += 16;
    reload.phase = PLX_RELOAD_PROBING;
    assert_int_equal(plx_reload_probed(&reload, &report), PLX_RELOAD_OPENS);
}

static void the_first_answer_makes_the_plan_or_none(void **state)
{
    (void)state;
    const struct plx_report bad = fails("no camera"), good = opens(300);
    begin();
    reload.plan.frame_bytes = 0;
    assert_int_equal(plx_reload_probed(&reload, &bad), PLX_RELOAD_FIRST_FAILED);
    assert_false(plx_reload_has_plan(&reload));
    assert_string_equal(reload.refusal.text, "");
    assert_int_equal(plx_reload_probed(&reload, &good), PLX_RELOAD_FIRST_OPENS);
    assert_int_equal(reload.plan.frame_bytes, 300);
}

static void a_file_that_does_not_open_changes_nothing(void **state)
{
    (void)state;
    const struct plx_report report = fails("no camera");
    begin();
    reload.phase = PLX_RELOAD_PROBING;
    assert_int_equal(plx_reload_probed(&reload, &report), PLX_RELOAD_REFUSED);
    assert_int_equal(reload.phase, PLX_RELOAD_NONE);
    assert_int_equal(reload.plan.frame_bytes, 100);
    assert_string_equal(reload.refusal.text, "configuration kept as it was: no camera");
}

static void clients_see_the_old_configuration_until_the_new_one_publishes(void **state)
{
    (void)state;
    probe_another();
    assert_ptr_equal(plx_reload_config(&reload), &reload.plan.config);
    plx_reload_adopt(&reload, true);
    assert_int_equal(reload.plan.frame_bytes, 200);
    assert_ptr_equal(plx_reload_config(&reload), &reload.before.config);
    assert_false(plx_reload_is_complete(&reload, false)); /* the old engine still runs */
    plx_reload_engine_started(&reload);
    assert_ptr_equal(plx_reload_config(&reload), &reload.before.config);
    assert_false(plx_reload_is_complete(&reload, true)); /* the old engine had its cameras */
    assert_true(plx_reload_is_complete(&reload, false));
    plx_reload_accept(&reload, "");
    assert_ptr_equal(plx_reload_config(&reload), &reload.plan.config);
    assert_false(plx_reload_is_complete(&reload, false));
}

static void an_engine_that_looks_for_its_camera_will_do_where_no_frames_came(void **state)
{
    (void)state;
    probe_another();
    plx_reload_adopt(&reload, false);
    plx_reload_engine_started(&reload);
    assert_true(plx_reload_is_complete(&reload, true));
}

static void a_reload_is_rolled_back_once(void **state)
{
    (void)state;
    begin();
    assert_false(plx_reload_roll_back(&reload, "signal 11"));
    probe_another();
    assert_false(plx_reload_roll_back(&reload, "signal 11"));
    for (int started = 0; started < 2; started++) {
        probe_another();
        plx_reload_adopt(&reload, true);
        if (started)
            plx_reload_engine_started(&reload);
        assert_true(plx_reload_roll_back(&reload, "signal 11"));
        assert_int_equal(reload.plan.frame_bytes, 100);
        assert_string_equal(reload.refusal.text,
                            "configuration kept as it was: the new one opened but gave no frame: signal 11");
        assert_false(plx_reload_roll_back(&reload, "signal 11"));
    }
}

static void a_request_reads_the_file_again(void **state)
{
    (void)state;
    begin();
    plx_reload_request(&reload, false);
    assert_true(reload.requested);
    plx_say(&reload.refusal, "line 3 is wrong");
    assert_int_equal(plx_reload_begin(&reload, &source, true), PLX_RELOAD_APPLIED); /* the file is as it was */
    assert_false(reload.requested);
    assert_string_equal(reload.refusal.text, "");

    reload.plan.config.source.width += 16; /* not as the file has it now */
    assert_int_equal(plx_reload_begin(&reload, &source, true), PLX_RELOAD_NEEDS_PROBE);
    assert_int_equal(reload.phase, PLX_RELOAD_PROBING);

    begin();
    reload.plan.config.publish.slots++;
    assert_int_equal(plx_reload_begin(&reload, &source, true), PLX_RELOAD_REFUSED);
    assert_non_null(strstr(reload.refusal.text, "restart the service instead"));

    const struct plx_config_source missing = {.path = files_path("missing.yaml")};
    begin();
    assert_int_equal(plx_reload_begin(&reload, &missing, true), PLX_RELOAD_REFUSED);
    assert_int_equal(reload.plan.frame_bytes, 100);

    begin(); /* a first start that waits is tried at once, with the new file */
    assert_int_equal(plx_reload_begin(&reload, &source, false), PLX_RELOAD_FIRST_START);
    assert_false(plx_reload_has_plan(&reload));
}

/* Keys that a running engine takes are applied at once, unless the plan depends on a file besides: that may have changed too.
 */
static void a_calibration_is_read_again_whatever_key_has_changed(void **state)
{
    (void)state;
    static char calibration[] = "calibration=/a.yaml", replay[] = "source.type=replay", path[] = "source.path=/a",
                exposure[] = "exposure.damping=0.25";
    char *const assignment[][4] = {{exposure}, {calibration, exposure}, {replay, path, exposure}};
    static struct plx_config config; /* large */
    struct plx_error_message message;
    for (int i = 0; i < 3; i++) {
        const struct plx_config_source before = {.assignment = assignment[i], .assignments = i},
                                       now = {.assignment = assignment[i], .assignments = i + 1};
        for (int differs = 0; differs < 2; differs++) {
            struct plx_report report = opens(100);
            if (plx_config_read(&before, &config, &message) < 0)
                fail_msg("%s", message.text);
            plx_reload_init(&reload, &config);
            reload.plan.frame_bytes = 100;
            const enum plx_reload_event event = plx_reload_begin(&reload, &now, true);
            assert_int_equal(event, i == 0 ? PLX_RELOAD_APPLIED : PLX_RELOAD_NEEDS_PROBE);
            if (event == PLX_RELOAD_NEEDS_PROBE) {
                assert_true(reload.plan.config.exposure.damping != 0.25);
                report.calibration.rectified_width = differs ? 64 : 0;
                assert_int_equal(plx_reload_probed(&reload, &report), differs ? PLX_RELOAD_OPENS : PLX_RELOAD_APPLIED);
                if (differs)
                    continue; /* the next engine takes it */
            }
            assert_true(reload.plan.config.exposure.damping == 0.25);
            assert_int_equal(reload.phase, PLX_RELOAD_NONE);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_answer_makes_the_plan_or_none),
        cmocka_unit_test(a_file_that_does_not_open_changes_nothing),
        cmocka_unit_test(clients_see_the_old_configuration_until_the_new_one_publishes),
        cmocka_unit_test(an_engine_that_looks_for_its_camera_will_do_where_no_frames_came),
        cmocka_unit_test(a_reload_is_rolled_back_once),
        cmocka_unit_test(a_request_reads_the_file_again),
        cmocka_unit_test(a_calibration_is_read_again_whatever_key_has_changed),
    };
    return cmocka_run_group_tests(tests, files_begin, files_end);
}
