/* SPDX-License-Identifier: Apache-2.0 */
/* Values of keys as text: parsed into the configuration, printed out of it, described. */
#ifndef PLX_CONFIG_VALUE_H
#define PLX_CONFIG_VALUE_H

#include "config/schema.h"

#define PLX_VALUE_TEXT 8704 /* bytes: holds any value as text (a path of 4095 quotes, escaped), and any description */

/* What a user wrote: one item, or several where a list was written. */
struct plx_written {
    const char *const *item;
    int count;
    bool quoted; /* text by its form, so no number and no truth value */
    bool list;
};

/* Parses WRITTEN into KEY's field of *config, which is unchanged on failure. FORMAT or RANGE with `KEY is "...": expected ...`.
 */
int plx_value_parse(const struct plx_key *key, const struct plx_written *written, struct plx_config *config,
                    struct plx_error_message *message);

/* The value of KEY in CONFIG as YAML that parses to the same bits. */
void plx_value_print(const struct plx_key *key, const struct plx_config *config, char ret_text[PLX_VALUE_TEXT]);

/* What KEY accepts, in words: "a whole number from 0 to 256". */
void plx_value_expected(const struct plx_key *key, char ret_text[PLX_VALUE_TEXT]);

#endif
