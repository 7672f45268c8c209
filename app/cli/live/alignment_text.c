/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/live/alignment_text.h"

#include <stdio.h>

#include "app/cli/json.h"

static const double degrees = 57.29577951308232; /* of a radian */

/* What that many rows mean, from the most on. */
static const struct {
    float rows;
    const char *words;
} meaning[] = {
    {4, "px off, no depth can be trusted: calibrate again"},
    {2, "px off, depth is wrong or missing in places: calibrate again"},
    {1, "px off, more than a calibration should leave"},
    {0, "px off at most"},
};

void plx_alignment_text(const struct plx_alignment_info *alignment, char *ret_text, size_t size)
{
    size_t i = 0;

    if (alignment->patches == 0) {
        snprintf(ret_text, size, "not measured: too little texture, or rows too far off");
        return;
    }
    while (alignment->worst_rows < meaning[i].rows)
        i++;
    snprintf(ret_text, size, "%.1f %s (pitch %.2f deg, roll %.2f deg, scale %.4f)", (double)alignment->worst_rows,
             meaning[i].words, (double)alignment->pitch_rad * degrees, (double)alignment->roll_rad * degrees,
             (double)alignment->scale);
}

cJSON *plx_alignment_json(const struct plx_alignment_info *alignment)
{
    if (alignment->patches == 0)
        return cJSON_CreateNull();
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "patches", alignment->patches);
    cJSON_AddItemToObject(item, "rows_px", plx_json_number((double)alignment->rows, 3));
    cJSON_AddItemToObject(item, "worst_rows_px", plx_json_number((double)alignment->worst_rows, 3));
    cJSON_AddItemToObject(item, "pitch_rad", plx_json_number((double)alignment->pitch_rad, 6));
    cJSON_AddItemToObject(item, "roll_rad", plx_json_number((double)alignment->roll_rad, 6));
    cJSON_AddItemToObject(item, "scale", plx_json_number((double)alignment->scale, 6));
    return item;
}
