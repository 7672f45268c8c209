/* SPDX-License-Identifier: Apache-2.0 */
/* A DDS participant that looks like a ROS 2 node, by Cyclone DDS, with one writer for each topic, and a reader of boxes. For
 * one thread. */
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

/* From now on the datagrams of a large message are spread over SPREAD_NS (app/ros/pacing.h). */
void plx_ros_set_spread(struct plx_ros_publisher *publisher, int64_t spread_ns);

/* True if the last message of TOPIC was one that is spread. */
bool plx_ros_is_large(const struct plx_ros_publisher *publisher, int topic);

/* Sends MESSAGE, a structure of plx_ros_topic_of(TOPIC).type, which may be used again afterwards. Waits up to 10 ms for a
 * reader that keeps back what it received; after that its message is dropped and counted. */
void plx_ros_publish(struct plx_ros_publisher *publisher, int topic, const void *message);

/* True if somebody writes boxes. */
bool plx_ros_has_boxes(const struct plx_ros_publisher *publisher);

/* Takes a message of PLX_ROS_TOPIC_BOXES, without waiting: its CDR with the header into RET_DATA [CAPACITY]. It is not unpacked
 * here, so that a large one costs no memory. NOT_FOUND: there is none; RANGE: it was larger, and is dropped; IO. */
int plx_ros_take_boxes(struct plx_ros_publisher *publisher, void *ret_data, size_t capacity, size_t *ret_bytes);

/* Messages so far, of all topics. */
uint64_t plx_ros_sent(const struct plx_ros_publisher *publisher);
uint64_t plx_ros_dropped(const struct plx_ros_publisher *publisher);

/* Bytes so far, of all topics: sent, and sent again because readers had lost them. */
void plx_ros_count_bytes(struct plx_ros_publisher *publisher, uint64_t *ret_sent, uint64_t *ret_resent);

/* The wall clock, as DDS stamps its samples with it; nanoseconds since 1970. */
int64_t plx_ros_now_ns(void);

#endif
