/* SPDX-License-Identifier: Apache-2.0 */
#include "app/ros/locator.h"

#include <stdlib.h>

#include <parallax/error.h>

#include "app/log.h"
#include "bridge/locate_messages.h"
#include "core/base/clock.h"

#define NOTES 64                            /* frames whose stamps are known: the largest ring */
#define SAME_STAMP_NS PLX_NS_PER_MS         /* other clients get a stamp that differs by microseconds */
#define MAX_BYTES (1 << 20)                 /* size of a message: 256 boxes with 8 hypotheses each have 0.8 MB */
#define ARENA_BYTES (4 * MAX_BYTES)         /* for what they unpack to */
#define LOG_INTERVAL_NS (10 * PLX_NS_PER_S) /* between two lines about refused messages */

/* A frame that was seen, and the stamp of its messages. */
struct note {
    int64_t realtime_ns, capture_ns;
    uint64_t sequence; /* 0: none */
};

struct plx_ros_locator {
    struct plx_ros_publisher *publisher;
    const struct plx_frame_names *names;
    struct note note[NOTES];
    unsigned notes; /* so far; the next one overwrites the oldest */
    uint64_t refused;
    int64_t logged_ns; /* the last line about refused messages, CLOCK_MONOTONIC; 0: none */
    struct plx_box box[PLX_LOCATE_MAX_BOXES];
    struct plx_boxes_answer answer;
    struct plx_locate_scratch scratch;
    _Alignas(8) uint8_t message[MAX_BYTES], arena[ARENA_BYTES];
};

int plx_ros_locator_create(struct plx_ros_publisher *publisher, const struct plx_frame_names *names,
                           struct plx_ros_locator **ret_locator)
{
    struct plx_ros_locator *locator = calloc(1, sizeof *locator);
    if (!locator)
        return PLX_ERR_NOMEM;
    locator->publisher = publisher;
    locator->names = names;
    *ret_locator = locator;
    return 0;
}

void plx_ros_locator_destroy(struct plx_ros_locator *locator)
{
    free(locator);
}

void plx_ros_locator_note(struct plx_ros_locator *locator, const struct plx_frame *frame, int64_t realtime_ns)
{
    locator->note[locator->notes++ % NOTES] = (struct note){realtime_ns, frame->capture[PLX_LEFT].capture_ns, frame->sequence};
}

/* The frame of STAMP_NS. NULL: none; *ret_is_old: STAMP_NS is older than every frame that is remembered. */
static const struct note *find_note(const struct plx_ros_locator *locator, int64_t stamp_ns, bool *ret_is_old)
{
    const struct note *found = NULL;
    int64_t least_ns = SAME_STAMP_NS;
    *ret_is_old = true;
    for (int i = 0; i < NOTES && locator->note[i].sequence > 0; i++) {
        const int64_t difference_ns = stamp_ns - locator->note[i].realtime_ns;
        const int64_t distance_ns = difference_ns < 0 ? -difference_ns : difference_ns;
        *ret_is_old = *ret_is_old && difference_ns < 0;
        if (distance_ns < least_ns) {
            least_ns = distance_ns;
            found = &locator->note[i];
        }
    }
    return found;
}

/* Locates the COUNT boxes in the frame of STAMP_NS, into locator->answer. */
static enum plx_boxes_frame locate(struct plx_ros_locator *locator, struct plx_client *client, int64_t stamp_ns, uint32_t count)
{
    struct plx_view view;
    bool is_old;
    const struct note *note = find_note(locator, stamp_ns, &is_old);
    if (!note)
        return is_old ? PLX_BOXES_TOO_LATE : PLX_BOXES_NO_FRAME;
    if (!client || plx_view_at(client, note->sequence, &view) < 0)
        return PLX_BOXES_TOO_LATE;
    const bool is_same = view.frame->capture[PLX_LEFT].capture_ns == note->capture_ns; /* no later epoch's */
    locator->answer.fx = view.frame->calibration.fx;
    const int located = plx_locate(&view, locator->box, count, locator->answer.location);
    const int released = plx_release(client, &view);
    return is_same && located == 0 && released == 0 ? PLX_BOXES_FRAME_FOUND : PLX_BOXES_TOO_LATE;
}

/* One line for many: whoever sends such messages sends them at the rate of the camera. */
static void refuse(struct plx_ros_locator *locator, const char *why)
{
    const int64_t now_ns = plx_now_ns();
    locator->refused++;
    if (locator->logged_ns > 0 && now_ns - locator->logged_ns < LOG_INTERVAL_NS)
        return;
    locator->logged_ns = now_ns;
    plx_log(LOG_WARNING, "%s: %s; the message is dropped (%llu so far)", plx_ros_topic_of(PLX_ROS_TOPIC_BOXES).name, why,
            (unsigned long long)locator->refused);
}

/* Takes a message that can be answered. NOT_FOUND: there is none. */
static int take_boxes(struct plx_ros_locator *locator, struct ros_detection_2d_array *ret_boxes)
{
    struct plx_cdr_arena arena = {.memory = locator->arena, .capacity = ARENA_BYTES};
    size_t bytes;
    int result = plx_ros_take_boxes(locator->publisher, locator->message, MAX_BYTES, &bytes);
    if (result == PLX_ERR_NOT_FOUND)
        return result;
    if (result == 0)
        result = plx_cdr_decode(&ros_detection_2d_array_type, locator->message, bytes, &arena, ret_boxes);
    if (result == 0 && !plx_boxes_fit(ret_boxes))
        result = PLX_ERR_RANGE;
    if (result == PLX_ERR_RANGE)
        refuse(locator, "expected at most 256 boxes, 2048 hypotheses and 1 MiB");
    else if (result < 0)
        refuse(locator, "this is no Detection2DArray of vision_msgs 4 in little-endian CDR");
    return result < 0 ? PLX_ERR_NOT_FOUND : 0;
}

void plx_ros_locator_answer(struct plx_ros_locator *locator, struct plx_client *client)
{
    struct ros_detection_2d_array boxes;
    struct ros_detection_3d_array detections;
    struct ros_diagnostic_array info;
    if (take_boxes(locator, &boxes) < 0)
        return;
    if (!plx_ros_is_read(locator->publisher, PLX_ROS_TOPIC_LOCATED) &&
        !plx_ros_is_read(locator->publisher, PLX_ROS_TOPIC_LOCATE_INFO))
        return;
    for (uint32_t i = 0; i < boxes.detections.count; i++)
        locator->answer.is_invalid[i] = !plx_box_of_message(&boxes.detections.data[i].bbox, &locator->box[i]);
    const int64_t stamp_ns = boxes.header.stamp.sec * PLX_NS_PER_S + boxes.header.stamp.nanosec;
    locator->answer.frame = locate(locator, client, stamp_ns, boxes.detections.count);
    plx_message_located(&boxes, &locator->answer, locator->names->name[PLX_FRAME_OPTICAL], &locator->scratch, &detections,
                        &info);
    plx_ros_publish(locator->publisher, PLX_ROS_TOPIC_LOCATED, &detections);
    plx_ros_publish(locator->publisher, PLX_ROS_TOPIC_LOCATE_INFO, &info);
}
