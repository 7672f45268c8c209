/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boxes of a detector (vision_msgs/Detection2DArray) as boxes of plx_locate, and its answers as messages. Unknown is never
 * a position: it is NAN in all numbers, with -1 as the first covariance, and its reason stands in the second message.
 */
#ifndef PLX_BRIDGE_LOCATE_MESSAGES_H
#define PLX_BRIDGE_LOCATE_MESSAGES_H

#include <stdbool.h>

#include <parallax/client.h>

#include "formats/cdr/ros_types.h"

#define PLX_LOCATE_MAX_BOXES 256       /* boxes of one message */
#define PLX_LOCATE_MAX_HYPOTHESES 2048 /* in all boxes of one message */

/* Whether the frame of a message of boxes was found. */
enum plx_boxes_frame {
    PLX_BOXES_FRAME_FOUND,
    PLX_BOXES_TOO_LATE, /* it is no longer in the service's ring */
    PLX_BOXES_NO_FRAME, /* no frame has the stamp of the message */
};

/* The place of each box of a message. */
struct plx_boxes_answer {
    enum plx_boxes_frame frame;
    double fx; /* focal length of the frame, pixels */
    struct plx_location location[PLX_LOCATE_MAX_BOXES];
    bool is_invalid[PLX_LOCATE_MAX_BOXES]; /* the box has no size, or numbers that are not finite */
};

/* What the messages point into. */
struct plx_locate_scratch {
    struct ros_detection_3d detection[PLX_LOCATE_MAX_BOXES];
    struct ros_object_hypothesis_with_pose hypothesis[PLX_LOCATE_MAX_HYPOTHESES];
    struct ros_diagnostic_status status[PLX_LOCATE_MAX_BOXES];
    struct ros_key_value value[PLX_LOCATE_MAX_BOXES][4];
    char text[PLX_LOCATE_MAX_BOXES][3][16];
};

/* True if plx_message_located can answer BOXES: not more of them, and of their hypotheses, than there may be. */
bool plx_boxes_fit(const struct ros_detection_2d_array *boxes);

/* BOX in whole pixels, its edges rounded, at least one pixel wide and high; its angle does not count. False, and a box without
 * pixels: BOX has no size, or a number that is not finite or beyond a million pixels. */
bool plx_box_of_message(const struct ros_bounding_box_2d *box, struct plx_box *ret_box);

/* Answers BOXES, which fit: *ret_detections has the stamp, ids, class ids and scores of BOXES, in axes of FRAME_ID, the left
 * optical frame, and *ret_info the reason of each. Both point into BOXES, ANSWER and SCRATCH. */
void plx_message_located(const struct ros_detection_2d_array *boxes, const struct plx_boxes_answer *answer,
                         const char *frame_id, struct plx_locate_scratch *scratch,
                         struct ros_detection_3d_array *ret_detections, struct ros_diagnostic_array *ret_info);

#endif
