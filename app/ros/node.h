/* SPDX-License-Identifier: Apache-2.0 */
/* A client of the service that hands its frames to DDS. */
#ifndef PLX_APP_ROS_NODE_H
#define PLX_APP_ROS_NODE_H

#include "app/ros/publisher.h"

struct plx_ros_node;

/* Reads the service at SOCKET, once there is one, for PUBLISHER. Both belong to the caller and outlive the node. NOMEM. */
int plx_ros_node_create(const char *socket, const struct plx_ros_names *names, struct plx_ros_publisher *publisher,
                        struct plx_ros_node **ret_node);
void plx_ros_node_destroy(struct plx_ros_node *node);

/* Waits up to a tenth of a second for a frame and publishes it; once a second, diagnostics. Fills no message that nobody reads.
 * Returns what ended the wait: 0 (a frame), TIMEOUT, LOST and other errors of plx_next and plx_connect; call it again after
 * each of them. */
int plx_ros_node_step(struct plx_ros_node *node);

/* True if the service is there. */
bool plx_ros_node_is_connected(const struct plx_ros_node *node);

#endif
