/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/exit.h"
#include "core/edits.h"

#define HELP_COLUMN 26

int plx_cli_fail(const char *command, int exit_code, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "parallax %s: %s\n", command, text);
    return exit_code;
}

static void print_help(const struct plx_usage *usage)
{
    const char *line = usage->synopsis;
    for (const char *lead = "Usage:"; *line; lead = "      ") {
        int length = (int)strcspn(line, "\n");
        printf("%s parallax %s%s%.*s\n", lead, usage->command, length > 0 ? " " : "", length, line);
        line += length + (line[length] == '\n');
    }
    printf("\n%s\n\nOptions:\n", usage->about);
    for (int i = 0; i < usage->option_count; i++) {
        const struct plx_option *option = &usage->option[i];
        int width = printf("  --%s%s%s", option->name, option->argument ? " " : "", option->argument ? option->argument : "");
        const char *text = option->help;
        for (int indent = width < HELP_COLUMN ? HELP_COLUMN - width : 2;; indent = HELP_COLUMN) {
            int length = (int)strcspn(text, "\n");
            printf("%*s%.*s\n", indent, "", length, text);
            if (!text[length])
                break;
            text += length + 1;
        }
    }
    printf("  --help%*sthis text\n", HELP_COLUMN - 8, "");
}

static const struct plx_option *find(const struct plx_usage *usage, const char *name, size_t length)
{
    for (int i = 0; i < usage->option_count; i++)
        if (strlen(usage->option[i].name) == length && strncmp(usage->option[i].name, name, length) == 0)
            return &usage->option[i];
    return NULL;
}

const char *plx_nearest_name(const char *word, const char *const *name, int count, size_t stride)
{
    const char *nearest = NULL;
    const int letters = (int)strlen(word);
    int fewest = letters < 6 ? letters / 2 : 3; /* more edits than that, and it is another word */
    for (int i = 0; i < count; i++) {
        const char *known = *(const char *const *)((const char *)name + (size_t)i * stride);
        int edits = plx_edits(word, known, strlen(known));
        if (edits <= fewest) {
            fewest = edits - 1;
            nearest = known;
        }
    }
    return nearest;
}

static void unknown_option(const struct plx_usage *usage, const char *name, size_t length)
{
    char word[PLX_EDITS_LETTERS];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *nearest = plx_nearest_name(word, &usage->option[0].name, usage->option_count, sizeof usage->option[0]);
    plx_cli_fail(usage->command, 0, "unknown option --%s; %s%s (parallax %s --help)", word,
                 nearest ? "did you mean --" : "the help lists all", nearest ? nearest : "", usage->command);
}

static bool is_choice(const struct plx_option *option, double number)
{
    if (option->choice[0] == 0)
        return number >= option->min && number <= option->max;
    for (int i = 0; i < 4 && option->choice[i] != 0; i++)
        if (option->choice[i] == number)
            return true;
    return false;
}

/* "64, 128 or 256", or "1 to 5". */
static void describe_range(const struct plx_option *option, char *ret_text, size_t size)
{
    if (option->choice[0] == 0) {
        snprintf(ret_text, size, "%g to %g", option->min, option->max);
        return;
    }
    size_t used = 0;
    for (int i = 0; i < 4 && option->choice[i] != 0 && used < size; i++) {
        bool last = i == 3 || option->choice[i + 1] == 0;
        const char *glue = i == 0 ? "" : last ? " or " : ", ";
        used += (size_t)snprintf(ret_text + used, size - used, "%s%d", glue, option->choice[i]);
    }
}

static bool set_number(const struct plx_usage *usage, const struct plx_option *option, const char *text)
{
    char *end = NULL;
    errno = 0;
    double number = strtod(text, &end);
    bool whole = option->kind != PLX_OPTION_INTEGER || number == floor(number);
    if (end == text || *end || errno || !isfinite(number) || !whole || !is_choice(option, number)) {
        char range[64] = "";
        describe_range(option, range, sizeof range);
        plx_cli_fail(usage->command, 0, "--%s %s: expected %s%s", option->name, text,
                     option->kind == PLX_OPTION_INTEGER && option->choice[0] == 0 ? "a whole number, " : "", range);
        return false;
    }
    if (option->kind == PLX_OPTION_INTEGER)
        *(int *)option->value = (int)number;
    else
        *(double *)option->value = number;
    return true;
}

static bool set_value(const struct plx_usage *usage, const struct plx_option *option, const char *text)
{
    struct plx_list *list = option->value;
    switch (option->kind) {
    case PLX_OPTION_FLAG:
        *(bool *)option->value = true;
        return true;
    case PLX_OPTION_INTEGER:
    case PLX_OPTION_REAL:
        return set_number(usage, option, text);
    case PLX_OPTION_TEXT:
        *(const char **)option->value = text;
        return true;
    case PLX_OPTION_LIST:
        if (list->count == PLX_OPTION_REPEATS) {
            plx_cli_fail(usage->command, 0, "--%s is given more than %d times", option->name, PLX_OPTION_REPEATS);
            return false;
        }
        list->item[list->count++] = text;
        return true;
    }
    return false;
}

/* Sets the option at argv[*index] and moves *index to the last word that it took. */
static bool take_option(const struct plx_usage *usage, int argc, char **argv, int *index)
{
    const char *name = argv[*index] + 2;
    size_t length = strcspn(name, "=");
    const struct plx_option *option = find(usage, name, length);
    if (!option) {
        unknown_option(usage, name, length);
        return false;
    }
    const char *text = name[length] == '=' ? name + length + 1 : NULL;
    bool wants_text = option->kind != PLX_OPTION_FLAG;
    if (text && !wants_text) {
        plx_cli_fail(usage->command, 0, "--%s takes no value, got `%s`", option->name, text);
        return false;
    }
    if (!text && wants_text && *index + 1 < argc && strncmp(argv[*index + 1], "--", 2) != 0)
        text = argv[++*index];
    if (!text && wants_text) {
        plx_cli_fail(usage->command, 0, "--%s needs a value: %s", option->name, option->argument);
        return false;
    }
    return set_value(usage, option, text);
}

/* One word of the command line; moves *index on when it takes the next one too. */
static bool take_word(const struct plx_usage *usage, int argc, char **argv, int *index, struct plx_words *words)
{
    const char *word = argv[*index];
    if (strncmp(word, "--", 2) == 0)
        return take_option(usage, argc, argv, index);
    if (word[0] == '-' && word[1]) {
        plx_cli_fail(usage->command, 0, "unknown option %s; options begin with two dashes (parallax %s --help)", word,
                     usage->command);
        return false;
    }
    if (words->count == usage->max_words) {
        plx_cli_fail(usage->command, 0, "unexpected argument `%s` (parallax %s --help)", word, usage->command);
        return false;
    }
    words->item[words->count++] = word;
    return true;
}

bool plx_options_parse(const struct plx_usage *usage, int argc, char **argv, struct plx_words *ret_words, int *ret_exit)
{
    struct plx_words words = {.count = 0};
    *ret_exit = PLX_EXIT_USAGE;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(usage);
            *ret_exit = PLX_EXIT_OK;
            return false;
        }
        if (!take_word(usage, argc, argv, &i, &words))
            return false;
    }
    if (words.count < usage->min_words) {
        plx_cli_fail(usage->command, 0, "an argument is missing: parallax %s %.*s", usage->command,
                     (int)strcspn(usage->synopsis, "\n"), usage->synopsis);
        return false;
    }
    if (ret_words)
        *ret_words = words;
    return true;
}
