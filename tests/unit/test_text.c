/* SPDX-License-Identifier: Apache-2.0 */
/* Texts from outside: whatever they hold, what comes out is one line. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_harmless_stays),
        cmocka_unit_test(what_would_begin_a_line_or_steer_a_terminal_is_replaced),
        cmocka_unit_test(what_is_no_utf8_is_replaced_byte_by_byte),
        cmocka_unit_test(an_error_message_is_one_line_whatever_a_file_is_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
