/* SPDX-License-Identifier: Apache-2.0 */
/* Verdict, zones and map in words and as JSON. */
#ifndef PLX_APP_VIEW_VERDICT_H
#define PLX_APP_VIEW_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>
#include <parallax/frame.h>

#define PLX_VERDICT_TEXT 1024

/* "go", or "stop: something stands in a zone (front, 1.32 m)". */
void plx_verdict_text(const struct plx_verdict_now *verdict, char *ret_text, size_t size);

/* Whether a person would call both the same: of one kind, for the same reasons, in the same zone. */
bool plx_verdict_is_same(const struct plx_verdict_now *a, const struct plx_verdict_now *b);

/* {"verdict": "stop", "reasons": ["occupied"], ...}; a new item of the caller. */
cJSON *plx_verdict_json(const struct plx_verdict_now *verdict);

/* A list of the zones of FRAME, and its map; null where there is none. */
cJSON *plx_zones_json(const struct plx_frame *frame);
cJSON *plx_map_json(const struct plx_map_info *map);

/* "front: occupied, 1.32 m, 97 % known" */
#define PLX_ZONE_TEXT 256
void plx_zone_text(const struct plx_zone_info *zone, char *ret_text, size_t size);

#endif
