/* SPDX-License-Identifier: Apache-2.0 */
/* A DDS participant that looks like a ROS 2 node, by Cyclone DDS, with one writer for each topic. For one thread. */
#ifndef PLX_APP_ROS_PUBLISHER_H
#define PLX_APP_ROS_PUBLISHER_H

#include "app/ros/topics.h"

struct plx_ros_publisher;

/* Joins the domain and the network that the environment names, as nodes of ROS 2 do (app/ros/environment.h), and offers the
 * topics that have a name. NAMES is only read here. IO: DDS cannot start; ARG: the environment is wrong. */
int plx_ros_publisher_create(const struct plx_ros_names *names, struct plx_ros_publisher **ret_publisher,
                             struct plx_error_message *message);
void plx_ros_publisher_destroy(struct plx_ros_publisher *publisher);

/* True if somebody reads TOPIC, and so it is worth to be filled. */
bool plx_ros_is_read(const struct plx_ros_publisher *publisher, int topic);

/* Sends MESSAGE, a structure of plx_topics[TOPIC].type, which may be used again afterwards. Waits up to 10 ms for a reader
 * that keeps back what it received; after that its message is dropped and counted. */
void plx_ros_publish(struct plx_ros_publisher *publisher, int topic, const void *message);

/* Messages so far, of all topics. */
uint64_t plx_ros_sent(const struct plx_ros_publisher *publisher);
uint64_t plx_ros_dropped(const struct plx_ros_publisher *publisher);

/* The wall clock, as DDS stamps its samples with it; nanoseconds since 1970. */
int64_t plx_ros_now_ns(void);

#endif
