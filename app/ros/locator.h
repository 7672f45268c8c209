/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers the boxes of a detector: takes their messages without waiting, finds the frame of their stamp in the service's ring,
 * and publishes where the things in them are. All memory is reserved at the start. For one thread.
 */
#ifndef PLX_APP_ROS_LOCATOR_H
#define PLX_APP_ROS_LOCATOR_H

#include <parallax/client.h>

#include "app/ros/publisher.h"

struct plx_ros_locator;

/* PUBLISHER and NAMES belong to the caller and outlive the locator. NOMEM. */
int plx_ros_locator_create(struct plx_ros_publisher *publisher, const struct plx_frame_names *names,
                           struct plx_ros_locator **ret_locator);
void plx_ros_locator_destroy(struct plx_ros_locator *locator);

/* Remembers that the messages of FRAME have the stamp REALTIME_NS: it says so by its age and the clock, never twice the same.
 */
void plx_ros_locator_note(struct plx_ros_locator *locator, const struct plx_frame *frame, int64_t realtime_ns);

/* Answers the next message of boxes, if there is one; CLIENT, which has no open view, reads its frame; NULL: no service.
 * Without boxes it costs microseconds, else 23 us for each box (docs/locate.md). */
void plx_ros_locator_answer(struct plx_ros_locator *locator, struct plx_client *client);

#endif
