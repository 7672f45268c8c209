/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The enumerations of parallax/frame.h in words, as the command, JSON and metrics write them. Static storage, never NULL:
 * "unknown" for a number outside the enumeration, as a newer service may publish. Functions may be called from any thread.
 */
#ifndef PARALLAX_WORDS_H
#define PARALLAX_WORDS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

const char *plx_state_word(uint32_t state);     /* enum plx_state: "running" */
const char *plx_health_name(int bit);           /* bit of enum plx_health, 0 .. 31: "camera_lost_left" */
const char *plx_blind_name(int bit);            /* bit of enum plx_blind, 0 .. 31: "no_ground" */
const char *plx_source_word(uint32_t source);   /* enum plx_source_type: "v4l2" */
const char *plx_stage_word(int stage);          /* enum plx_stage: "convert" */
const char *plx_track_word(uint32_t status);    /* enum plx_track_status: "tracked" */
const char *plx_size_word(uint32_t size_class); /* enum plx_size_class: "medium"; PLX_SIZE_UNKNOWN is "unknown" as well */
const char *plx_cell_word(uint32_t kind);       /* enum plx_cell_kind: "free" */
const char *plx_verdict_word(uint32_t verdict); /* enum plx_verdict_kind: "go" */
const char *plx_reason_name(int bit);           /* bit of enum plx_reason_bit, 0 .. 31: "occupied" */
const char *plx_location_word(uint32_t state);  /* enum plx_location_state: "ambiguous" */

#ifdef __cplusplus
}
#endif
#endif
