/* SPDX-License-Identifier: Apache-2.0 */
/* Values of keys as text: parses them into the configuration, prints them, and describes what a key accepts. */
#include "config/schema.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>
#include <parallax/words.h>

#include "config/text.h"
#include "config/zones.h"

/* A key may take only some of the words that it shares with others. */
static bool takes(const struct plx_key *key, const struct plx_word *word)
{
    const struct plx_range *range = plx_key_range(key);
    return !range || plx_range_contains(range, word->value);
}

static const struct plx_word *word_of_text(const struct plx_key *key, const char *text)
{
    for (const struct plx_word *word = key->words; word && word->text; word++)
        if (strcmp(word->text, text) == 0 && takes(key, word))
            return word;
    return NULL;
}

static void list_words(const struct plx_key *key, char ret_text[PLX_VALUE_TEXT])
{
    const char *taken[8]; /* no key takes more words */
    int count = 0;
    size_t used = 0;
    for (const struct plx_word *word = key->words; word && word->text && count < 8; word++)
        if (takes(key, word))
            taken[count++] = word->text;
    for (int i = 0; i < count; i++) {
        const char *before = i == 0 ? "" : i + 1 < count ? ", " : " or ";
        used += (size_t)snprintf(ret_text + used, PLX_VALUE_TEXT - used, "%s%s", before, taken[i]);
    }
}

/* Items of a list. */
static size_t items(const struct plx_key *key)
{
    return key->type == PLX_KEY_REALS ? key->size / sizeof(double) : key->size;
}

void plx_value_expected(const struct plx_key *key, char ret_text[PLX_VALUE_TEXT])
{
    const struct plx_range *range = plx_key_range(key);
    switch (key->type) {
    case PLX_KEY_INT:
    case PLX_KEY_REAL:
        plx_range_text(range, ret_text);
        break;
    case PLX_KEY_PX:
        snprintf(ret_text, PLX_VALUE_TEXT, "a multiple of %g from %g to %.10g", 1.0 / PLX_DISPARITY_ONE,
                 range->min / PLX_DISPARITY_ONE, range->max / PLX_DISPARITY_ONE);
        break;
    case PLX_KEY_BOOL:
        snprintf(ret_text, PLX_VALUE_TEXT, "true or false");
        break;
    case PLX_KEY_WORD:
    case PLX_KEY_PRESET:
        list_words(key, ret_text);
        break;
    case PLX_KEY_TEXT:
        snprintf(ret_text, PLX_VALUE_TEXT, "text of at most %zu bytes", key->size - 1);
        break;
    case PLX_KEY_BYTES:
    case PLX_KEY_REALS:
        snprintf(ret_text, PLX_VALUE_TEXT, "a list of %zu %snumbers from %g to %g", items(key),
                 key->type == PLX_KEY_BYTES ? "whole " : "", range->min, range->max);
        break;
    case PLX_KEY_FLAGS:
        snprintf(ret_text, PLX_VALUE_TEXT, "names of health flags, separated by commas, such as desync,frozen");
        break;
    case PLX_KEY_ZONES:
        snprintf(ret_text, PLX_VALUE_TEXT, "a list of at most %d zones, each with a name and a polygon", PLX_MAX_ZONES);
        break;
    }
}

static int refuse(const struct plx_key *key, int error, const char *text, struct plx_error_message *message)
{
    char expected[PLX_VALUE_TEXT], quoted[PLX_QUOTED_TEXT];
    plx_value_expected(key, expected);
    return plx_fail(message, error, "%s is \"%s\"; expected %s", key->name, plx_quote(text, quoted), expected);
}

/* *ret_value: the number as it is stored. */
static int parse_number(const struct plx_key *key, const char *text, struct plx_error_message *message, double *ret_value)
{
    const bool has_fraction = key->type == PLX_KEY_REAL || key->type == PLX_KEY_REALS || key->type == PLX_KEY_PX;
    const size_t sign = text[0] == '-' || text[0] == '+';
    double value = 0; /* holds every number within any key's range exactly */
    const bool is_whole = text[sign + strspn(text + sign, "0123456789")] == '\0';
    if ((!has_fraction && !is_whole) || !plx_parse_real(text, &value))
        return refuse(key, PLX_ERR_FORMAT, text, message);
    if (key->type == PLX_KEY_PX)
        value *= PLX_DISPARITY_ONE;
    if (!plx_range_contains(plx_key_range(key), value) || (key->type == PLX_KEY_PX && value != floor(value)))
        return refuse(key, PLX_ERR_RANGE, text, message);
    *ret_value = value;
    return 0;
}

static int store_number(const struct plx_key *key, const char *text, void *ret_field, struct plx_error_message *message)
{
    double value = 0;
    int result = parse_number(key, text, message, &value);
    const int whole = (int)value;
    if (result == 0)
        memcpy(ret_field, key->type == PLX_KEY_REAL ? (const void *)&value : &whole, key->size);
    return result;
}

static int parse_text(const struct plx_key *key, const char *text, struct plx_error_message *message, char *ret_text)
{
    size_t length = strlen(text);
    if (length >= key->size)
        return refuse(key, PLX_ERR_RANGE, text, message);
    if (!plx_is_printable(text))
        return plx_fail(message, PLX_ERR_FORMAT, "%s holds a control character or no UTF-8; expected printable UTF-8",
                        key->name);
    memset(ret_text, 0, key->size);
    memcpy(ret_text, text, length + 1);
    return 0;
}

static int parse_list(const struct plx_key *key, const struct plx_written *written, struct plx_error_message *message,
                      void *ret_field)
{
    uint8_t byte[256];
    double real[sizeof byte / sizeof(double)];
    if ((size_t)written->count != items(key) || key->size > sizeof byte) {
        char expected[PLX_VALUE_TEXT];
        plx_value_expected(key, expected);
        return plx_fail(message, PLX_ERR_FORMAT, "%s has %d items; expected %s", key->name, written->count, expected);
    }
    for (int i = 0; i < written->count; i++) {
        double value = 0;
        int result = parse_number(key, written->item[i], message, &value);
        if (result < 0)
            return result;
        if (key->type == PLX_KEY_REALS)
            real[i] = value;
        else
            byte[i] = (uint8_t)value;
    }
    memcpy(ret_field, key->type == PLX_KEY_REALS ? (const void *)real : byte, key->size);
    return 0;
}

int plx_value_parse(const struct plx_key *key, const struct plx_written *written, struct plx_config *config,
                    struct plx_error_message *message)
{
    void *field = (char *)config + key->offset;
    const char *text = written->count > 0 ? written->item[0] : "";
    if (plx_key_is_list(key->type))
        return parse_list(key, written, message, field);
    if (written->list)
        return refuse(key, PLX_ERR_FORMAT, "[...]", message);
    if (key->type == PLX_KEY_TEXT)
        return parse_text(key, text, message, field);
    if (key->type == PLX_KEY_FLAGS)
        return plx_health_flags_parse(text, field) ? 0 : refuse(key, PLX_ERR_RANGE, text, message);
    if (key->type == PLX_KEY_ZONES)
        return plx_zones_parse_text(text, field, message);
    if (written->quoted && !key->words)
        return refuse(key, PLX_ERR_FORMAT, text, message);

    if (key->words) {
        const struct plx_word *word = word_of_text(key, text);
        if (!word)
            return refuse(key, PLX_ERR_RANGE, text, message);
        if (key->type == PLX_KEY_PRESET)
            plx_match_preset_apply(&config->pipeline.match, (enum plx_match_preset)word->value);
        else
            memcpy(field, &word->value, sizeof word->value);
        return 0;
    }
    if (key->type == PLX_KEY_BOOL) {
        bool yes = strcmp(text, "true") == 0;
        if (!yes && strcmp(text, "false") != 0)
            return refuse(key, PLX_ERR_FORMAT, text, message);
        memcpy(field, &yes, sizeof yes);
        return 0;
    }
    return store_number(key, text, field, message);
}

static void print_words(const struct plx_key *key, int value, char ret_text[PLX_VALUE_TEXT])
{
    const struct plx_word *word = key->words;
    while (word->text && word->value != value)
        word++;
    snprintf(ret_text, PLX_VALUE_TEXT, "%s", word->text ? word->text : "?");
}

/* The fewest digits that read back as the same bits. */
static void print_real(double value, char ret_text[PLX_VALUE_TEXT])
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(ret_text, PLX_VALUE_TEXT, "%.*g", digits, value);
        if (strtod(ret_text, NULL) == value)
            return;
    }
}

/* Double quotes, where YAML knows escapes; parse_text lets no control character in. */
static void print_text(const char *text, char ret_text[PLX_VALUE_TEXT])
{
    size_t used = 0;
    ret_text[used++] = '"';
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            ret_text[used++] = '\\';
        ret_text[used++] = *text;
    }
    ret_text[used++] = '"';
    ret_text[used] = '\0';
}

static void print_bytes(const uint8_t *byte, size_t count, char ret_text[PLX_VALUE_TEXT])
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(ret_text + used, PLX_VALUE_TEXT - used, "%s%d", i == 0 ? "[" : ", ", byte[i]);
    snprintf(ret_text + used, PLX_VALUE_TEXT - used, "]");
}

static void print_reals(const double *real, size_t count, char ret_text[PLX_VALUE_TEXT])
{
    char text[PLX_VALUE_TEXT];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        print_real(real[i], text);
        used += (size_t)snprintf(ret_text + used, PLX_VALUE_TEXT - used, "%s%.30s", i == 0 ? "[" : ", ", text);
    }
    snprintf(ret_text + used, PLX_VALUE_TEXT - used, "]");
}

static void print_flags(uint32_t flags, char ret_text[PLX_VALUE_TEXT])
{
    size_t used = (size_t)snprintf(ret_text, PLX_VALUE_TEXT, "\"");
    for (int bit = 0; bit < 32; bit++)
        if (flags >> bit & 1u)
            used += (size_t)snprintf(ret_text + used, PLX_VALUE_TEXT - used, "%s%s", used > 1 ? "," : "", plx_health_name(bit));
    snprintf(ret_text + used, PLX_VALUE_TEXT - used, "\"");
}

void plx_value_print(const struct plx_key *key, const struct plx_config *config, char ret_text[PLX_VALUE_TEXT])
{
    const void *field = (const char *)config + key->offset;
    int whole = 0;
    if (key->size == sizeof whole)
        memcpy(&whole, field, sizeof whole);
    switch (key->type) {
    case PLX_KEY_INT:
        snprintf(ret_text, PLX_VALUE_TEXT, "%d", whole);
        break;
    case PLX_KEY_PX:
        print_real((double)whole / PLX_DISPARITY_ONE, ret_text);
        break;
    case PLX_KEY_REAL:
        print_real(*(const double *)field, ret_text);
        break;
    case PLX_KEY_BOOL:
        snprintf(ret_text, PLX_VALUE_TEXT, "%s", *(const bool *)field ? "true" : "false");
        break;
    case PLX_KEY_WORD:
        print_words(key, whole, ret_text);
        break;
    case PLX_KEY_PRESET:
        print_words(key, (int)plx_match_preset_of(&config->pipeline.match), ret_text);
        break;
    case PLX_KEY_TEXT:
        print_text(field, ret_text);
        break;
    case PLX_KEY_BYTES:
        print_bytes(field, key->size, ret_text);
        break;
    case PLX_KEY_REALS:
        print_reals(field, items(key), ret_text);
        break;
    case PLX_KEY_FLAGS:
        print_flags(*(const uint32_t *)field, ret_text);
        break;
    case PLX_KEY_ZONES:
        plx_zones_print(field, ret_text, PLX_VALUE_TEXT);
        break;
    }
}
