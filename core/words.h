/* SPDX-License-Identifier: Apache-2.0 */
/* The published enumerations in words, for people: command line, logs, STATUS=. Static storage, never NULL. */
#ifndef PLX_CORE_WORDS_H
#define PLX_CORE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include <parallax/frame.h>

#define PLX_HEALTH_FLAGS 19 /* bits that have a meaning, from bit 0 on */

const char *plx_state_word(uint32_t state); /* "running"; "unknown" outside the enum */

const char *plx_stage_word(int stage); /* "convert" */

const char *plx_track_word(uint32_t status); /* "tracked" */

const char *plx_clock_word(uint32_t clock); /* "monotonic" */

const char *plx_source_word(uint32_t source); /* "v4l2" */

/* What a reader must know of pictures that do not show the world as it is now: "simulated pictures", "recorded pictures"; else
 * "". */
const char *plx_source_note(uint32_t source);

/* "userptr", "dmabuf", "mmap"; "none" where no camera is. And what that means, as a sentence part. */
const char *plx_memory_word(uint32_t memory);
const char *plx_memory_words(uint32_t memory);

/* Of one flag: a short name as in metrics and JSON ("camera_lost_left"), and a sentence part ("left camera lost"). */
const char *plx_health_name(int bit);
const char *plx_health_words(int bit);

/* All flags of HEALTH in words, separated by ", "; "no faults" for 0. Cut to fit SIZE. */
void plx_health_sentence(uint32_t health, char *ret_text, size_t size);

#endif
