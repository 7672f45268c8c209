/* SPDX-License-Identifier: Apache-2.0 */
/* Texts from outside: whatever they hold, what comes out is one line; and how far two words are apart. */
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "tests/cmocka.h"

static void what_is_harmless_stays(void **state)
{
    (void)state;
    static const char *const fine[] = {"", "HD Webcam (046d:0825)", "Caméra 左 \xF0\x9F\x8E\xA5", "\xED\x9F\xBF\xEE\x80\x80"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", fine[i]);
        assert_false(plx_clean_text(text));
        assert_string_equal(text, fine[i]);
    }
}

static void what_would_begin_a_line_or_steer_a_terminal_is_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"cam\nWATCHDOG=1", "cam?WATCHDOG=1"},
        {"\r\t\x1B[2J\x7F", "???[2J?"},
        {"a\xC2\x85z", "a?z"},                  /* NEL, a C1 control */
        {"a\xE2\x80\xA8z\xE2\x80\xA9", "a?z?"}, /* line and paragraph separator */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", cases[i].in);
        assert_true(plx_clean_text(text));
        assert_string_equal(text, cases[i].out);
    }
}

static void what_is_no_utf8_is_replaced_byte_by_byte(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"\xFF", "?"},
        {"cut \xC3", "cut ?"},
        {"cut \xE2\x82", "cut ??"},
        {"\xC0\x8A", "??"},           /* an overlong newline */
        {"\xE0\x80\x8A", "???"},      /* likewise */
        {"\xED\xA0\x80", "???"},      /* a surrogate */
        {"\xF4\x90\x80\x80", "????"}, /* beyond Unicode */
        {"\xE2\x82"
         "A\x80"
         "B",
         "??A?B"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", cases[i].in);
        assert_true(plx_clean_text(text));
        assert_string_equal(text, cases[i].out);
        assert_false(plx_clean_text(text));
    }
}

static void an_error_message_is_one_line_whatever_a_file_is_called(void **state)
{
    (void)state;
    struct plx_error_message message;
    assert_int_equal(plx_fail(&message, -3, "%s: not a PNG", "left\n\x1B[2J\xFF.png"), -3);
    assert_string_equal(message.text, "left??[2J?.png: not a PNG");
}

/* The least and the largest character of each length, and their neighbours that are none. */
static void a_character_is_decoded_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int length;
        uint32_t point;
    } cases[] = {
        {"", 1, 0},
        {"\x01", 1, 1},
        {"\x7F", 1, 0x7F},
        {"\xC2\x80", 2, 0x80},
        {"\xDF\xBF", 2, 0x7FF},
        {"\xE0\xA0\x80", 3, 0x800},
        {"\xE2\x82\xAC", 3, 0x20AC},
        {"\xED\x9F\xBF", 3, 0xD7FF},
        {"\xEE\x80\x80", 3, 0xE000},
        {"\xEF\xBF\xBF", 3, 0xFFFF},
        {"\xF0\x90\x80\x80", 4, 0x10000},
        {"\xF4\x8F\xBF\xBF", 4, 0x10FFFF},
        {"\x80", 0, 0},
        {"\xBF", 0, 0},
        {"\xC1\xBF", 0, 0},
        {"\xC2", 0, 0},
        {"\xC2\x7F", 0, 0},
        {"\xC2\xC0", 0, 0},
        {"\xE0\x9F\xBF", 0, 0},
        {"\xE2\x82", 0, 0},
        {"\xE2\x82z", 0, 0},
        {"\xED\xA0\x80", 0, 0},
        {"\xED\xBF\xBF", 0, 0},
        {"\xF0\x8F\xBF\xBF", 0, 0},
        {"\xF0\x90\x80", 0, 0},
        {"\xF4\x90\x80\x80", 0, 0},
        {"\xF8\x88\x80\x80\x80", 0, 0},
        {"\xFF", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t point = 12345;
        const int length = plx_utf8_decode(cases[i].text, &point);
        if (length != cases[i].length ||
            point != (cases[i].length ? cases[i].point : 12345)) /* untouched where there is none */
            fail_msg("case %zu: %d bytes, U+%04X", i, length, point);
    }
}

static void control_characters_are_known(void **state)
{
    (void)state;
    static const uint32_t control[] = {0, 0x1F, 0x7F, 0x80, 0x9F, 0x2028, 0x2029},
                          others[] = {0x20, 0x7E, 0xA0, 0x2027, 0x202A, 0x10FFFF};
    for (size_t i = 0; i < sizeof control / sizeof *control; i++)
        assert_true(plx_is_control(control[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(plx_is_control(others[i]));
}

static void only_a_whole_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    static const char with[] = "\xEF\xBB\xBF"
                               "a: 1",
                      half[] = "\xEF\xBB"
                               "a: 1";
    assert_string_equal(plx_without_bom(with), "a: 1");
    assert_ptr_equal(plx_without_bom(half), half);
    assert_ptr_equal(plx_without_bom(with + 3), with + 3);
    assert_string_equal(plx_without_bom(""), "");
}

/* --- edit distance -------------------------------------------------------------------------------------------------------- */

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* From the first I letters of A to the first J of B, by the definition and without a table. */
static int plain_distance(const char *a, int i, const char *b, int j)
{
    if (i == 0 || j == 0)
        return i + j;
    int result = plain_distance(a, i - 1, b, j - 1) + (a[i - 1] != b[j - 1]);
    result = least(result, 1 + plain_distance(a, i - 1, b, j));
    result = least(result, 1 + plain_distance(a, i, b, j - 1));
    if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        result = least(result, 1 + plain_distance(a, i - 2, b, j - 2));
    return result;
}

/* The word with number INDEX of LENGTH letters a, b and c. */
static void spell(int index, int length, char *ret_word)
{
    for (int i = 0; i < length; i++, index /= 3)
        ret_word[i] = (char)('a' + index % 3);
    ret_word[length] = '\0';
}

/* Every word of up to four letters of three, beside every other: all ways in which letters can be swapped, kept or missing. */
static void words_are_as_far_apart_as_the_definition_says(void **state)
{
    (void)state;
    static const int words[] = {1, 3, 9, 27, 81};
    for (int i = 0; i <= 4; i++)
        for (int j = 0; j <= 4; j++)
            for (int n = 0; n < words[i] * words[j]; n++) {
                char a[5], b[5];
                spell(n / words[j], i, a);
                spell(n % words[j], j, b);
                const int got = plx_edit_distance(a, b, (size_t)j), expected = plain_distance(a, i, b, j);
                if (got != expected)
                    fail_msg("from \"%s\" to \"%s\": %d, expected %d", a, b, got, expected);
            }
}

static void letters_behind_the_counted_ones_are_not_compared(void **state)
{
    (void)state;
    char long_word[PLX_EDIT_DISTANCE_LETTERS + 2];
    memset(long_word, 'x', sizeof long_word);
    long_word[sizeof long_word - 1] = '\0';
    assert_int_equal(plx_edit_distance("ba", "abc", 2), 1);
    assert_int_equal(plx_edit_distance("speed", "speed.limit", 5), 0);
    assert_int_equal(plx_edit_distance(long_word, "", 0), PLX_EDIT_DISTANCE_LETTERS);
    assert_int_equal(plx_edit_distance(long_word, long_word, PLX_EDIT_DISTANCE_LETTERS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_harmless_stays),
        cmocka_unit_test(what_would_begin_a_line_or_steer_a_terminal_is_replaced),
        cmocka_unit_test(what_is_no_utf8_is_replaced_byte_by_byte),
        cmocka_unit_test(an_error_message_is_one_line_whatever_a_file_is_called),
        cmocka_unit_test(a_character_is_decoded_or_refused),
        cmocka_unit_test(control_characters_are_known),
        cmocka_unit_test(only_a_whole_byte_order_mark_is_skipped),
        cmocka_unit_test(words_are_as_far_apart_as_the_definition_says),
        cmocka_unit_test(letters_behind_the_counted_ones_are_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
