/* SPDX-License-Identifier: Apache-2.0 */
/* The published enumerations in words, from their tables in parallax/vocabulary.h; libparallax has this file too. */
#include "core/base/words.h"

#include <stdio.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* The text of row INDEX, or OTHER where there is none. */
static const char *text_at(const char *const *text, size_t count, size_t index, const char *other)
{
    return index < count && text[index] ? text[index] : other;
}

/* A function that gives a column of TABLE; ROW makes an element of each row. */
#define WORDS(function, argument, TABLE, ROW, other)                                                                           \
    const char *function(argument index)                                                                                       \
    {                                                                                                                          \
        static const char *const text[] = {TABLE(ROW)};                                                                        \
        return text_at(text, COUNT(text), (size_t)index, other);                                                               \
    }
#define WORD_OF(index, NAME, word, ...) [index] = (word),
#define WORDS_OF(index, NAME, word, words, ...) [index] = (words),
#define ADVICE_OF(index, NAME, word, words, advice) [index] = (advice),
#define STAGE_WORD(NAME, word) [PLX_STAGE_##NAME] = (word),
#define UNKNOWN "unknown"

WORDS(plx_state_word, uint32_t, PLX_STATE_TABLE, WORD_OF, UNKNOWN)
WORDS(plx_stage_word, int, PLX_STAGE_TABLE, STAGE_WORD, UNKNOWN)
WORDS(plx_clock_word, uint32_t, PLX_CLOCK_TABLE, WORD_OF, UNKNOWN)
WORDS(plx_source_word, uint32_t, PLX_SOURCE_TABLE, WORD_OF, UNKNOWN)
WORDS(plx_source_note, uint32_t, PLX_SOURCE_TABLE, WORDS_OF, "pictures of an unknown source")
WORDS(plx_size_word, uint32_t, PLX_SIZE_TABLE, WORD_OF, UNKNOWN)
WORDS(plx_track_word, uint32_t, PLX_TRACK_TABLE, WORD_OF, UNKNOWN)
WORDS(plx_memory_word, uint32_t, PLX_MEMORY_TABLE, WORD_OF, UNKNOWN)
WORDS(plx_memory_words, uint32_t, PLX_MEMORY_TABLE, WORDS_OF, UNKNOWN)
WORDS(plx_health_name, int, PLX_HEALTH_TABLE, WORD_OF, UNKNOWN)
WORDS(plx_health_words, int, PLX_HEALTH_TABLE, WORDS_OF, "unknown fault")
WORDS(plx_health_advice, int, PLX_HEALTH_TABLE, ADVICE_OF, "")
WORDS(plx_cell_word, uint32_t, PLX_CELL_TABLE, WORD_OF, UNKNOWN)
WORDS(plx_verdict_word, uint32_t, PLX_VERDICT_TABLE, WORD_OF, UNKNOWN)
WORDS(plx_reason_name, int, PLX_REASON_TABLE, WORD_OF, UNKNOWN)
WORDS(plx_reason_words, int, PLX_REASON_TABLE, WORDS_OF, "unknown reason")
WORDS(plx_location_word, uint32_t, PLX_LOCATION_TABLE, WORD_OF, UNKNOWN)
WORDS(plx_location_words, uint32_t, PLX_LOCATION_TABLE, WORDS_OF, "unknown state")
WORDS(plx_blind_name, int, PLX_BLIND_TABLE, WORD_OF, UNKNOWN)
WORDS(plx_blind_words, int, PLX_BLIND_TABLE, WORDS_OF, "unknown reason")

/* The words of all set BITS, separated by ", ". */
static void sentence(uint32_t bits, const char *(*words)(int bit), char *ret_text, size_t size)
{
    size_t used = 0;
    snprintf(ret_text, size, "%s", "");
    for (int bit = 0; bit < 32 && used < size; bit++)
        if (bits >> bit & 1u)
            used += (size_t)snprintf(ret_text + used, size - used, "%s%s", used > 0 ? ", " : "", words(bit));
}

void plx_health_sentence(uint32_t health, char *ret_text, size_t size)
{
    sentence(health, plx_health_words, ret_text, size);
    if (!health)
        snprintf(ret_text, size, "no faults");
}

void plx_reason_sentence(uint32_t reasons, char *ret_text, size_t size)
{
    sentence(reasons, plx_reason_words, ret_text, size);
}

void plx_blind_sentence(uint32_t blind, char *ret_text, size_t size)
{
    sentence(blind, plx_blind_words, ret_text, size);
}
