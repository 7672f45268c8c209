/* SPDX-License-Identifier: Apache-2.0 */
/* The variables by which ROS 2 nodes choose domain and network. */
#ifndef PLX_APP_ROS_ENVIRONMENT_H
#define PLX_APP_ROS_ENVIRONMENT_H

#include <stdint.h>

#include "core/base/text.h"

#define PLX_ROS_MAX_DOMAIN 232 /* ports of larger ones do not exist */

struct plx_ros_environment {
    uint32_t domain;
    char configuration[8192]; /* for Cyclone DDS; what $CYCLONEDDS_URI says comes last, so that it wins */
};

/* From $ROS_DOMAIN_ID, $ROS_AUTOMATIC_DISCOVERY_RANGE, $ROS_LOCALHOST_ONLY, $ROS_STATIC_PEERS and $CYCLONEDDS_URI. ARG: one of
 * them is wrong; the sentence names it. */
int plx_ros_environment(struct plx_ros_environment *ret_environment, struct plx_error_message *message);

#endif
