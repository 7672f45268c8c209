/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that several commands print. Each function returns a new item, which the caller owns. */
#ifndef PLX_APP_VIEW_JSON_H
#define PLX_APP_VIEW_JSON_H

#include <stdbool.h>

#include <cjson/cJSON.h>
#include <parallax/client.h>

#include "app/view/frame_text.h"

/* Obstacles seen in FRAME, nearest first; METRIC false leaves the metres out. */
cJSON *plx_json_obstacles(const struct plx_frame *frame, bool metric);

/* The nearest drop; null where it is not known whether there is one. */
cJSON *plx_json_drop(const struct plx_drop *drop);

/* Names of the health flags that are set. */
cJSON *plx_json_health(uint32_t health);
cJSON *plx_json_blind(uint32_t blind); /* names of enum plx_blind bits */

/* NAME of each set bit of BITS. */
cJSON *plx_json_names(uint32_t bits, const char *(*name)(int bit));

/* {"convert": 120, ...}, microseconds. */
cJSON *plx_json_stages(const uint32_t stage_us[PLX_STAGE_COUNT]);

/* How well the rows of both images match; null where it is not measured. */
cJSON *plx_json_alignment(const struct plx_alignment_info *alignment);

/* What the newest pictures say about the calibration; null where nothing is measured. */
cJSON *plx_json_drift(const struct plx_drift_info *drift);

/* The gains; null where there is no colour, or nothing is known of the light yet. */
cJSON *plx_json_white_balance(const struct plx_colour_info *colour);

/* The corrections of the calibration, null for one that there is none of; and the numbers of one. */
cJSON *plx_json_corrections(const struct plx_correction_info *corrections);
cJSON *plx_json_correction(const struct plx_correction *correction);

/* Ego-motion; null where it is not measured. Its numbers are null while it is unknown, but for the counts and the pose. */
cJSON *plx_json_motion(const struct plx_motion_info *motion);

/* Where the thing in BOX is; null for each number that is not known. */
cJSON *plx_json_location(const struct plx_box *box, const struct plx_location *location);

/* NUMBER rounded to DIGITS decimals, null where it is not finite. */
cJSON *plx_json_number(double number, int digits);

/* Prints ITEM on stdout and deletes it. */
void plx_json_print(cJSON *item);

/* The same on one line. */
void plx_json_print_line(cJSON *item);

#endif
