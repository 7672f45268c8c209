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
        assert_true(array.header.stamp.sec == 5 && array.header.stamp.nanosec == 7 && array.status.count == 2);
        assert_int_equal(array.status.data->level, cases[i].level);
        assert_string_equal(array.status.data->message, cases[i].message);
        assert_string_equal(value_of(array.status.data, "age_ms"), "unknown");
        assert_int_equal(array.status.data[1].level, cases[i].level == 3 ? 3 : 0); /* no drift is known */
        assert_string_equal(array.status.data[1].message,
                            cases[i].level == 3 ? "stopped" : "not measured: no calibrated frame yet");
        assert_string_equal(value_of(&array.status.data[1], "epipolar_error_px"), "unknown");
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

/* fx times baseline is 50 px m: 0.3 px are 0.6 % a metre. */
static const struct plx_calibration_info calibration = {.fx = 500, .fy = 500, .baseline_m = 0.1};

static void drift_has_numbers(void **state)
{
    (void)state;
    static const char *const values[][2] = {{"matches", "700"},
                                            {"epipolar_error_px", "0.350"},
                                            {"residual_px", "0.020"},
                                            {"max_epipolar_error_px", "0.900"},
                                            {"pitch_deg", "0.0573"},
                                            {"pitch_deviation_deg", "0.0057"},
                                            {"roll_deg", "-0.1146"},
                                            {"roll_deviation_deg", "0.0115"},
                                            {"bend_deg", "0.1719"},
                                            {"bend_deviation_deg", "0.0172"},
                                            {"scale_percent", "0.2000"},
                                            {"scale_deviation_percent", "0.0100"},
                                            {"disparity_offset_px", "0.300"},
                                            {"disparity_offset_deviation_px", "0.200"},
                                            {"distance_error_1m_percent", "0.60"},
                                            {"distance_error_2m_percent", "1.20"},
                                            {"distance_error_5m_percent", "3.00"},
                                            {"distance_error_10m_percent", "6.00"},
                                            {"curve_px", "-2.000"},
                                            {"curve_deviation_px", "0.400"},
                                            {"side_px", "-0.600"},
                                            {"side_deviation_px", "0.500"},
                                            {"side_distance_error_1m_percent", "-1.20"},
                                            {"side_distance_error_2m_percent", "-2.40"},
                                            {"side_distance_error_5m_percent", "-6.00"},
                                            {"side_distance_error_10m_percent", "-12.00"}};
    struct ros_diagnostic_array array;
    struct plx_diagnostics diagnostics = {.state = PLX_STATE_RUNNING,
                                          .calibration = calibration,
                                          .drift = {700, 0.001f, -0.002f, 0.003f, 0.002f, 0.0001f, 0.0002f, 0.0003f, 0.0001f,
                                                    0.35f, 0.02f, 0.9f, 0.3f, 0.2f, -2, 0.4f, -0.6f, 0.5f}};
    plx_message_diagnostics(&diagnostics, 0, &array);
    const struct ros_diagnostic_status *drift = &array.status.data[1];
    assert_string_equal(drift->name, "parallax: calibration drift");
    assert_int_equal(drift->values.count, sizeof values / sizeof *values);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_string_equal(value_of(drift, values[i][0]), values[i][1]);
    diagnostics.drift.matches = 0;
    plx_message_diagnostics(&diagnostics, 0, &array);
    assert_string_equal(value_of(drift, "pitch_deg"), "unknown");
    assert_string_equal(value_of(drift, "disparity_offset_px"), "0.300");
}

static void drift_warns_where_a_calibration_is_due(void **state)
{
    (void)state;
    static const struct {
        uint32_t matches;
        float max_epipolar_error_px, disparity_offset_px, disparity_offset_deviation_px;
        uint8_t level;
        const char *message;
    } cases[] = {
        {0, 0, 0, 0, 0, "rows are not measured: too few matches yet; the offset is not measured: move the camera"},
        {700, 1, 0, 0, 0, "rows match; the offset is not measured: move the camera"},
        {700, 1.2f, 0, 0, 1, "rows are up to 1.2 px off; the offset is not measured: move the camera; calibrate again"},
        {700, 0.4f, 0.25f, 0.05f, 0, "rows match; no offset is certain"},
        {700, 0.4f, 0.5f, 0.2f, 0, "rows match; no offset is certain"},
        {700, 0.4f, 0.5f, 0.1f, 1, "rows match; distances are 10.0 % too long at 10 m; calibrate again"},
        {0, 0, -0.5f, 0.1f, 1,
         "rows are not measured: too few matches yet; distances are 10.0 % too short at 10 m; calibrate again"},
        {700, 2, -0.5f, 0.1f, 1, "rows are up to 2.0 px off; distances are 10.0 % too short at 10 m; calibrate again"},
    };
    struct ros_diagnostic_array array;
    struct plx_diagnostics sides = {
        .state = PLX_STATE_RUNNING,
        .calibration = calibration,
        .drift = {.matches = 700, .disparity_offset_deviation_px = 0.1f, .side_px = 0.5f, .side_deviation_px = 0.1f}};
    plx_message_diagnostics(&sides, 0, &array);
    assert_int_equal(array.status.data[1].level, 1);
    assert_string_equal(array.status.data[1].message,
                        "rows match; distances are 10.0 % too long at 10 m, at the sides of the picture; calibrate again");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_diagnostics diagnostics = {
            .state = PLX_STATE_RUNNING,
            .calibration = calibration,
            .drift = {.matches = cases[i].matches,
                      .max_epipolar_error_px = cases[i].max_epipolar_error_px,
                      .disparity_offset_px = cases[i].disparity_offset_px,
                      .disparity_offset_deviation_px = cases[i].disparity_offset_deviation_px}};
        plx_message_diagnostics(&diagnostics, 0, &array);
        assert_int_equal(array.status.data[1].level, cases[i].level);
        assert_string_equal(array.status.data[1].message, cases[i].message);
        assert_int_equal(array.status.data[0].level, 0); /* the service itself is well */
    }
}

static void readers_that_ask_again_are_told_what_to_do(void **state)
{
    struct plx_diagnostics d = {.state = PLX_STATE_RUNNING, .age_ms = NAN};
    struct ros_diagnostic_array array;
    (void)state;
    plx_message_diagnostics(&d, 0, &array);
    assert_int_equal(array.status.count, 2); /* nothing is known of a network */
    d.has_network = true;
    d.sent_bytes = 1000;
    const struct ros_diagnostic_status *network = &((const struct ros_diagnostic_status *)array.status.data)[2];
    for (d.resent_bytes = 0; d.resent_bytes <= 10; d.resent_bytes += 10) {
        plx_message_diagnostics(&d, 0, &array);
        assert_int_equal(array.status.count, 3);
        assert_string_equal(network->name, "parallax: network");
        assert_int_equal(network->level, PLX_DIAGNOSTIC_OK);
    }
    d.resent_bytes = 200;
    plx_message_diagnostics(&d, 0, &array);
    assert_int_equal(network->level, PLX_DIAGNOSTIC_WARN);
    assert_non_null(strstr(network->message, "lose 20 %"));
    assert_non_null(strstr(network->message, "sudo sysctl -w net.core.rmem_max=16777216 net.core.rmem_default=4194304"));
    d.sent_bytes = 0;
    d.resent_bytes = 0;
    plx_message_diagnostics(&d, 0, &array);
    assert_int_equal(network->level, PLX_DIAGNOSTIC_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_that_ask_again_are_told_what_to_do),
        cmocka_unit_test(levels_of_all_states),
        cmocka_unit_test(pictures_that_are_not_the_world_are_never_ok),
        cmocka_unit_test(flags_and_reason),
        cmocka_unit_test(drift_has_numbers),
        cmocka_unit_test(drift_warns_where_a_calibration_is_due),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
