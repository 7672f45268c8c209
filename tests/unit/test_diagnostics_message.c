/* SPDX-License-Identifier: Apache-2.0 */
/* The level and the words of the service's diagnostics. */
#include <math.h>
#include <string.h>

#include <parallax/frame.h>

#include "bridge/diagnostics_message.h"
#include "tests/cmocka.h"

static const char *value_of(const struct ros_diagnostic_status *status, const char *key)
{
    for (uint32_t i = 0; i < status->values.count; i++)
        if (strcmp(status->values.data[i].key, key) == 0)
            return status->values.data[i].value;
    fail_msg("there is no value \"%s\"", key);
    return "";
}

static void levels_of_all_states(void **state)
{
    (void)state;
    static const struct {
        uint32_t state;
        uint8_t level;
        const char *message;
    } cases[] = {{PLX_STATE_RUNNING, 0, "running"},   {PLX_STATE_STARTING, 1, "starting"},
                 {PLX_STATE_DEGRADED, 1, "degraded"}, {PLX_STATE_RECOVERING, 1, "recovering"},
                 {PLX_STATE_FAILED, 2, "failed"},     {PLX_STATE_STOPPED, 3, "stopped"}};
    struct ros_diagnostic_array array;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_diagnostics diagnostics = {.state = cases[i].state, .age_ms = (double)NAN};
        plx_message_diagnostics(&diagnostics, 5000000007, &array);
        assert_true(array.header.stamp.sec == 5 && array.header.stamp.nanosec == 7 && array.status.count == 1);
        assert_int_equal(array.status.data->level, cases[i].level);
        assert_string_equal(array.status.data->message, cases[i].message);
        assert_string_equal(value_of(array.status.data, "age_ms"), "unknown");
    }
}

/* All that the service says is well, and still it does not show the world. */
static void pictures_that_are_not_the_world_are_never_ok(void **state)
{
    (void)state;
    static const struct {
        uint32_t source;
        uint8_t level;
        const char *message, *word;
    } cases[] = {{PLX_SOURCE_V4L2, 0, "running", "v4l2"},
                 {PLX_SOURCE_SYNTHETIC, 1, "simulated pictures", "synthetic"},
                 {PLX_SOURCE_REPLAY, 1, "recorded pictures", "replay"}};
    struct ros_diagnostic_array array;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_diagnostics diagnostics = {
            .state = PLX_STATE_RUNNING, .any = true, .source = cases[i].source, .blind = PLX_BLIND_NO_GROUND};
        plx_message_diagnostics(&diagnostics, 0, &array);
        assert_int_equal(array.status.data->level, cases[i].level);
        assert_string_equal(array.status.data->message, cases[i].message);
        assert_string_equal(value_of(array.status.data, "source"), cases[i].word);
        assert_string_equal(value_of(array.status.data, "blind"), "no_ground");
        diagnostics.state = PLX_STATE_FAILED;
        plx_message_diagnostics(&diagnostics, 0, &array);
        assert_int_equal(array.status.data->level, 2);
    }
}

static void flags_and_reason(void **state)
{
    (void)state;
    struct ros_diagnostic_array array;
    struct plx_diagnostics diagnostics = {.state = PLX_STATE_DEGRADED,
                                          .health = PLX_HEALTH_DARK | PLX_HEALTH_CAMERA_LOST_LEFT,
                                          .restarts = 3,
                                          .frames_per_s = 29.97,
                                          .age_ms = 40.1};
    plx_message_diagnostics(&diagnostics, 0, &array);
    assert_string_equal(array.status.data->message, "camera_lost_left dark");
    assert_string_equal(value_of(array.status.data, "health_flags"), "camera_lost_left dark");
    assert_string_equal(value_of(array.status.data, "engine_restarts"), "3");
    assert_string_equal(value_of(array.status.data, "rate_hz"), "30.0");
    assert_string_equal(value_of(array.status.data, "age_ms"), "40.1");
    strcpy(diagnostics.reason, "the left camera is gone");
    diagnostics.health = UINT32_MAX; /* all names, and bits that have none, fit */
    plx_message_diagnostics(&diagnostics, 0, &array);
    assert_string_equal(array.status.data->message, "the left camera is gone");
    assert_true(strlen(value_of(array.status.data, "health_flags")) < sizeof diagnostics.flags - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_of_all_states),
        cmocka_unit_test(pictures_that_are_not_the_world_are_never_ok),
        cmocka_unit_test(flags_and_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
