/* SPDX-License-Identifier: Apache-2.0 */
/* Every published enumerator has its own word; numbers from a foreign service do not crash the tools. */
#include <string.h>

#include <parallax/frame.h>

#include "core/base/text.h"
#include "tests/cmocka.h"

static void every_stage_has_a_word(void **state)
{
    (void)state;
    for (int i = 0; i < PLX_STAGE_COUNT; i++) {
        assert_string_not_equal(plx_stage_word(i), "unknown");
        for (int k = 0; k < i; k++)
            assert_string_not_equal(plx_stage_word(i), plx_stage_word(k));
    }
    assert_string_equal(plx_stage_word(PLX_STAGE_COUNT), "unknown");
    assert_string_equal(plx_stage_word(-1), "unknown");
}

static void flags_match_their_bits(void **state)
{
    (void)state;
    static const struct {
        uint32_t flag;
        const char *name;
    } expected[] = {{PLX_HEALTH_CAMERA_LOST_LEFT, "camera_lost_left"},
                    {PLX_HEALTH_DESYNC, "desync"},
                    {PLX_HEALTH_DARK, "dark"},
                    {PLX_HEALTH_LATE, "late"},
                    {PLX_HEALTH_BUFFER_ERROR, "buffer_error"},
                    {PLX_HEALTH_NOT_CALIBRATED, "not_calibrated"},
                    {PLX_HEALTH_HOT, "hot"}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_string_equal(plx_health_name(__builtin_ctz(expected[i].flag)), expected[i].name);
}

static void sentences(void **state)
{
    (void)state;
    char text[64];
    plx_health_sentence(0, text, sizeof text);
    assert_string_equal(text, "no faults");
    plx_health_sentence(PLX_HEALTH_DARK | PLX_HEALTH_LATE, text, sizeof text);
    assert_string_equal(text, "too dark or covered, frames late");
    plx_health_sentence(1u << 31, text, sizeof text);
    assert_string_equal(text, "unknown fault");
    plx_health_sentence(UINT32_MAX, text, sizeof text);
    assert_int_equal(strlen(text), sizeof text - 1);
}

static void states_and_tracks(void **state)
{
    (void)state;
    assert_string_equal(plx_state_word(PLX_STATE_RECOVERING), "recovering");
    assert_string_equal(plx_state_word(99), "unknown");
    assert_string_equal(plx_track_word(PLX_TRACK_LOST), "lost");
    assert_string_equal(plx_track_word(0), "unknown");
    assert_string_equal(plx_size_word(PLX_SIZE_UNKNOWN), "unknown");
    assert_string_equal(plx_size_word(PLX_SIZE_NARROW), "narrow");
    assert_string_equal(plx_size_word(PLX_SIZE_MEDIUM), "medium");
    assert_string_equal(plx_size_word(PLX_SIZE_LARGE), "large");
    assert_string_equal(plx_size_word(PLX_SIZE_LOW), "low");
    assert_string_equal(plx_size_word(PLX_SIZE_WIDE), "wide");
    assert_string_equal(plx_size_word(6), "unknown");
}

static void locations(void **state)
{
    (void)state;
    assert_string_equal(plx_location_word(PLX_LOCATION_KNOWN), "known");
    for (uint32_t i = 0; i <= PLX_LOCATION_RAW; i++) {
        assert_string_not_equal(plx_location_word(i), "unknown");
        assert_string_not_equal(plx_location_words(i), "unknown state");
    }
    assert_string_equal(plx_location_word(PLX_LOCATION_RAW + 1), "unknown");
}

static void only_cameras_show_the_world_as_it_is(void **state)
{
    (void)state;
    assert_string_equal(plx_source_note(PLX_SOURCE_SYNTHETIC), "simulated pictures");
    assert_string_equal(plx_source_note(PLX_SOURCE_REPLAY), "recorded pictures");
    assert_string_equal(plx_source_note(PLX_SOURCE_V4L2), "");
    assert_string_equal(plx_source_note(99), "pictures of an unknown source");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stage_has_a_word),
        cmocka_unit_test(flags_match_their_bits),
        cmocka_unit_test(sentences),
        cmocka_unit_test(states_and_tracks),
        cmocka_unit_test(locations),
        cmocka_unit_test(only_cameras_show_the_world_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
