# SPDX-License-Identifier: Apache-2.0
"""What reaches Nav2 through faults: a consumer that follows the documented rules of its collision monitor, through real DDS.

Its rules (nav2_collision_monitor, polygon sources): the newest polygon of each id is kept; one older than source_timeout is dropped; without
any the robot stops; points every 0.1 m along a polygon count, and four of them inside a zone of the monitor trip it."""
import math
import os
import pathlib
import signal
import threading
import time
import unittest
import unittest.mock

from programs import WAIT_S
from test_ros import DOMAIN, FRAME_TOPICS, STRUCTURES, Ros, dds

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


def inside(polygons):
    """How many points lie in the monitor's zone."""
    return sum(max(abs(x), abs(y)) <= MONITOR_HALF_M for each in polygons for x, y in points_of(each))


def stamp_of(message):
    seconds, nanoseconds = dds.stamp_of(message)
    return seconds + nanoseconds / 1e9


class Monitor(threading.Thread):
    """Decides every CYCLE_S whether the robot may move by TOPIC; its zone lies around parallax_link."""

    def __init__(self, topic):
        super().__init__(daemon=True)
        self.reader = dds.Listener(DOMAIN, STRUCTURES, {topic: (POLYGON, dds.BEST_EFFORT)})
        self.topic, self.kept, self.moves, self.changes, self.ended = topic, {}, None, [], threading.Event()
        self.came = []  # stamp of each outline, when it came, and whether it trips

    def decide(self):
        self.reader.take()
        now = time.time()
        for polygon in self.reader.messages[self.topic]:
            self.kept[polygon.polygon.id] = polygon
            self.came.append((stamp_of(polygon), now, inside([polygon]) >= MIN_POINTS))
        self.reader.messages[self.topic].clear()
        self.kept = {number: each for number, each in self.kept.items() if now - stamp_of(each) <= SOURCE_TIMEOUT_S}
        return bool(self.kept) and inside(self.kept.values()) < MIN_POINTS

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

    def wait_for(self, is_expected, count):
        """Until COUNT more outlines came of which IS_EXPECTED(stamp, when it came, trips); False: they did not within WAIT_S."""
        deadline, begin = time.monotonic() + WAIT_S, len(self.came)
        while sum(is_expected(*each) for each in self.came[begin:]) < count:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        return True


class Consumer(Ros):
    STOP_FLAGS = "frozen,no_frames"

    def begin(self, zones, topic="/parallax/zone_stop"):
        settings = ["mount.z_m=1", "mount.pitch_deg=5.73", f"source.rate_hz={RATE_HZ}", f"verdict.reaction_ms={REACTION_MS}",
                    f"verdict.stop_flags={self.STOP_FLAGS}", "verdict.slow_flags=", zones]
        self.service, self.bridge = self.start_daemon(*settings), self.start_ros()
        monitor = Monitor(topic)
        monitor.start()
        self.addCleanup(monitor.end)
        return monitor

    def through_fault(self, monitor, begin, end, settle=lambda: True, what=""):
        """Prints the four measures of the fault WHAT that BEGIN makes and END ends: time to stop, whether the robot stood for a second from then
        on, or from SETTLE on, time to resume, stops without a fault before."""
        self.assertIsNotNone(monitor.wait(True), "it never moves")
        quiet_from = len(monitor.changes)
        time.sleep(1)
        false_stops = sum(not moves for _, moves in monitor.changes[quiet_from:])
        self.assertIsNotNone(monitor.wait(True))
        began = time.monotonic()
        begin()
        stopped = monitor.wait(False)
        self.assertIsNotNone(stopped, "it never stops")
        self.assertTrue(settle(), "it stands for another reason")
        self.assertIsNotNone(monitor.wait(False))
        held_from = len(monitor.changes)
        time.sleep(1)
        held = sum(moves for _, moves in monitor.changes[held_from:]) == 0
        ended = time.monotonic()
        end()
        resumed = monitor.wait(True)
        self.assertIsNotNone(resumed, "it never moves again")
        print(f"{self._testMethodName}{what}: stops after {1000 * (stopped - began):.0f} ms, {'held' if held else 'NOT HELD'}, "
              f"moves again after {1000 * (resumed - ended):.0f} ms, {false_stops} false stops in 1 s", flush=True)
        self.assertTrue(held)


class Nav2(Consumer):
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


class Unseen(Consumer):
    """The engine runs on, but sees nothing, or the network brings little."""
    SERVICE, BRIDGE = "parallaxd_faulty", "parallax-ros_slow"  # system/faulty.c, slow_network.c
    STOP_FLAGS = "frozen,no_frames,dark"

    def setUp(self):
        super().setUp()
        self.lenses, self.network = pathlib.Path(self.directory, "lenses"), pathlib.Path(self.directory, "network")
        environment = unittest.mock.patch.dict(os.environ, PLX_FAULT="cover", PLX_FAULT_WHILE=str(self.lenses), PLX_NETWORK=str(self.network))
        environment.start()
        self.addCleanup(environment.stop)

    def cover(self, monitor, lenses, what="", is_told=lambda: True):
        """LENSES: 1 left, 2 right, 3 both. What counts as held begins with the first outline that trips: until then one from before may come late.
        Calls IS_TOLD after that."""
        self.through_fault(monitor, lambda: self.lenses.write_text(str(lenses)), self.lenses.unlink,
                           lambda: monitor.wait_for(lambda stamp, now, trips: trips, 1) and is_told(), what)

    def test_covered_lenses(self):
        """Both: the zone is unknown from the second such frame on. One: wrong matches may look like depth, but the fifth frame is *dark*. By the
        stamps of the service, as a busy machine is slow; one outline may be lost."""
        monitor = self.begin(FREE)
        eyes, info = ["/parallax/left/image_rect", "/parallax/right/image_rect"], "/parallax/frame_info"
        reader = dds.Listener(DOMAIN, STRUCTURES, {name: (FRAME_TOPICS[name.removeprefix("/parallax/")], dds.RELIABLE) for name in (*eyes, info)})

        def is_told(began, reason):
            values = ({value.key: value.value for value in each.status[0].values} for each in reader.messages[info] if stamp_of(each) > began)
            return any(each["verdict"] == "stop" and reason in each["reasons"] for each in values)

        for lenses, what, most, reason in ((3, " both", 2, "little_depth"), (2, " right", 5, ""), (1, " left", 5, "")):
            began = time.time()
            self.cover(monitor, lenses, what, lambda since=began, word=reason: reader.wait(lambda: is_told(since, word), WAIT_S))
            dark = {stamp_of(each) for name in eyes for each in reader.messages[name] if max(each.data) < 16}
            tripped = min(stamp for stamp, _, trips in monitor.came if trips and stamp > began)
            self.assertLessEqual(sum(began < stamp <= tripped for stamp in dark), most + 1, what)

    def test_late_and_lost_messages(self):
        """Late ones come without a gap, and each is too old."""
        monitor = self.begin(FREE)
        self.through_fault(monitor, lambda: self.network.write_text(f"{2 * REACTION_MS} 0"), self.network.unlink,
                           lambda: monitor.wait_for(lambda stamp, now, trips: now - stamp > SOURCE_TIMEOUT_S and not trips, 3), " late")
        self.through_fault(monitor, lambda: self.network.write_text("0 100"), self.network.unlink, what=" lost")

    def test_covered_lenses_behind_a_slow_network(self):
        monitor = self.begin(FREE)
        self.network.write_text(f"{REACTION_MS // 4} 30")
        self.cover(monitor, 3)


if __name__ == "__main__":
    unittest.main()
