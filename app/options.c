/* SPDX-License-Identifier: Apache-2.0 */
#include "app/options.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/exit.h"
#include "app/version.h"
#include "core/base/text.h"

/* Keys of argp. Only -h is a letter. */
enum { HELP = 'h', USAGE = 256, VERSION, FIRST_OPTION };

/* The options of all programs, last in the help. */
static const struct argp_option standard[] = {
    {"help", HELP, NULL, 0, "prints this help", -1},
    {"usage", USAGE, NULL, 0, "prints the options in short", -1},
    {"version", VERSION, NULL, 0, "prints version and build", -1},
    {0},
};
#define MAX_OPTIONS 24

struct parsing {
    const struct plx_command_line *line;
    const char *word[PLX_MAX_WORDS];
    int words;
};

static void __attribute__((format(printf, 2, 3), noreturn)) fail(const struct plx_command_line *line, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    exit(plx_exit_error(line->program, PLX_EXIT_USAGE, "%s (%s --help)", text, line->program));
}

static int option_count(const struct plx_command_line *line)
{
    int count = 0;
    while (line->option && line->option[count].name)
        count++;
    return count;
}

const char *plx_nearest_name(const char *word, const char *const *name, int count, size_t stride)
{
    const char *nearest = NULL;
    const int letters = (int)strlen(word);
    int fewest = letters < 6 ? letters / 2 : 3; /* more edits than that, and it is another word */
    for (int i = 0; i < count; i++) {
        const char *known = *(const char *const *)((const char *)name + (size_t)i * stride);
        int edits = plx_edit_distance(word, known, strlen(known));
        if (edits <= fewest) {
            fewest = edits - 1;
            nearest = known;
        }
    }
    return nearest;
}

static bool is_allowed(const struct plx_option *option, double number)
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
    size_t used = 0;

    if (option->choice[0] == 0)
        snprintf(ret_text, size, "%s%.7g to %.7g", option->kind == PLX_OPTION_INTEGER ? "a whole number, " : "", option->min,
                 option->max);
    for (int i = 0; i < 4 && option->choice[i] != 0 && used < size; i++) {
        const bool last = i == 3 || option->choice[i + 1] == 0;
        used += (size_t)snprintf(ret_text + used, size - used, "%s%d", i == 0 ? "" : last ? " or " : ", ", option->choice[i]);
    }
}

static double read_number(const struct plx_command_line *line, const struct plx_option *option, const char *text)
{
    char range[64] = "", *end = NULL;

    errno = 0;
    const double number = strtod(text, &end);
    const bool whole = option->kind != PLX_OPTION_INTEGER || number == floor(number);
    if (end == text || *end || errno || !isfinite(number) || !whole || !is_allowed(option, number)) {
        describe_range(option, range, sizeof range);
        fail(line, "--%s %s: expected %s", option->name, text, range);
    }
    return number;
}

static void set_value(const struct plx_command_line *line, const struct plx_option *option, char *text)
{
    struct plx_option_list *list = option->value;

    switch (option->kind) {
    case PLX_OPTION_FLAG:
        *(bool *)option->value = true;
        break;
    case PLX_OPTION_INTEGER:
        *(int *)option->value = (int)read_number(line, option, text);
        break;
    case PLX_OPTION_REAL:
        *(double *)option->value = read_number(line, option, text);
        break;
    case PLX_OPTION_TEXT:
        *(const char **)option->value = text;
        break;
    case PLX_OPTION_LIST:
        if (list->count == PLX_OPTION_REPEATS)
            fail(line, "--%s is given more than %d times", option->name, PLX_OPTION_REPEATS);
        list->item[list->count++] = text;
        break;
    }
}

static const struct plx_option *find(const struct plx_command_line *line, const char *name)
{
    for (int i = 0; i < option_count(line); i++)
        if (strcmp(line->option[i].name, name) == 0)
            return &line->option[i];
    return NULL;
}

/* Ends the program, because argp rejected WORD. argp would print two lines without the nearest name, so it is silent. */
static void __attribute__((noreturn)) reject(const struct plx_command_line *line, const char *word)
{
    char name[PLX_EDIT_DISTANCE_LETTERS];

    if (strncmp(word, "--", 2) != 0)
        fail(line, "unknown option %s; options begin with two dashes", word);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const struct plx_option *option = find(line, name);
    if (option && option->argument)
        fail(line, "--%s needs a value: %s", name, option->argument);
    if (option)
        fail(line, "--%s takes no value, got `%s`", name, strchr(word, '=') + 1);
    const char *nearest = plx_nearest_name(name, &line->option->name, option_count(line), sizeof *line->option);
    if (nearest)
        fail(line, "unknown option --%s; did you mean --%s?", name, nearest);
    fail(line, "unknown option --%s; the help lists all", name);
}

static void take_option(const struct plx_command_line *line, const struct plx_option *option, char *text,
                        const struct argp_state *state)
{
    const bool is_next_option = text && text == state->argv[state->next - 1] && strncmp(text, "--", 2) == 0;
    if (option->kind != PLX_OPTION_FLAG && (!text || is_next_option))
        fail(line, "--%s needs a value: %s", option->name, option->argument);
    set_value(line, option, text);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct parsing *parsing = state->input;
    const struct plx_command_line *line = parsing->line;

    switch (key) {
    case HELP:
    case USAGE:
        argp_help(state->root_argp, stdout, key == HELP ? ARGP_HELP_STD_HELP : ARGP_HELP_USAGE, state->name);
        exit(PLX_EXIT_OK);
    case VERSION:
        plx_print_version(line->program);
        exit(PLX_EXIT_OK);
    case ARGP_KEY_ARG:
        if (parsing->words == line->max_words)
            fail(line, "unexpected argument `%s`", text);
        parsing->word[parsing->words++] = text;
        return 0;
    case ARGP_KEY_END:
        if (parsing->words < line->min_words)
            fail(line, "an argument is missing: %s %.*s", line->program, (int)strcspn(line->words, "\n"), line->words);
        return 0;
    case ARGP_KEY_ERROR:
        reject(line, state->argv[state->next - (state->argv[state->next - 1][0] == '-')]); /* in -xyz argp is still at x */
    default:
        if (key < FIRST_OPTION || key >= FIRST_OPTION + option_count(line))
            return ARGP_ERR_UNKNOWN;
        take_option(line, &line->option[key - FIRST_OPTION], text, state);
        return 0;
    }
}

void plx_parse_command_line(const struct plx_command_line *line, int argc, char **argv, const char *ret_word[PLX_MAX_WORDS])
{
    struct argp_option table[MAX_OPTIONS];
    struct parsing parsing = {.line = line};
    const struct argp argp = {.options = table, .parser = parse, .args_doc = line->words, .doc = line->about};
    char *name = argv[0], program[64];
    const int count = option_count(line);

    snprintf(program, sizeof program, "%s", line->program);
    for (int i = 0; i < count; i++)
        table[i] = (struct argp_option){.name = line->option[i].name,
                                        .key = FIRST_OPTION + i,
                                        .arg = line->option[i].argument,
                                        .doc = line->option[i].help};
    memcpy(&table[count], standard, sizeof standard);
    argv[0] = program; /* the name in the usage that argp prints */
    argp_parse(&argp, argc, argv, ARGP_SILENT, NULL, &parsing);
    argv[0] = name;
    if (ret_word)
        memcpy(ret_word, parsing.word, sizeof parsing.word);
}
