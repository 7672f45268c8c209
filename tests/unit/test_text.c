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
        cmocka_unit_test(words_are_as_far_apart_as_the_definition_says),
        cmocka_unit_test(letters_behind_the_counted_ones_are_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
