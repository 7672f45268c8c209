/* SPDX-License-Identifier: Apache-2.0 */
/* docs/operation.md and docs/exit-codes.md name every state, flag and exit code of the program, in its words, and no other. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/frame.h>

#include "app/exit.h"
#include "core/base/text.h"
#include "tests/cmocka.h"

#define CELL 160

/* The first two cells of the next row of a table; false where the table ends. */
static bool next_row(FILE *in, char first[CELL], char second[CELL])
{
    char line[1024];
    return fgets(line, sizeof line, in) && sscanf(line, "| %159[^|]| %159[^|]|", first, second) == 2;
}

static void trim(char *cell)
{
    size_t length = strlen(cell);
    while (length > 0 && cell[length - 1] == ' ')
        cell[--length] = '\0';
}

/* At the first row of the table whose head begins with HEAD. The caller closes it. */
static FILE *open_table(const char *path, const char *head)
{
    char line[1024] = "";
    FILE *in = fopen(path, "re");
    assert_non_null(in);
    while (strncmp(line, head, strlen(head)) != 0)
        if (!fgets(line, sizeof line, in))
            fail_msg("%s has no table %s", path, head);
    assert_non_null(fgets(line, sizeof line, in)); /* |---| */
    return in;
}

static void every_state_is_explained(void **state)
{
    (void)state;
    char first[CELL], second[CELL];
    FILE *in = open_table(PLX_SOURCE_DIR "/docs/operation.md", "| state |");
    for (uint32_t i = 0; i <= PLX_STATE_STOPPED; i++) {
        assert_true(next_row(in, first, second));
        trim(first);
        assert_string_equal(first, plx_state_word(i));
    }
    assert_false(next_row(in, first, second));
    fclose(in);
}

static void every_flag_is_explained(void **state)
{
    (void)state;
    char first[CELL], second[CELL];
    FILE *in = open_table(PLX_SOURCE_DIR "/docs/operation.md", "| flag |");
    for (int bit = 0; bit < PLX_HEALTH_FLAGS; bit++) {
        assert_true(next_row(in, first, second));
        trim(first);
        trim(second);
        assert_string_equal(first, plx_health_name(bit));
        assert_string_equal(second, plx_health_words(bit));
    }
    assert_false(next_row(in, first, second));
    fclose(in);
}

/* No default: the compiler misses a new one here. */
static bool is_exit_code(enum plx_exit code)
{
    switch (code) {
    case PLX_EXIT_OK:
    case PLX_EXIT_FAILURE:
    case PLX_EXIT_SLOW:
    case PLX_EXIT_STOP:
    case PLX_EXIT_DOUBT:
    case PLX_EXIT_USAGE:
    case PLX_EXIT_DATA:
    case PLX_EXIT_NO_INPUT:
    case PLX_EXIT_UNAVAILABLE:
    case PLX_EXIT_OS:
    case PLX_EXIT_CANNOT_WRITE:
    case PLX_EXIT_IO:
    case PLX_EXIT_BUSY:
    case PLX_EXIT_PERMISSION:
    case PLX_EXIT_CONFIG:
        return true;
    }
    return false;
}

static void every_exit_code_is_explained(void **state)
{
    (void)state;
    static const char *const path[] = {PLX_SOURCE_DIR "/docs/operation.md", PLX_SOURCE_DIR "/docs/exit-codes.md"};
    char first[2][CELL], second[2][CELL];
    FILE *in[2];
    for (int i = 0; i < 2; i++)
        in[i] = open_table(path[i], "| code |");
    for (int code = 0; code < 256; code++)
        for (int i = 0; i < 2 && is_exit_code((enum plx_exit)code); i++) {
            assert_true(next_row(in[i], first[i], second[i]));
            assert_int_equal(atoi(first[i]), code);
            assert_string_equal(second[i], second[0]); /* one name */
        }
    for (int i = 0; i < 2; i++) {
        assert_false(next_row(in[i], first[i], second[i]));
        fclose(in[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_is_explained),
        cmocka_unit_test(every_flag_is_explained),
        cmocka_unit_test(every_exit_code_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
