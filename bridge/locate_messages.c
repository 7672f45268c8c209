/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/locate_messages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bridge/diagnostics_message.h"
#include "bridge/frame_parts.h"
#include "core/base/words.h"

#define MAX_PIXELS 1e6

bool plx_boxes_fit(const struct ros_detection_2d_array *boxes)
{
    uint64_t hypotheses = 0;
    if (boxes->detections.count > PLX_LOCATE_MAX_BOXES)
        return false;
    for (uint32_t i = 0; i < boxes->detections.count; i++)
        hypotheses += boxes->detections.data[i].results.count;
    return hypotheses <= PLX_LOCATE_MAX_HYPOTHESES;
}

/* One axis of a box. False: NAN passes no comparison. */
static bool round_edges(double centre, double size, int32_t *ret_begin, int32_t *ret_size)
{
    if (!(fabs(centre) <= MAX_PIXELS && size > 0 && size <= MAX_PIXELS))
        return false;
    const int32_t begin = (int32_t)lround(centre - size / 2), end = (int32_t)lround(centre + size / 2);
    *ret_begin = begin;
    *ret_size = end > begin ? end - begin : 1;
    return true;
}

bool plx_box_of_message(const struct ros_bounding_box_2d *box, struct plx_box *ret_box)
{
    *ret_box = (struct plx_box){.width = 0};
    const bool valid = round_edges(box->center.position.x, box->size_x, &ret_box->x, &ret_box->width) &&
                       round_edges(box->center.position.y, box->size_y, &ret_box->y, &ret_box->height);
    if (!valid)
        *ret_box = (struct plx_box){.width = 0};
    return valid;
}

static bool is_known(const struct plx_boxes_answer *answer, uint32_t i)
{
    return answer->frame == PLX_BOXES_FRAME_FOUND && !answer->is_invalid[i] && answer->location[i].state == PLX_LOCATION_KNOWN;
}

/* The box of what is seen of a thing: its surface, which has no depth. */
static struct ros_bounding_box_3d box_of(const struct plx_location *location)
{
    if (!location)
        return (struct ros_bounding_box_3d){{{NAN, NAN, NAN}, {.w = 1}}, {NAN, NAN, NAN}};
    const float *at = location->position_m;
    return (struct ros_bounding_box_3d){
        .center = {{(double)at[0], (double)at[1], (double)at[2]}, {.w = 1}},
        .size = {(double)location->size_m[0], (double)location->size_m[1], 0},
    };
}

static const char *word_of(const struct plx_boxes_answer *answer, uint32_t i, const char **ret_words)
{
    if (answer->frame == PLX_BOXES_TOO_LATE) {
        *ret_words = "the frame is no longer in the service's memory";
        return "too_late";
    }
    if (answer->frame == PLX_BOXES_NO_FRAME) {
        *ret_words = "no frame has this stamp; expected that of the picture";
        return "no_frame";
    }
    if (answer->is_invalid[i]) {
        *ret_words = "the box has no size, or numbers that are not finite";
        return "invalid_box";
    }
    *ret_words = plx_location_words(answer->location[i].state);
    return plx_location_word(answer->location[i].state);
}

/* The reason of box I, and what of its place a detection has no field for. */
static struct ros_diagnostic_status status_of(const struct ros_detection_2d *box, const struct plx_boxes_answer *answer,
                                              uint32_t i, struct plx_locate_scratch *scratch)
{
    const struct plx_location *l = &answer->location[i];
    struct ros_key_value *value = scratch->value[i];
    char(*text)[16] = scratch->text[i];
    const bool known = is_known(answer, i);
    const char *words;
    value[0] = (struct ros_key_value){"state", word_of(answer, i, &words)};
    if (known) {
        snprintf(text[0], sizeof text[0], "%.3f", (double)l->sigma_m);
        snprintf(text[1], sizeof text[1], "%.2f", (double)l->share);
        snprintf(text[2], sizeof text[2], "%u", l->track);
        value[1] = (struct ros_key_value){"sigma_m", text[0]};
        value[2] = (struct ros_key_value){"share", text[1]};
        value[3] = (struct ros_key_value){"track", text[2]};
    }
    return (struct ros_diagnostic_status){
        .level = known ? PLX_DIAGNOSTIC_OK : PLX_DIAGNOSTIC_WARN,
        .name = box->id,
        .message = words,
        .hardware_id = "parallax",
        .values = {.data = value, .count = known ? 4 : 1},
    };
}

void plx_message_located(const struct ros_detection_2d_array *boxes, const struct plx_boxes_answer *answer,
                         const char *frame_id, struct plx_locate_scratch *scratch,
                         struct ros_detection_3d_array *ret_detections, struct ros_diagnostic_array *ret_info)
{
    const struct ros_header header = {boxes->header.stamp, frame_id};
    const uint32_t count = boxes->detections.count;
    struct ros_object_hypothesis_with_pose *next = scratch->hypothesis;
    for (uint32_t i = 0; i < count; i++) {
        const struct ros_detection_2d *box = &boxes->detections.data[i];
        const struct plx_location *location = is_known(answer, i) ? &answer->location[i] : NULL;
        struct ros_detection_3d *detection = &scratch->detection[i];
        *detection = (struct ros_detection_3d){
            .header = header,
            .results = {.data = next, .count = box->results.count},
            .bbox = box_of(location),
            .id = box->id,
        };
        for (uint32_t k = 0; k < box->results.count; k++, next++) {
            next->hypothesis = box->results.data[k].hypothesis;
            next->pose.pose = detection->bbox.center;
            const struct ros_point *at = &detection->bbox.center.position;
            plx_position_covariance((const double[]){at->x, at->y, at->z}, location ? (double)location->sigma_m : 0, answer->fx,
                                    next->pose.covariance);
        }
        scratch->status[i] = status_of(box, answer, i, scratch);
    }
    *ret_detections = (struct ros_detection_3d_array){header, {.data = scratch->detection, .count = count}};
    *ret_info = (struct ros_diagnostic_array){{boxes->header.stamp, ""}, {.data = scratch->status, .count = count}};
}
