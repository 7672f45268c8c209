/* SPDX-License-Identifier: Apache-2.0 */
/* Command-line options as a table: parsing, range checks and the help text all come from it. */
#ifndef PLX_CLI_OPTIONS_H
#define PLX_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#define PLX_OPTION_REPEATS 64

enum plx_option_kind {
    PLX_OPTION_FLAG,    /* bool */
    PLX_OPTION_INTEGER, /* int, min..max, or one of CHOICE */
    PLX_OPTION_REAL,    /* double, min..max */
    PLX_OPTION_TEXT,    /* const char *, into argv */
    PLX_OPTION_LIST     /* struct plx_list: may be repeated */
};

struct plx_list {
    const char *item[PLX_OPTION_REPEATS];
    int count;
};

struct plx_option {
    const char *name;     /* without the dashes */
    const char *argument; /* how help calls the value; NULL for a flag */
    enum plx_option_kind kind;
    void *value; /* set when the option is given; as KIND says */
    double min, max;
    int choice[4]; /* ends at the first 0 */
    const char *help;
};

/* What a subcommand takes. `--help` is understood everywhere. */
struct plx_usage {
    const char *command;
    const char *synopsis; /* lines after `parallax COMMAND `, separated by newlines */
    const char *about;    /* a paragraph */
    const struct plx_option *option;
    int option_count;
    int min_words, max_words; /* arguments that are no options; at most 2 */
};

struct plx_words {
    const char *item[2];
    int count;
};

/* True: everything is set, go on. False: end the program with *ret_exit; help was printed on stdout or an error on stderr. */
bool plx_options_parse(const struct plx_usage *usage, int argc, char **argv, struct plx_words *ret_words, int *ret_exit);

/* Among COUNT names, STRIDE bytes from one pointer to the next, the one that differs least from WORD; NULL if none comes near.
 */
const char *plx_nearest_name(const char *word, const char *const *name, int count, size_t stride);

/* Prints `parallax COMMAND: ...` as one line on stderr and returns EXIT_CODE. */
int plx_cli_fail(const char *command, int exit_code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
