# SPDX-License-Identifier: Apache-2.0
"""Readers and writers of ROS 2 topics by the Python package cyclonedds, whose types are made of those that rosbags knows.

dds.py PROBE DOMAIN TOPIC TYPE SECONDS ends with 0 when a message of TOPIC came: a process with a $CYCLONEDDS_URI of its own."""
import subprocess
import sys
import time

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import make_idl_struct, types
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

PRIMITIVE = {"bool": bool, "byte": types.byte, "octet": types.byte, "uint8": types.uint8, "int8": types.int8, "int32": types.int32,
             "uint32": types.uint32, "int64": types.int64, "float32": types.float32, "float64": types.float64, "string": str}


def typestore(probe):
    """The types of ROS 2; vision_msgs and nav2_msgs, which rosbags lacks, from PROBE's definition (tests/golden/cdr_probe.c)."""
    store = get_typestore(Stores.ROS2_JAZZY)
    for name in ("vision_msgs/msg/Detection2DArray", "vision_msgs/msg/Detection3DArray", "nav2_msgs/msg/Costmap", "nav2_msgs/msg/SpeedLimit"):
        defined = get_types_from_msg(subprocess.run([probe, "schema", name], capture_output=True, check=True, text=True).stdout, name)
        store.register({key: value for key, value in defined.items() if key not in store.fielddefs})
    return store


def dds_name(name):
    package, _, short = name.split("/")
    return f"{package}::msg::dds_::{short}_"


class Types:
    """The structures of the package cyclonedds for types of ROS 2."""

    def __init__(self, store):
        self.store = store
        self.made = {}

    def of(self, name):
        if name not in self.made:
            fields = {field: self._of_field(*kind) for field, kind in self.store.fielddefs[name][1]}
            self.made[name] = make_idl_struct(name.split("/")[2], dds_name(name).replace("::", "."), fields)
        return self.made[name]

    def _of_field(self, node, what):
        if node == Nodetype.NAME:
            return self.of(what)
        if node == Nodetype.BASE:
            return PRIMITIVE[what[0]]
        element = self._of_field(*what[0])
        return types.array[element, what[1]] if node == Nodetype.ARRAY else types.sequence[element]


RELIABLE = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(100))
LATCHED = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(1), Policy.Durability.TransientLocal)
BEST_EFFORT = Qos(Policy.Reliability.BestEffort, Policy.History.KeepLast(5))


class Listener:
    """Reads TOPICS, {name: (type, QoS)}, of one domain."""

    def __init__(self, domain, structures, topics):
        participant = DomainParticipant(domain)
        self.readers = {name: DataReader(participant, Topic(participant, f"rt{name}", structures.of(kind)), qos)
                        for name, (kind, qos) in topics.items()}
        self.messages = {name: [] for name in topics}

    def take(self):
        for name, reader in self.readers.items():
            # A sample without data tells that a writer went away, which is no message.
            self.messages[name] += [sample for sample in reader.take(100) if sample.sample_info.valid_data]

    def wait(self, is_enough, seconds):
        """Takes messages until IS_ENOUGH() of them came; False if they did not in time."""
        deadline = time.monotonic() + seconds
        while not is_enough():
            if time.monotonic() > deadline:
                return False
            self.take()
            time.sleep(0.002)
        return True

    def wait_for(self, count, seconds):
        """For COUNT messages of each topic."""
        return self.wait(lambda: all(len(messages) >= count for messages in self.messages.values()), seconds)


class Speaker:
    """Writes TOPIC, messages of STRUCTURE."""

    def __init__(self, domain, topic, structure, qos):
        participant = DomainParticipant(domain)
        self.writer = DataWriter(participant, Topic(participant, f"rt{topic}", structure), qos)

    def is_heard(self):
        return bool(self.writer.get_matched_subscriptions())

    def write(self, message):
        self.writer.write(message)


def header_of(message):
    return message.header if hasattr(message, "header") else message.markers[0].header


def stamp_of(message):
    stamp = header_of(message).stamp
    return stamp.sec, stamp.nanosec


if __name__ == "__main__":
    _, probe, domain, topic, kind, seconds = sys.argv
    listener = Listener(int(domain), Types(typestore(probe)), {topic: (kind, RELIABLE)})
    sys.exit(0 if listener.wait_for(1, float(seconds)) else 1)
