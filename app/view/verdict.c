/* SPDX-License-Identifier: Apache-2.0 */
#include "app/view/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/view/json.h"
#include "core/base/words.h"

/* " (front, 1.32 m)", "" without a zone. */
static void place_text(const char *name, double distance_m, char *ret_text, size_t size)
{
    if (!*name)
        snprintf(ret_text, size, "%s", "");
    else if (isfinite(distance_m))
        snprintf(ret_text, size, " (%s, %.2f m)", name, distance_m);
    else
        snprintf(ret_text, size, " (%s)", name);
}

void plx_verdict_text(const struct plx_verdict_now *verdict, char *ret_text, size_t size)
{
    char reasons[320], faults[512], place[64];

    plx_reason_sentence(verdict->reasons & ~(uint32_t)PLX_REASON_FAULT, reasons, sizeof reasons);
    plx_health_sentence(verdict->faults, faults, sizeof faults);
    place_text(verdict->name, (double)verdict->distance_m, place, sizeof place);
    const bool has_fault = verdict->reasons & PLX_REASON_FAULT;
    snprintf(ret_text, size, "%s%s%s%s%s%s", plx_verdict_word(verdict->verdict), verdict->reasons ? ": " : "", reasons, place,
             has_fault && *reasons ? "; " : "", has_fault ? faults : "");
}

bool plx_verdict_is_same(const struct plx_verdict_now *a, const struct plx_verdict_now *b)
{
    return a->verdict == b->verdict && a->reasons == b->reasons && a->faults == b->faults && strcmp(a->name, b->name) == 0;
}

cJSON *plx_verdict_json(const struct plx_verdict_now *verdict)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "verdict", plx_verdict_word(verdict->verdict));
    cJSON_AddItemToObject(item, "reasons", plx_json_names(verdict->reasons, plx_reason_name));
    cJSON_AddItemToObject(item, "faults", plx_json_health(verdict->faults));
    cJSON_AddItemToObject(item, "zone", *verdict->name ? cJSON_CreateString(verdict->name) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "distance_m", plx_json_number((double)verdict->distance_m, 3));
    cJSON_AddItemToObject(item, "speed_mps", plx_json_number((double)verdict->speed_mps, 3));
    cJSON_AddNumberToObject(item, "sequence", (double)verdict->sequence);
    cJSON_AddItemToObject(item, "valid_ms", plx_json_number((double)verdict->valid_ns / 1e6, 3));
    return item;
}

void plx_zone_text(const struct plx_zone_info *zone, char *ret_text, size_t size)
{
    char reasons[160], distance[32] = "";

    plx_reason_sentence(zone->reasons, reasons, sizeof reasons);
    if (isfinite(zone->nearest_m))
        snprintf(distance, sizeof distance, ", %.2f m", (double)zone->nearest_m);
    snprintf(ret_text, size, "%s: %s%s, %.0f %% known%s", zone->name, *reasons ? reasons : "free", distance,
             100 * (double)zone->known, zone->active ? "" : ", does not count at this speed");
}

cJSON *plx_zones_json(const struct plx_frame *frame)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < PLX_MAX_ZONES; i++) {
        const struct plx_zone_info *zone = &frame->zone[i];
        if (zone->points == 0)
            continue;
        cJSON *item = cJSON_CreateObject(), *polygon = cJSON_CreateArray();
        for (uint32_t p = 0; p < zone->points && p < PLX_ZONE_POINTS; p++) {
            cJSON *point = cJSON_CreateArray();
            for (int axis = 0; axis < 2; axis++)
                cJSON_AddItemToArray(point, plx_json_number((double)zone->polygon[p][axis], 3));
            cJSON_AddItemToArray(polygon, point);
        }
        cJSON_AddStringToObject(item, "name", zone->name);
        cJSON_AddItemToObject(item, "polygon_m", polygon);
        cJSON_AddBoolToObject(item, "active", zone->active != 0);
        cJSON_AddStringToObject(item, "verdict", plx_verdict_word(zone->verdict));
        cJSON_AddItemToObject(item, "reasons", plx_json_names(zone->reasons, plx_reason_name));
        cJSON_AddItemToObject(item, "nearest_m", plx_json_number((double)zone->nearest_m, 3));
        cJSON_AddItemToObject(item, "known", plx_json_number((double)zone->known, 3));
        cJSON_AddItemToObject(item, "depth", plx_json_number((double)zone->depth, 3));
        cJSON_AddItemToArray(list, item);
    }
    return list;
}

cJSON *plx_map_json(const struct plx_map_info *map)
{
    if (!map->valid)
        return cJSON_CreateNull();
    cJSON *item = cJSON_CreateObject();
    cJSON_AddBoolToObject(item, "remembers", map->remembers != 0);
    cJSON_AddNumberToObject(item, "origin_x", map->origin_x);
    cJSON_AddNumberToObject(item, "origin_y", map->origin_y);
    cJSON_AddItemToObject(item, "x_m", plx_json_number(map->x_m, 3));
    cJSON_AddItemToObject(item, "y_m", plx_json_number(map->y_m, 3));
    cJSON_AddItemToObject(item, "yaw_rad", plx_json_number(map->yaw_rad, 4));
    return item;
}
