# SPDX-License-Identifier: Apache-2.0
"""parallax-ros beside a real service, read by two other implementations of DDS: PyPI's cyclonedds, and Fast DDS."""
import cmath
import math
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time
import unittest

from programs import BINARIES, SKIPPED, WAIT_S, Programs, setting_options

# Loopback alone, so that no test of another machine is met. ROS_LOCALHOST_ONLY says the same to parallax-ros.
LOOPBACK = ('<CycloneDDS><Domain><General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>'
            '<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>'
            '<Peers><Peer address="127.0.0.1"/></Peers></Discovery></Domain></CycloneDDS>')
os.environ["CYCLONEDDS_URI"] = LOOPBACK

try:
    import dds
    import parallax_stereo
except ImportError as missing:
    print(f"skipped: {missing}; ./dev setup --all installs it")
    sys.exit(SKIPPED)

FAST_DDS = BINARIES / "fastdds_reader"
DOMAIN = 100 + os.getpid() % 100
LOSSLESS = 1000

FRAME_TOPICS = {
    "left/image_rect": "sensor_msgs/msg/Image",
    "right/image_rect": "sensor_msgs/msg/Image",
    "left/camera_info": "sensor_msgs/msg/CameraInfo",
    "right/camera_info": "sensor_msgs/msg/CameraInfo",
    "disparity": "stereo_msgs/msg/DisparityImage",
    "depth/image_rect": "sensor_msgs/msg/Image",
    "depth/camera_info": "sensor_msgs/msg/CameraInfo",
    "points": "sensor_msgs/msg/PointCloud2",
    "points_obstacles": "sensor_msgs/msg/PointCloud2",
    "scan": "sensor_msgs/msg/LaserScan",
    "drops": "sensor_msgs/msg/LaserScan",
    "map": "nav_msgs/msg/OccupancyGrid",
    "obstacles": "vision_msgs/msg/Detection3DArray",
    "obstacles_markers": "visualization_msgs/msg/MarkerArray",
    "odom": "nav_msgs/msg/Odometry",
    "frame_info": "diagnostic_msgs/msg/DiagnosticArray",
}
STORE = dds.typestore(BINARIES / "cdr_probe")
STRUCTURES = dds.Types(STORE)


def listen(*names):
    topics = {f"/parallax/{name}": (FRAME_TOPICS[name], dds.RELIABLE) for name in names}
    return dds.Listener(DOMAIN, STRUCTURES, topics)


class Ros(Programs):
    NETWORK = {"ROS_LOCALHOST_ONLY": "1"}  # what parallax-ros is told
    SERVICE, BRIDGE = "parallaxd", "parallax-ros"  # programs

    def start_daemon(self, *settings):
        settings = [f"publish.socket={self.socket}", "backend=cpu", "blackbox.directory=", "calibration_history=", "publish.right=true", "match.disparities=64",
                    "match.paths=4", "source.width=320", "source.height=240", "source.rate_hz=20", *settings]
        return self.start(self.SERVICE, *setting_options(settings), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start_ros(self, *settings):
        settings = [f"publish.socket={self.socket}", *settings]
        environment = {name: value for name, value in os.environ.items() if name != "CYCLONEDDS_URI"}
        environment.update(self.NETWORK, ROS_DOMAIN_ID=str(DOMAIN))
        with open(f"{self.directory}/log", "a") as log:
            return self.start(self.BRIDGE, *setting_options(settings), stderr=log, env=environment)

    def stop_ros(self, process):
        """Ends it cleanly; returns how many messages it sent and dropped."""
        process.terminate()
        self.assertEqual(process.wait(WAIT_S), 0)
        with open(f"{self.directory}/log") as log:
            words = log.read().splitlines()[-1].split()
        return int(words[words.index("messages") - 1]), int(words[words.index("dropped") - 1])

    def start_fast(self, topic, count):
        if not FAST_DDS.exists():
            self.skipTest("no Fast DDS (libfastrtps-dev)")
        output = open(f"{self.directory}/fast", "wb")
        self.addCleanup(output.close)
        return self.start("fastdds_reader", DOMAIN, f"rt/parallax/{topic}", dds.dds_name(FRAME_TOPICS[topic]), count, 10, stdout=output,
                          stderr=subprocess.PIPE, text=True)

    def fast_messages(self, topic):
        data = pathlib.Path(f"{self.directory}/fast").read_bytes()
        while data:
            length, = struct.unpack_from("<I", data)
            self.assertEqual(data[4:6], b"\0\1")  # plain CDR, little endian; the other two bytes count its padding
            yield STORE.deserialize_cdr(data[4:4 + length], FRAME_TOPICS[topic])
            data = data[4 + length:]


class Topics(Ros):
    def test_every_topic_of_a_frame(self):
        self.start_daemon("mount.z_m=1", "mount.pitch_deg=5.73")
        ros = self.start_ros()
        topics = {f"/parallax/{name}": (kind, dds.RELIABLE) for name, kind in FRAME_TOPICS.items()}
        topics["/tf"] = ("tf2_msgs/msg/TFMessage", dds.RELIABLE)
        topics["/diagnostics"] = ("diagnostic_msgs/msg/DiagnosticArray", dds.RELIABLE)
        listener = dds.Listener(DOMAIN, STRUCTURES, topics)
        self.assertTrue(listener.wait_for(3, WAIT_S), {name: len(got) for name, got in listener.messages.items()})
        markers = listener.messages["/parallax/obstacles_markers"]
        self.assertTrue(listener.wait(lambda: sum(len(each.markers) > 0 for each in markers) >= 3, WAIT_S))  # confirmed from the third frame on
        self.assertIsNone(ros.poll())

        got = {name.removeprefix("/parallax/"): messages for name, messages in listener.messages.items()}
        got["obstacles_markers"] = [each for each in got["obstacles_markers"] if each.markers]  # an empty one has no stamp
        stamps = [set(map(dds.stamp_of, got[name])) for name in FRAME_TOPICS]
        stamp = min(set.intersection(*stamps))  # one frame, all topics
        frame = {name: next(each for each in got[name] if dds.stamp_of(each) == stamp) for name in FRAME_TOPICS}
        self.assertLess(abs(stamp[0] - time.time()), 60)
        for name, message in frame.items():
            self.assertEqual(dds.header_of(message).frame_id,
                             {"scan": "parallax_scan", "drops": "parallax_scan", "map": "parallax_scan", "odom": "odom", "frame_info": ""}.get(name, "parallax_left_optical_frame"), name)
        left, depth = frame["left/image_rect"], frame["depth/image_rect"]
        self.assertEqual((left.width, left.height, left.step, left.encoding, len(left.data)), (320, 240, 320, "mono8", 320 * 240))
        self.assertEqual((depth.encoding, len(depth.data)), ("32FC1", 4 * 320 * 240))
        self.assertLess(frame["right/camera_info"].p[3], 0)
        self.assertEqual(frame["depth/camera_info"], frame["left/camera_info"])
        self.assertEqual(len(frame["obstacles_markers"].markers), 2 * len(frame["obstacles"].detections))
        self.assertGreater(len(frame["obstacles"].detections), 0)
        self.assertGreater(frame["points"].width, frame["points_obstacles"].width // 4)
        self.assertTrue(any(0.3 < each < 10 for each in frame["scan"].ranges))
        self.assertEqual(len(frame["drops"].ranges), len(frame["scan"].ranges))
        self.assertFalse(any(map(math.isfinite, frame["drops"].ranges)))  # the scene has none
        grid, cells = frame["map"].info, list(frame["map"].data)
        self.assertEqual((grid.width, grid.height, len(cells), round(grid.resolution, 6)), (200, 200, 40000, 0.05))
        self.assertEqual(set(cells), {-1, 0, 100})
        self.assertAlmostEqual(grid.origin.position.z, -1, delta=0.1)
        yaw, corner = 2 * math.atan2(grid.origin.orientation.z, grid.origin.orientation.w), grid.origin.position
        places = [complex(corner.x, corner.y) + 0.05 * complex(i % 200, i // 200) * cmath.rect(1, yaw) for i in range(40000) if cells[i] == 100]
        self.assertAlmostEqual(min(map(abs, places)), min(each for each in frame["scan"].ranges if each > 0.3), delta=0.25)
        disparity = frame["disparity"]
        self.assertAlmostEqual(disparity.f * disparity.t, -frame["right/camera_info"].p[3], 4)
        self.assertEqual(got["/tf"][0].transforms[0].child_frame_id, "parallax_scan")
        self.assertEqual([each.name for each in got["/diagnostics"][-1].status], ["parallax: service", "parallax: calibration drift", "parallax: network"])
        sent = {each.key: int(each.value) for each in got["/diagnostics"][-1].status[2].values}
        self.assertGreater(sent["sent_bytes_per_s"], 320 * 240)  # counted where datagrams are paced

    def read_verdicts(self, *settings):
        """The first words, and the values of the last frame's info, of a service with SETTINGS."""
        self.start_daemon("mount.z_m=1", "mount.pitch_deg=5.73", "source.rate_hz=10", *settings)
        self.start_ros()
        reader = dds.Listener(DOMAIN, STRUCTURES, {"/parallax/verdict": ("std_msgs/msg/String", dds.RELIABLE),
                                                   "/parallax/frame_info": (FRAME_TOPICS["frame_info"], dds.RELIABLE)})
        self.assertTrue(reader.wait_for(10, WAIT_S))
        return ([each.data for each in reader.messages["/parallax/verdict"]],
                {each.key: each.value for each in reader.messages["/parallax/frame_info"][-1].status[0].values})

    def test_the_verdict_is_a_word(self):
        """Ahead of the robot it is free up to 3.2 m."""
        words, values = self.read_verdicts("verdict.reaction_ms=1500", "verdict.stop_flags=frozen", "verdict.slow_flags=",
                                           "zones=[{name: near, polygon: [[1.7, -0.4], [2.7, -0.4], [2.7, 0.4], [1.7, 0.4]]}]")
        self.assertEqual((words[-1], values["verdict"], values["reasons"]), ("go", "go", ""), words)

    def test_a_verdict_that_is_too_old_is_stop(self):
        """No frame is computed within 1 ms."""
        words, values = self.read_verdicts("verdict.reaction_ms=1", "verdict.stop_flags=frozen", "verdict.slow_flags=",
                                           "zones=[{name: near, polygon: [[1.7, -0.4], [2.7, -0.4], [2.7, 0.4], [1.7, 0.4]]}]")
        self.assertEqual(set(words), {"stop"})
        self.assertEqual((values["verdict"], values["reasons"].split()[-1]), ("stop", "stale"))

    def test_the_static_transform_comes_to_those_who_come_late(self):
        self.start_daemon()
        self.start_ros()
        self.assertTrue(listen("obstacles").wait_for(1, WAIT_S))
        late = dds.Listener(DOMAIN, STRUCTURES, {"/tf_static": ("tf2_msgs/msg/TFMessage", dds.LATCHED)})
        self.assertTrue(late.wait_for(1, WAIT_S))
        transform = late.messages["/tf_static"][0].transforms[0]
        self.assertEqual((transform.header.frame_id, transform.child_frame_id), ("parallax_link", "parallax_left_optical_frame"))

    def test_readers_of_older_releases_under_localhost_only(self):
        """They name loopback and nothing else, so where it has multicast they take any port, and hear of others by multicast alone."""
        self.start_daemon()
        self.start_ros()
        readers = []
        for general in ('<Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>',
                        "<NetworkInterfaceAddress>127.0.0.1</NetworkInterfaceAddress>"):
            uri = f"<CycloneDDS><Domain><General>{general}</General></Domain></CycloneDDS>"
            reader = subprocess.Popen([sys.executable, dds.__file__, BINARIES / "cdr_probe", str(DOMAIN), "/parallax/scan",
                                       FRAME_TOPICS["scan"], str(WAIT_S)], env={**os.environ, "CYCLONEDDS_URI": uri})
            self.addCleanup(self.end, reader)
            readers.append((general, reader))
        for general, reader in readers:
            self.assertEqual(reader.wait(2 * WAIT_S), 0, general)

    def test_unconfirmed_obstacles_are_no_detections(self):
        self.start_daemon("tracks.min_hits=1000")  # none is ever confirmed
        self.start_ros()
        listener = listen("obstacles", "obstacles_markers", "points_obstacles")
        self.assertTrue(listener.wait_for(3, WAIT_S))
        got = {name.removeprefix("/parallax/"): messages for name, messages in listener.messages.items()}
        self.assertEqual({len(each.detections) for each in got["obstacles"]} | {len(each.markers) for each in got["obstacles_markers"]}, {0})
        self.assertGreater(got["points_obstacles"][-1].width, 0)  # what a costmap needs is there at once

    def test_best_effort_readers_match(self):
        self.start_daemon()
        self.start_ros()
        reader = dds.Listener(DOMAIN, STRUCTURES, {"/parallax/scan": (FRAME_TOPICS["scan"], dds.BEST_EFFORT)})
        self.assertTrue(reader.wait_for(3, WAIT_S))

    def test_names_of_the_configuration(self):
        self.start_daemon()
        self.start_ros("ros.namespace=robot/front", "ros.rename=scan=/scan,obstacles=things", "ros.frame_prefix=front_",
                       "ros.topics=scan,obstacles,disparity")
        reader = dds.Listener(DOMAIN, STRUCTURES, {"/scan": (FRAME_TOPICS["scan"], dds.RELIABLE),
                                                   "/robot/front/things": (FRAME_TOPICS["obstacles"], dds.RELIABLE),
                                                   "/robot/front/disparity": (FRAME_TOPICS["disparity"], dds.RELIABLE)})
        self.assertTrue(reader.wait_for(1, WAIT_S))
        self.assertEqual(reader.messages["/scan"][0].header.frame_id, "front_scan")

    def test_what_nobody_reads_is_not_made(self):
        self.start_daemon()
        ros = self.start_ros()
        begin = time.monotonic()
        self.assertTrue(dds.Listener(DOMAIN, STRUCTURES, {"/tf_static": ("tf2_msgs/msg/TFMessage", dds.LATCHED)}).wait_for(1, WAIT_S))
        time.sleep(3)
        seconds = time.monotonic() - begin
        sent, dropped = self.stop_ros(ros)
        self.assertLessEqual(sent, seconds + 3)  # diagnostics each second, and one transform
        self.assertEqual(dropped, 0)

    def test_wrong_names_end_it_with_a_sentence(self):
        for setting, said in (("ros.topics=left,deep", 'ros.topics: there is no "deep"'), ("ros.namespace=a b", "ros.namespace"),
                              ("ros.rename=scan", "ros.rename"), ("ros.rename=laser=/scan", 'there is no topic "laser"'),
                              ("ros.rename=scan=obstacles", 'ros.rename: scan and obstacles are both called "/parallax/obstacles"'),
                              ("ros.rename=scan=/a,odom=/a", 'ros.rename: scan and odom are both called "/a"'),
                              ("ros.rename=scan=/tf", 'ros.rename: scan and /tf are both called "/tf"')):
            result = subprocess.run([BINARIES / "parallax-ros", "--set", setting], capture_output=True, text=True)
            self.assertEqual(result.returncode, 78, result.stderr)
            self.assertIn(said, result.stderr)


    def test_wrong_variables_end_it_with_a_sentence(self):
        for name, value in (("ROS_DOMAIN_ID", "233"), ("ROS_DOMAIN_ID", "one"), ("ROS_AUTOMATIC_DISCOVERY_RANGE", "NEAR"),
                            ("CYCLONEDDS_URI", "x" * 9000)):
            result = subprocess.run([BINARIES / "parallax-ros"], capture_output=True, text=True, env={**os.environ, name: value})
            self.assertEqual(result.returncode, 78, result.stderr)
            self.assertIn(name, result.stderr)


class Delivery(Ros):
    def test_nothing_is_lost_by_both(self):
        """1,000 messages to reliable readers of both implementations, the same ones."""
        self.start_daemon("source.width=160", "source.height=120", "source.rate_hz=60")
        fast = self.start_fast("obstacles", LOSSLESS)
        listener = listen("left/image_rect", "obstacles")
        ros = self.start_ros()
        self.assertTrue(listener.wait_for(LOSSLESS, 4 * WAIT_S), {name: len(got) for name, got in listener.messages.items()})
        self.assertEqual(fast.wait(WAIT_S), 0)
        self.assertEqual(fast.stderr.read(), f"received {LOSSLESS} lost 0\n")
        _, dropped = self.stop_ros(ros)
        self.assertEqual(dropped, 0)
        listener.take()
        obstacles, left = ([dds.stamp_of(each) for each in listener.messages[f"/parallax/{name}"]]
                           for name in ("obstacles", "left/image_rect"))
        fast_stamps = [dds.stamp_of(each) for each in self.fast_messages("obstacles")]
        for stamps in (obstacles, left, fast_stamps):
            self.assertEqual(stamps, sorted(set(stamps)))
        begin = max(stamps[0] for stamps in (obstacles, left, fast_stamps))
        end = min(stamps[-1] for stamps in (obstacles, left, fast_stamps))
        between = [[each for each in stamps if begin <= each <= end] for stamps in (obstacles, left, fast_stamps)]
        self.assertGreater(len(between[0]), LOSSLESS * 9 // 10)
        self.assertEqual(between[0], between[1])
        self.assertEqual(between[0], between[2])

    def test_readers_that_die_join_and_storm(self):
        """A steady reader loses nothing meanwhile, and parallax-ros needs no more memory later than at first."""
        minutes = float(os.environ.get("PLX_SOAK_MINUTES", 0.25))
        self.start_daemon()
        ros = self.start_ros()
        listener = listen("frame_info")
        self.assertTrue(listener.wait_for(10, WAIT_S))
        crowd, memory = [], []
        deadline = time.monotonic() + 60 * minutes
        while time.monotonic() < deadline:
            while len(crowd) < 6:
                crowd.append(self.start_fast("left/image_rect", 1000000))
            listener.wait(lambda: False, 1.5)
            for _ in range(3):  # half of them die without a word
                self.end(crowd.pop(0))
            memory.append(self.memory_of(ros))
        self.assertIsNone(ros.poll())
        half = len(memory) // 2
        print(f"memory: {max(memory[:half])} kB, then {max(memory[half:])} kB")
        self.assertLess(max(memory[half:]), max(memory[:half]) + 8 * 1024, memory)
        frames = [int(next(each.value for each in message.status[0].values if each.key == "sequence"))
                  for message in listener.messages["/parallax/frame_info"]]
        missed = frames[-1] - frames[0] + 1 - len(frames)
        print(f"frames: {len(frames)} of {frames[-1] - frames[0] + 1}")
        self.assertEqual(frames, sorted(set(frames)))
        self.assertLess(missed, len(frames) // 20)  # by a machine that does other things as well

    @staticmethod
    def memory_of(process):
        with open(f"/proc/{process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    def test_the_service_goes_and_comes_back(self):
        ros = self.start_ros()  # before there is a service
        reader = dds.Listener(DOMAIN, STRUCTURES, {"/diagnostics": ("diagnostic_msgs/msg/DiagnosticArray", dds.RELIABLE),
                                                   "/parallax/scan": (FRAME_TOPICS["scan"], dds.RELIABLE)})

        def level():
            return reader.messages["/diagnostics"][-1].status[0].level if reader.messages["/diagnostics"] else None

        def is_well():  # but for pictures that are simulated
            status = reader.messages["/diagnostics"][-1].status[0]
            return (status.level, status.message) == (1, "simulated pictures")

        self.assertTrue(reader.wait(lambda: level() == 3, WAIT_S))
        daemon = self.start_daemon()
        self.assertTrue(reader.wait(lambda: is_well() and reader.messages["/parallax/scan"], WAIT_S))
        daemon.send_signal(signal.SIGKILL)
        daemon.wait()
        self.assertTrue(reader.wait(lambda: level() == 3, WAIT_S))
        reader.messages["/parallax/scan"].clear()
        self.start_daemon()
        self.assertTrue(reader.wait(lambda: is_well() and reader.messages["/parallax/scan"], WAIT_S))
        self.assertIsNone(ros.poll())


class Locate(Ros):
    """Boxes of a detector, answered with what `plx_locate` says of the same frame."""
    BOXES, ANSWERS, INFO = (f"/parallax/locate/{name}" for name in ("boxes", "detections", "info"))
    KINDS = {BOXES: "vision_msgs/msg/Detection2DArray", ANSWERS: "vision_msgs/msg/Detection3DArray", INFO: "diagnostic_msgs/msg/DiagnosticArray"}

    def begin(self, *settings, qos=dds.BEST_EFFORT):
        # So slow that a ring of 4 frames is easily asked in time, and so short that 4 further frames come soon.
        self.start_daemon("source.rate_hz=5", "publish.slots=4", *settings)
        ros = self.start_ros()
        topics = {"/parallax/left/image_rect": ("sensor_msgs/msg/Image", dds.RELIABLE),
                  "/parallax/frame_info": ("diagnostic_msgs/msg/DiagnosticArray", dds.RELIABLE), **{name: (self.KINDS[name], dds.RELIABLE) for name in (self.ANSWERS, self.INFO)}}
        listener = dds.Listener(DOMAIN, STRUCTURES, topics)
        self.speaker = dds.Speaker(DOMAIN, self.BOXES, STRUCTURES.of(self.KINDS[self.BOXES]), qos)
        self.assertTrue(listener.wait(lambda: listener.messages["/parallax/left/image_rect"] and self.speaker.is_heard(), WAIT_S))
        return ros, listener

    def message(self, stamp, boxes):
        """BOXES: (id, x, y, width, height) with the corner in pixels."""
        make = lambda name, *values: STRUCTURES.of(name)(*values)
        header = make("std_msgs/msg/Header", make("builtin_interfaces/msg/Time", *stamp), "camera")
        pose = make("geometry_msgs/msg/PoseWithCovariance", make("geometry_msgs/msg/Pose", make("geometry_msgs/msg/Point", 0.0, 0.0, 0.0),
                    make("geometry_msgs/msg/Quaternion", 0.0, 0.0, 0.0, 1.0)), [0.0] * 36)
        results = [make("vision_msgs/msg/ObjectHypothesisWithPose", make("vision_msgs/msg/ObjectHypothesis", name, score), pose)
                   for name, score in (("person", 0.75), ("tree", 0.125))]
        detections = []
        for name, x, y, width, height in boxes:
            centre = make("vision_msgs/msg/Pose2D", make("vision_msgs/msg/Point2D", x + width / 2, y + height / 2), 0.5)
            detections.append(make("vision_msgs/msg/Detection2D", header, results, make("vision_msgs/msg/BoundingBox2D", centre, float(width), float(height)), name))
        return make(self.KINDS[self.BOXES], header, detections)

    def ask(self, listener, boxes, stamp=None):
        """The detections and the words for BOXES in the newest picture, or at STAMP."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:  # a best-effort message may be lost, and the ring may have gone on
            listener.take()
            at = stamp or dds.stamp_of(listener.messages["/parallax/left/image_rect"][-1])
            for name in (self.ANSWERS, self.INFO):
                listener.messages[name].clear()
            self.speaker.write(self.message(at, boxes))
            if listener.wait(lambda: all(listener.messages[name] for name in (self.ANSWERS, self.INFO)), 2):
                answer, info = listener.messages[self.ANSWERS][0], listener.messages[self.INFO][0]
                self.assertEqual((dds.stamp_of(answer), dds.stamp_of(info), answer.header.frame_id), (at, at, "parallax_left_optical_frame"))
                self.assertEqual([each.id for each in answer.detections], [box[0] for box in boxes])
                self.assertEqual([each.name for each in info.status], [box[0] for box in boxes])
                words = [each.values[0].value for each in info.status]
                if stamp or "too_late" not in words:
                    return answer.detections, words
        self.fail("no answer came")

    def assert_unknown(self, detection):
        position, size = detection.bbox.center.position, detection.bbox.size
        self.assertTrue(all(map(math.isnan, (position.x, position.y, position.z, size.x, size.y, size.z))))
        for result in detection.results:
            self.assertTrue(all(map(math.isnan, (result.pose.pose.position.x, result.pose.pose.position.y, result.pose.pose.position.z))))
            self.assertEqual(result.pose.covariance[0], -1)

    def stamp_of_frame(self, listener, sequence):
        """The stamp that the topics of frame SEQUENCE have; None: it was not published."""
        def infos():
            return {int(value.value): dds.stamp_of(each) for each in listener.messages["/parallax/frame_info"]
                    for value in each.status[0].values if value.key == "sequence"}
        self.assertTrue(listener.wait(lambda: infos() and max(infos()) >= sequence, WAIT_S))
        return infos().get(sequence)

    def ask_beside_library(self, listener, boxes, others):
        """The bridge's answer for BOXES and OTHERS, and the library's for BOXES, in one frame."""
        client = parallax_stereo.Client(self.socket)
        self.addCleanup(client.close)
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            frame = client.read(timeout=WAIT_S)
            stamp = self.stamp_of_frame(listener, frame.sequence)
            detections, words = self.ask(listener, [*boxes, *others], stamp) if stamp else ([], ["too_late"])
            if "too_late" not in words:  # else this machine was too slow
                return detections, words, frame.locate([box[1:] for box in boxes])
        self.fail("every frame was overwritten")

    def test_answers_are_those_of_the_library(self):
        _, listener = self.begin()
        boxes = [(f"box {x} {y}", x, y, 40, 40) for x in range(0, 320, 40) for y in range(40, 200, 40)]
        others = [("outside", 5000, 10, 20, 20), ("", 100, 100, 0, 30)]
        detections, words, places = self.ask_beside_library(listener, boxes, others)
        self.assertEqual(words, [*(place.state.name.lower() for place in places), "outside", "invalid_box"])
        self.assertIn("known", words)
        self.assertGreater(len(set(words)), 3)
        for detection, place in zip(detections, places):
            self.assertEqual([(each.hypothesis.class_id, each.hypothesis.score) for each in detection.results], [("person", 0.75), ("tree", 0.125)])
            if not place:
                self.assert_unknown(detection)
                continue
            position, size = detection.bbox.center.position, detection.bbox.size
            self.assertEqual((position.x, position.y, position.z), tuple(place.position_m))
            self.assertEqual((size.x, size.y, size.z), (*place.size_m, 0))
            for result in detection.results:
                self.assertEqual(result.pose.pose.position, position)
                self.assertAlmostEqual(result.pose.covariance[14], place.sigma_m ** 2, 9)
        for detection in detections[-2:]:
            self.assert_unknown(detection)

    def test_frames_that_are_gone_and_stamps_of_none(self):
        _, listener = self.begin(qos=dds.RELIABLE)
        first = dds.stamp_of(listener.messages["/parallax/left/image_rect"][0])
        newest = lambda: dds.stamp_of(listener.messages["/parallax/left/image_rect"][-1])
        self.assertTrue(listener.wait(lambda: len(listener.messages["/parallax/left/image_rect"]) > 8, WAIT_S))
        box = ("7", 100, 100, 60, 60)
        for stamp, word in ((first, "too_late"), ((0, 0), "too_late"), ((newest()[0] + 1000, 5), "no_frame"), ((-5, 0xFFFFFFFF), "too_late")):
            detections, words = self.ask(listener, [box], stamp)
            self.assertEqual(words, [word])
            self.assert_unknown(detections[0])

    def test_hostile_boxes(self):
        """Numbers of all kinds are answered, too many boxes are refused with one line; pictures go on."""
        ros, listener = self.begin(qos=dds.RELIABLE)
        nan, infinite = math.nan, math.inf
        boxes = [("a", nan, 0, 10, 10), ("b", 0, 0, infinite, 10), ("c", -1e300, 0, 10, 10), ("d", 10, 10, -5, 10), ("e", 0, 0, 10, nan),
                 ("f" * 5000, -1e5, -1e5, 2e5, 2e5), ("g", 10, 10, 1e-9, 1e-9), ("h", 1e9, 1e9, 10, 10)]
        detections, words = self.ask(listener, boxes)
        self.assertEqual([word == "invalid_box" for word in words], [True, True, True, True, True, False, False, True])
        for detection, word in zip(detections, words):
            if word != "known":
                self.assert_unknown(detection)
        detections, words = self.ask(listener, [])
        self.assertEqual((list(detections), words), ([], []))
        listener.messages[self.ANSWERS].clear()
        stamp = dds.stamp_of(listener.messages["/parallax/left/image_rect"][-1])
        self.speaker.write(self.message(stamp, [("", 0, 0, 10, 10)] * 257))
        many = self.message(stamp, [("", 0, 0, 10, 10)])
        many.detections[0].results = []
        many.detections = many.detections * 100000
        self.speaker.write(many)
        for field, text in (("header", b"\xff" * 4), ("id", b"\0")):  # of the same name, but too short, and with counts that lie
            short = dds.make_idl_struct("Detection2DArray", "vision_msgs.msg.dds_.Detection2DArray_", {field: dds.types.array[dds.types.uint8, len(text)]})
            liar = dds.Speaker(DOMAIN, self.BOXES, short, dds.RELIABLE)
            self.assertTrue(listener.wait(liar.is_heard, WAIT_S))
            liar.write(short(list(text)))
        before = len(listener.messages["/parallax/left/image_rect"])
        self.assertTrue(listener.wait(lambda: len(listener.messages["/parallax/left/image_rect"]) > before + 10, WAIT_S))
        self.assertEqual(listener.messages[self.ANSWERS], [])
        self.assertIsNone(ros.poll())
        self.assertEqual(len(self.ask(listener, [("", 0, 0, 10, 10)] * 256)[0]), 256)
        with open(f"{self.directory}/log") as log:
            self.assertEqual(sum("expected at most 256 boxes" in line for line in log), 1)


if __name__ == "__main__":
    unittest.main()
