/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs/configuration.md tells the truth: its tables of keys are the program's own, and its examples load. After a change of
 * config/schema.c, PLX_UPDATE_DOCS=1 build/release/bin/test_config_docs writes the tables again.
 */
#include "config/config.h"

#include <string.h>

#include <parallax/error.h>

#include "config/file.h"
#include "config/schema.h"
#include "tests/cmocka.h"
#include "tests/scratch.h"

#define PAGE PLX_SOURCE_DIR "/docs/configuration.md"
#define BEGIN "<!-- keys begin -->\n"
#define END "<!-- keys end -->\n"

static char *page, *table;

/* Prints what a key takes, shorter than an error says it: the default shows the kind, and 0 to 9 is 0…9. */
static void print_takes(const struct plx_key *key, const char *expected, FILE *out)
{
    const char *number = strstr(expected, "number from "), *from = number ? number + strlen("number from ") : NULL;
    const char *to = from ? strstr(from, " to ") : NULL;
    if (key->type == PLX_KEY_BOOL || key->type == PLX_KEY_TEXT)
        return;
    fputs("; ", out);
    if (key->type == PLX_KEY_FLAGS)
        fputs("names of flags", out);
    else if (to && !plx_key_is_list(key->type))
        fprintf(out, "%.*s…%s", (int)(to - from), from, to + strlen(" to "));
    else
        fputs(expected, out);
}

/* A table of all keys that are expert, or of those that are not, in Markdown. */
static void document_keys(bool expert, FILE *out)
{
    struct plx_config defaults;
    char expected[PLX_VALUE_TEXT], text[PLX_VALUE_TEXT];

    plx_config_default(&defaults);
    fputs("| key | default; takes | what it is |\n|---|---|---|\n", out);
    for (const struct plx_key *key = plx_keys; key < plx_keys + plx_key_count; key++) {
        if (key->expert != expert)
            continue;
        plx_value_expected(key, expected);
        plx_value_print(key, &defaults, text);
        fprintf(out, "| `%s`%s | %s", key->name, key->reloadable ? " ↻" : "",
                key->type == PLX_KEY_BYTES   ? "all 0"
                : key->type == PLX_KEY_FLAGS ? "[a list](verdict.md#faults)"
                                             : text);
        print_takes(key, expected, out);
        fprintf(out, " | %s |\n", key->help);
    }
}

static int document_all_keys(FILE *out)
{
    document_keys(false, out);
    fputs("\n### Expert keys\n\nThese defaults suit all robots; change one only with a measurement of your own.\n\n", out);
    document_keys(true, out);
    return fflush(out) == 0 && !ferror(out) ? 0 : PLX_ERR_IO;
}

static int setup(void **state)
{
    (void)state;
    size_t size;
    struct plx_error_message message;
    FILE *out = open_memstream(&table, &size);
    if (!out || document_all_keys(out) < 0)
        return -1;
    fclose(out);
    return plx_file_read(PAGE, 1 << 20, &page, &size, &message);
}

static int teardown(void **state)
{
    (void)state;
    free(table);
    free(page);
    return 0;
}

static void the_tables_are_the_program_s(void **state)
{
    (void)state;
    char *begin = strstr(page, BEGIN), *end = strstr(page, END);
    if (!begin || !end || begin > end) {
        fail_msg("%s has no place for the tables", PAGE);
        return;
    }
    begin += strlen(BEGIN);
    if ((size_t)(end - begin) == strlen(table) && memcmp(begin, table, strlen(table)) == 0)
        return;
    if (!getenv("PLX_UPDATE_DOCS"))
        fail_msg("the tables in %s are out of date; write them again with PLX_UPDATE_DOCS=1 %s/bin/test_config_docs", PAGE,
                 PLX_BINARY_DIR);
    FILE *out = fopen(PAGE, "we");
    assert_non_null(out);
    fprintf(out, "%.*s%s%s", (int)(begin - page), page, table, end);
    assert_int_equal(fclose(out), 0);
}

static void its_examples_load(void **state)
{
    (void)state;
    static const char open[] = "```yaml\n", close[] = "```\n";
    struct plx_config config;
    struct scratch scratch;
    int examples = 0;
    assert_int_equal(scratch_begin(&scratch, "example.yaml"), 0);
    for (char *at = page; (at = strstr(at, open)); examples++) {
        struct plx_error_message message = {""};
        at += strlen(open);
        assert_non_null(strstr(at, close));
        assert_int_equal(scratch_write(&scratch, at, (size_t)(strstr(at, close) - at)), 0);
        if (plx_config_load(scratch.path, &config, &message) != 0)
            fail_msg("example %d: %s", examples + 1, message.text);
    }
    assert_true(examples > 0);
    scratch_end(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tables_are_the_program_s),
        cmocka_unit_test(its_examples_load),
    };
    return cmocka_run_group_tests_name("configuration page", tests, setup, teardown);
}
