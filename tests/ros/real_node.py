# SPDX-License-Identifier: Apache-2.0
"""A node of a real ROS 2 (rclpy with Fast DDS, from PyPI): reads TOPIC:PACKAGE/TYPE:QOS... until each has COUNT messages, or SECONDS are over.

usage: real_node.py SECONDS COUNT TOPIC:PACKAGE/TYPE:sensor|reliable|latched...
Prints JSON: for each topic the stamps of its messages with the time when they came, and what the graph says of its publishers. Logs of
ROS go to standard error."""
import importlib
import json
import sys
import time

import rclpy
import rclpy.qos

QOS = {"sensor": rclpy.qos.qos_profile_sensor_data, "reliable": rclpy.qos.QoSProfile(depth=50),
       "latched": rclpy.qos.QoSProfile(depth=1, durability=rclpy.qos.DurabilityPolicy.TRANSIENT_LOCAL)}


def stamp_of(message):
    header = getattr(message, "header", None)
    return header.stamp.sec * 10**9 + header.stamp.nanosec if header else 0


def publishers(node, topic, kind):
    return [{"type": each.topic_type, "node": each.node_name, "reliability": each.qos_profile.reliability.name,
             "same_hash": str(each.topic_type_hash) == str(kind._TYPE_HASH) if hasattr(kind, "_TYPE_HASH") else None,
             "hash": str(each.topic_type_hash)} for each in node.get_publishers_info_by_topic(topic)]


def main():
    seconds, count, topics = float(sys.argv[1]), int(sys.argv[2]), [each.split(":") for each in sys.argv[3:]]
    rclpy.init()
    node = rclpy.create_node("parallax_test")
    got, kinds = {topic: [] for topic, _, _ in topics}, {}
    for topic, name, qos in topics:
        package, short = name.split("/")
        kinds[topic] = getattr(importlib.import_module(f"{package}.msg"), short)
        node.create_subscription(kinds[topic], topic, lambda message, topic=topic: got[topic].append((stamp_of(message), time.time_ns())), QOS[qos])
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(len(each) < count for each in got.values()):
        rclpy.spin_once(node, timeout_sec=0.1)
    json.dump({topic: {"messages": got[topic], "publishers": publishers(node, topic, kinds[topic])} for topic in got}, sys.stdout)
    rclpy.shutdown()


main()
