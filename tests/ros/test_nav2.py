# SPDX-License-Identifier: Apache-2.0
"""What reaches Nav2 through faults: a consumer that follows the documented rules of its collision monitor, through real DDS.

Its rules (nav2_collision_monitor, polygon sources): the newest polygon of each id is kept; one older than source_timeout is dropped; without
any the robot stops; points every 0.1 m along a polygon count, and four of them inside a zone of the monitor trip it."""
import math
import signal
import threading
import time
import unittest

from programs import WAIT_S
from test_ros import DOMAIN, STRUCTURES, Ros, dds

RATE_HZ = 10
REACTION_MS = 600  # verdict.reaction_ms; on a busy machine frames take long
SOURCE_TIMEOUT_S = REACTION_MS / 1000
MONITOR_HALF_M = 0.3  # the monitor's zone: a square around the robot
MIN_POINTS = 4
CYCLE_S = 0.02
POLYGON = "geometry_msgs/msg/PolygonInstanceStamped"
FREE = "zones=[{name: near, polygon: [[1.7, -0.4], [2.7, -0.4], [2.7, 0.4], [1.7, 0.4]]}]"  # ahead of the robot it is free up to 3.2 m
BLOCKED = "zones=[{name: wall, polygon: [[2.7, -1.5], [4.5, -1.5], [4.5, 1.5], [2.7, 1.5]]}]"


def points_of(polygon):
    corners = [(point.x, point.y) for point in polygon.polygon.polygon.points]
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1]):
        steps = max(math.ceil(math.hypot(x1 - x0, y1 - y0) / 0.1), 1)
        yield from ((x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps) for i in range(steps + 1))


class Monitor(threading.Thread):
    """Decides every CYCLE_S whether the robot may move by TOPIC; its zone lies around parallax_link."""

    def __init__(self, topic):
        super().__init__(daemon=True)
        self.reader = dds.Listener(DOMAIN, STRUCTURES, {topic: (POLYGON, dds.BEST_EFFORT)})
        self.topic, self.kept, self.moves, self.changes, self.ended = topic, {}, None, [], threading.Event()

    def decide(self):
        self.reader.take()
        for polygon in self.reader.messages[self.topic]:
            self.kept[polygon.polygon.id] = polygon
        self.reader.messages[self.topic].clear()
        now = time.time()
        self.kept = {number: each for number, each in self.kept.items()
                     if now - each.header.stamp.sec - each.header.stamp.nanosec / 1e9 <= SOURCE_TIMEOUT_S}
        inside = sum(max(abs(x), abs(y)) <= MONITOR_HALF_M for each in self.kept.values() for x, y in points_of(each))
        return bool(self.kept) and inside < MIN_POINTS

    def run(self):
        while not self.ended.wait(CYCLE_S):
            moves = self.decide()
            if moves != self.moves:
                self.moves = moves
                self.changes.append((time.monotonic(), moves))

    def end(self):
        self.ended.set()
        self.join()

    def wait(self, moves):
        """When the robot began to move, or stopped, after now or before; None: it did not within WAIT_S."""
        deadline = time.monotonic() + WAIT_S
        while self.moves != moves:
            if time.monotonic() > deadline:
                return None
            time.sleep(0.005)
        return self.changes[-1][0]


class Nav2(Ros):
    def begin(self, zones, topic="/parallax/zone_stop"):
        settings = ["mount.z_m=1", "mount.pitch_deg=5.73", f"source.rate_hz={RATE_HZ}", f"verdict.reaction_ms={REACTION_MS}",
                    "verdict.stop_flags=frozen,no_frames", "verdict.slow_flags=", zones]
        self.service, self.bridge = self.start_daemon(*settings), self.start_ros()
        monitor = Monitor(topic)
        monitor.start()
        self.addCleanup(monitor.end)
        return monitor

    def through_fault(self, monitor, begin, end):
        """Prints the four measures of a fault that BEGIN makes and END ends: time to stop, share of the fault that the robot stood after that,
        time to resume, stops without a fault before."""
        self.assertIsNotNone(monitor.wait(True), "it never moves")
        quiet_from = len(monitor.changes)
        time.sleep(1)
        false_stops = sum(not moves for _, moves in monitor.changes[quiet_from:])
        self.assertIsNotNone(monitor.wait(True))
        began = time.monotonic()
        begin()
        stopped = monitor.wait(False)
        self.assertIsNotNone(stopped, "it never stops")
        held_from = len(monitor.changes)
        time.sleep(1)
        held = sum(moves for _, moves in monitor.changes[held_from:]) == 0
        ended = time.monotonic()
        end()
        resumed = monitor.wait(True)
        self.assertIsNotNone(resumed, "it never moves again")
        print(f"{self._testMethodName}: stops after {1000 * (stopped - began):.0f} ms, {'held' if held else 'NOT HELD'}, "
              f"moves again after {1000 * (resumed - ended):.0f} ms, {false_stops} false stops in 1 s", flush=True)
        self.assertTrue(held)

    def test_a_killed_service(self):
        def begin_again():
            self.service = self.start_daemon("mount.z_m=1", "mount.pitch_deg=5.73", f"source.rate_hz={RATE_HZ}", f"verdict.reaction_ms={REACTION_MS}",
                                             "verdict.stop_flags=frozen,no_frames", "verdict.slow_flags=", FREE)

        self.through_fault(self.begin(FREE), lambda: self.end(self.service), begin_again)

    def test_a_killed_bridge(self):
        def begin_again():
            self.bridge = self.start_ros()

        self.through_fault(self.begin(FREE), lambda: self.end(self.bridge), begin_again)

    def test_a_frozen_bridge(self):
        monitor = self.begin(FREE)
        self.through_fault(monitor, lambda: self.bridge.send_signal(signal.SIGSTOP), lambda: self.bridge.send_signal(signal.SIGCONT))

    def test_a_thing_in_the_zone_stops_from_the_first_message_on(self):
        monitor = self.begin(BLOCKED)
        deadline = time.monotonic() + WAIT_S
        while not monitor.kept:
            self.assertLess(time.monotonic(), deadline, "no outline comes")
            time.sleep(0.01)
        time.sleep(2)
        self.assertFalse([moves for _, moves in monitor.changes if moves], "it moved")
        self.assertEqual({len(each.polygon.polygon.points) for each in monitor.kept.values()}, {9})  # a square, and the zone

    def test_slow_is_not_stop(self):
        """A zone that asks for slow: one topic is tripped, the other shows life, and the limit is a percentage."""
        slow = BLOCKED.replace("name: wall,", "name: wall, occupied: slow, unknown: slow,")
        stop_monitor = self.begin(slow)
        slow_monitor = Monitor("/parallax/zone_slow")
        slow_monitor.start()
        self.addCleanup(slow_monitor.end)
        reader = dds.Listener(DOMAIN, STRUCTURES, {"/parallax/speed_limit": ("nav2_msgs/msg/SpeedLimit", dds.RELIABLE),
                                                   "/parallax/costmap": ("nav2_msgs/msg/Costmap", dds.RELIABLE)})
        self.assertIsNotNone(stop_monitor.wait(True))
        self.assertIsNotNone(slow_monitor.wait(False))
        self.assertTrue(reader.wait_for(5, WAIT_S))
        self.assertEqual({(each.percentage, each.speed_limit) for each in reader.messages["/parallax/speed_limit"]}, {(True, 50.0)})
        costmap = reader.messages["/parallax/costmap"][-1]
        self.assertEqual((costmap.metadata.size_x, costmap.metadata.size_y, len(costmap.data)), (200, 200, 40000))
        self.assertEqual(set(costmap.data), {0, 254, 255})


if __name__ == "__main__":
    unittest.main()
