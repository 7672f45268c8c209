# SPDX-License-Identifier: Apache-2.0
"""A node of a real ROS 2 (rclpy with Fast DDS, from PyPI): reads TOPIC:PACKAGE/TYPE:QOS... until each has COUNT messages, or SECONDS are over.

usage: real_node.py SECONDS COUNT TOPIC:PACKAGE/TYPE:sensor|reliable|latched|detector...
A *detector* is no reader: it writes a box, as vision_msgs/Detection2DArray, for each picture that the node reads.
Prints a line when the first message came, and at the end JSON: for each topic the stamps of its messages with the time when they came, and
what the graph says of its publishers. Logs of ROS go to standard error."""
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


def publishers(node, topic):
    return [{"type": each.topic_type, "node": each.node_name, "reliability": each.qos_profile.reliability.name,
             "hash": str(each.topic_type_hash)} for each in node.get_publishers_info_by_topic(topic)]


def type_of(name):
    package, short = name.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), short)


def box_in(picture):
    """A detector's answer to PICTURE: its middle."""
    boxes = type_of("vision_msgs/Detection2DArray")(header=picture.header)
    detection = type_of("vision_msgs/Detection2D")(header=picture.header, id="middle")
    detection.bbox.center.position.x, detection.bbox.center.position.y = picture.width / 2, picture.height / 2
    detection.bbox.size_x, detection.bbox.size_y = picture.width / 4, picture.height / 4
    boxes.detections.append(detection)
    return boxes


def main():
    seconds, count, topics = float(sys.argv[1]), int(sys.argv[2]), [each.split(":") for each in sys.argv[3:]]
    rclpy.init()
    node = rclpy.create_node("parallax_test")
    detectors = [node.create_publisher(type_of(name), topic, 5) for topic, name, qos in topics if qos == "detector"]
    topics = [each for each in topics if each[2] != "detector"]
    got = {topic: [] for topic, _, _ in topics}

    def take(topic, message):
        is_first = not any(got.values())
        got[topic].append((stamp_of(message), time.time_ns()))
        if is_first:  # after its time was taken: who reads this may end the bridge at once
            print("the first message came", flush=True)
        if hasattr(message, "encoding"):
            for detector in detectors:
                detector.publish(box_in(message))

    for topic, name, qos in topics:
        node.create_subscription(type_of(name), topic, lambda message, topic=topic: take(topic, message), QOS[qos])
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(len(each) < count for each in got.values()):
        rclpy.spin_once(node, timeout_sec=0.1)
    json.dump({topic: {"messages": got[topic], "publishers": publishers(node, topic)} for topic in got}, sys.stdout)
    rclpy.shutdown()


main()
