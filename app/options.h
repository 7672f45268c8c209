/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines of all programs: argp(3) parses them and writes help and usage. These tables bind each option to a variable
 * and its range. An error is one line that says what was expected and names the nearest option.
 */
#ifndef PLX_APP_OPTIONS_H
#define PLX_APP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#define PLX_OPTION_REPEATS 256
#define PLX_DEFAULT_CONFIG "/etc/parallax/parallax.yaml" /* default for --config */

enum plx_option_kind {
    PLX_OPTION_FLAG,    /* bool */
    PLX_OPTION_INTEGER, /* int, min..max, or one of CHOICE */
    PLX_OPTION_REAL,    /* double, min..max */
    PLX_OPTION_TEXT,    /* const char *, into argv */
    PLX_OPTION_LIST     /* struct plx_option_list: the option may be repeated */
};

struct plx_option_list {
    char *item[PLX_OPTION_REPEATS];
    int count;
};

struct plx_option {
    const char *name;     /* without the dashes */
    const char *argument; /* the name of the value in the help; NULL for a flag */
    enum plx_option_kind kind;
    void *value; /* set when the option is given */
    const char *help;
    double min, max;
    int choice[4]; /* ends at the first 0 */
};

/* clang-format off */
#define PLX_OPTION_KIND(VARIABLE) _Generic(&(VARIABLE), bool *: PLX_OPTION_FLAG, int *: PLX_OPTION_INTEGER, \
    double *: PLX_OPTION_REAL, const char **: PLX_OPTION_TEXT, struct plx_option_list *: PLX_OPTION_LIST)
/* An option of the kind that the type of VARIABLE says. Last come the help and the range. */
#define PLX_OPTION(NAME, ARGUMENT, VARIABLE, ...) \
    {.name = NAME, .argument = ARGUMENT, .kind = PLX_OPTION_KIND(VARIABLE), .value = &(VARIABLE), .help = __VA_ARGS__}
/* clang-format on */

#define PLX_MAX_WORDS 64

struct plx_command_line {
    const char *program; /* "parallax run": begins every error */
    const char *words;   /* names of the arguments that are no options, as args_doc of argp; NULL if there are none */
    const char *about;   /* a paragraph of the help */
    const struct plx_option *option; /* ends at one without a name; NULL if there are none */
    int min_words, max_words;
};

/*
 * Sets the variables of all options, and RET_WORD to the other arguments (NULL where they end); it may be NULL if there are
 * none. Ends the program after --help, --usage and --version, and with PLX_EXIT_USAGE and one line on standard error if the
 * command line is wrong.
 */
void plx_parse_command_line(const struct plx_command_line *line, int argc, char **argv, const char *ret_word[PLX_MAX_WORDS]);

/* Among COUNT names, STRIDE bytes from one pointer to the next, the one that differs least from WORD; NULL if none comes near.
 */
const char *plx_nearest_name(const char *word, const char *const *name, int count, size_t stride);

#endif
