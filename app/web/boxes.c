/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/boxes.h"

#include <math.h>

#include <parallax/error.h>

#include "app/view/export.h"
#include "app/view/json.h"
#include "core/base/words.h"

#define NUMBERS 4 /* x, y, width and height of a box */

_Static_assert(PLX_WEB_MAX_BOXES == 16, "PLX_WEB_BOXES_EXPECTED says so");

static int read_box(const cJSON *item, struct plx_box *ret_box)
{
    int32_t number[NUMBERS];
    if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) != NUMBERS)
        return PLX_ERR_ARG;
    for (int i = 0; i < NUMBERS; i++) {
        const cJSON *each = cJSON_GetArrayItem(item, i);
        const double value = cJSON_IsNumber(each) ? each->valuedouble : (double)NAN;
        if (!(value >= INT32_MIN && value <= INT32_MAX) || value != floor(value))
            return PLX_ERR_ARG;
        number[i] = (int32_t)value;
    }
    if (number[2] < 1 || number[3] < 1)
        return PLX_ERR_ARG;
    *ret_box = (struct plx_box){.x = number[0], .y = number[1], .width = number[2], .height = number[3]};
    return 0;
}

int plx_web_boxes_read(const cJSON *list, struct plx_web_boxes *ret_boxes)
{
    struct plx_web_boxes boxes = {.count = 0};
    const cJSON *item;
    if (!cJSON_IsArray(list))
        return PLX_ERR_ARG;
    cJSON_ArrayForEach (item, list) {
        if (boxes.count == PLX_WEB_MAX_BOXES || read_box(item, &boxes.box[boxes.count]) < 0)
            return PLX_ERR_ARG;
        boxes.count++;
    }
    *ret_boxes = boxes;
    return 0;
}

cJSON *plx_web_boxes_locate(const struct plx_web_boxes *boxes, const struct plx_frame *frame)
{
    const struct plx_view view = plx_export_view(frame);
    struct plx_location location[PLX_WEB_MAX_BOXES];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "sequence", (double)frame->sequence);
    cJSON *list = cJSON_AddArrayToObject(item, "boxes");
    if (plx_locate(&view, boxes->box, boxes->count, location) < 0)
        return item;
    for (uint32_t i = 0; i < boxes->count; i++) {
        cJSON *place = plx_json_location(&boxes->box[i], &location[i]);
        if (location[i].state != PLX_LOCATION_KNOWN)
            cJSON_AddStringToObject(place, "reason", plx_location_words(location[i].state));
        cJSON_AddItemToArray(list, place);
    }
    return item;
}
