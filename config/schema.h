/* SPDX-License-Identifier: Apache-2.0 */
/* The table of keys, from which parsing, errors, the dump, reload decisions and the documentation all come; and their values.
 */
#ifndef PLX_CONFIG_SCHEMA_H
#define PLX_CONFIG_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

#define PLX_KEY_NAME 64 /* bytes: holds the name of any key */

enum plx_key_type {
    PLX_KEY_INT,   /* int or uint32_t */
    PLX_KEY_PX,    /* int of 1/16 pixel, written in pixels */
    PLX_KEY_REAL,  /* double */
    PLX_KEY_BOOL,  /* bool */
    PLX_KEY_WORD,  /* one of some words, stored as int */
    PLX_KEY_TEXT,  /* char[] */
    PLX_KEY_BYTES, /* uint8_t[], a list of whole numbers */
    PLX_KEY_REALS, /* double[], a list of numbers */
    PLX_KEY_FLAGS, /* uint32_t of enum plx_health bits, written as their names, separated by commas */
    PLX_KEY_ZONES, /* struct plx_zone_list, see config/zones.h */
    PLX_KEY_PRESET /* one of some words, which sets the numbers of a whole section; stored nowhere */
};

/* True if values of TYPE are written as lists. */
static inline bool plx_key_is_list(enum plx_key_type type)
{
    return type == PLX_KEY_BYTES || type == PLX_KEY_REALS;
}

struct plx_word {
    const char *text; /* NULL ends the list */
    int value;
};

struct plx_key {
    const char *name; /* "section.leaf", or "leaf" at the top */
    const char *help; /* one sentence part, no full stop at its end */
    enum plx_key_type type;
    bool reloadable;        /* the running engine can use a new value */
    bool fixed;             /* a running service cannot change it */
    bool expert;            /* suits all robots: plx_config_dump_common leaves it out at its default */
    size_t offset, size;    /* in struct plx_config, bytes */
    struct plx_range range; /* stored number (INT, REAL, BYTES), unless core states it: see plx_key_range */
    const struct plx_word *words;
    const char *initial;    /* the default; NULL = that of plx_pipeline_params_default, else 0, false or "" */
    const char *other_name; /* name that people may try instead; the error then suggests this key; NULL = none */
};

extern const struct plx_key plx_keys[];
extern const int plx_key_count;

/* The key of that full name ("match" is short for "match.preset"), or NULL. */
const struct plx_key *plx_key_find(const char *name);

/* The range of the number that KEY stores: core's where the field has one there; NULL for a bool or a text. */
const struct plx_range *plx_key_range(const struct plx_key *key);

/* True if KEY has the same value in A and B. */
bool plx_key_is_same(const struct plx_key *key, const struct plx_config *a, const struct plx_config *b);

/* Checks combinations of keys. RANGE, with the key that is wrong in *ret_key and a sentence that begins with its name. */
int plx_config_find_error(const struct plx_config *config, const struct plx_key **ret_key, struct plx_error_message *message);

/* True if some key's name is NAME with a dot and a leaf. */
bool plx_key_is_section(const char *name);

/* The full name of the key or section that NAME was most likely meant to be. */
void plx_key_nearest(const char *name, char ret_nearest[PLX_KEY_NAME]);

enum plx_match_preset { PLX_MATCH_PRESET_DEFAULT, PLX_MATCH_PRESET_CLASSIC };

/* Sets the numbers of the preset; the size of the search (disparities, min_disparity, paths) stays. */
void plx_match_preset_apply(struct plx_match *match, enum plx_match_preset preset);
/* The preset from which MATCH differs in the fewest keys, without the size of the search; default where both are as near. */
enum plx_match_preset plx_match_preset_of(const struct plx_match *match);

/* Bytes that hold any value as text (a path of 4095 quotes, escaped; 16 zones), and any description. */
#define PLX_VALUE_TEXT 16384

/* What a user wrote: one item, or several where a list was written. */
struct plx_written {
    const char *const *item;
    int count;
    bool quoted; /* in quotes: text, so no number and no boolean */
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
