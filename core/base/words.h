/* SPDX-License-Identifier: Apache-2.0 */
/* Words for numbers of a frame that only programs of Parallax need; those for all are in parallax/words.h. In static storage,
 * never NULL. */
#ifndef PLX_CORE_BASE_WORDS_H
#define PLX_CORE_BASE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include <parallax/vocabulary.h>
#include <parallax/words.h>

#define PLX_BLIND_SENTENCE 128 /* bytes that hold every plx_blind_sentence */

/* Bits of enum plx_health that have a meaning, from bit 0 on. */
#define PLX_HEALTH_PLACE(bit, NAME, ...) PLX_HEALTH_PLACE_##NAME,
enum { PLX_HEALTH_TABLE(PLX_HEALTH_PLACE) PLX_HEALTH_FLAGS };

const char *plx_clock_word(uint32_t clock);   /* "monotonic" */
const char *plx_memory_word(uint32_t memory); /* "userptr", "dmabuf", "mmap"; "none" without a camera */

/* Longer forms, as parts of a sentence. */
const char *plx_memory_words(uint32_t memory);  /* "one copy (MMAP)" */
const char *plx_health_words(int bit);          /* "left camera lost" */
const char *plx_health_advice(int bit);         /* what to do: a sentence or two */
const char *plx_blind_words(int bit);           /* "no ground was found" */
const char *plx_reason_words(int bit);          /* "something stands in a zone" */
const char *plx_location_words(uint32_t state); /* "only ground is seen in the box" */
const char *plx_source_note(uint32_t source);   /* "simulated pictures", "recorded pictures"; "" for pictures of a camera */

/* All flags of HEALTH in words, separated by ", "; "no faults" for 0. Cut to fit SIZE. */
void plx_health_sentence(uint32_t health, char *ret_text, size_t size);
/* Likewise of enum plx_reason_bit; "" for 0. */
void plx_reason_sentence(uint32_t reasons, char *ret_text, size_t size);
/* Likewise of enum plx_blind; "" for 0. */
void plx_blind_sentence(uint32_t blind, char *ret_text, size_t size);

#endif
