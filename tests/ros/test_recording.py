# SPDX-License-Identifier: Apache-2.0
"""A recording of a real service, every topic, read by three programs of others: mcap, mcap-ros2-support and rosbags agree."""
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from programs import BINARIES, SKIPPED, WAIT_S, setting_options

try:
    import numpy
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore
except ImportError as missing:
    print(f"skipped: {missing}; ./dev setup --all installs it")
    sys.exit(SKIPPED)

TOPICS = "left,right,disparity,depth,points,points_obstacles,scan,drops,map,verdict,obstacles,markers,odom,frame_info,tf,diagnostics"
PAIRS = 10


def plain(value):
    """A message of either program as dictionaries, lists and numbers."""
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes) and len(value) == 1:  # a field of type byte, as mcap-ros2-support has it
        return value[0]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return list(bytes(value))
    if isinstance(value, numpy.ndarray):
        return value.reshape(-1).tolist()
    if isinstance(value, numpy.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    names = [field.name for field in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else value.__slots__
    constants = vars(type(value)) if dataclasses.is_dataclass(value) else ()  # such as DiagnosticStatus.OK
    return {name: plain(getattr(value, name)) for name in names if name not in constants and not name.startswith("_")}


def same(one, other):
    """Equal, and NaN equals NaN."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and (one == other or all(map(same, one, other)))
    return one == other or (one != one and other != other)


class Recording(unittest.TestCase):
    def record(self, directory):
        socket, path = f"{directory}/s", f"{directory}/all.mcap"
        settings = [f"publish.socket={socket}", "backend=cpu", "blackbox.directory=", "calibration_history=", "publish.right=true", "match.disparities=64",
                    "match.paths=4", "source.width=160", "source.height=120", "source.rate_hz=10", "mount.z_m=1",
                    "mount.pitch_deg=5.73"]
        daemon = subprocess.Popen([BINARIES / "parallaxd", *setting_options(settings)], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + WAIT_S
            while not os.path.exists(socket) and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(1)  # the first frame of a service has no motion
            subprocess.run([BINARIES / "parallax", "record", path, "--socket", socket, "--pairs", str(PAIRS), "--topics", TOPICS],
                           check=True, stdout=subprocess.DEVNULL)
        finally:
            daemon.kill()
            daemon.wait()
        return path

    def test_all_agree_on_every_message(self):
        with tempfile.TemporaryDirectory() as directory:
            path = self.record(directory)
            with open(path, "rb") as file:
                reader = make_reader(file, decoder_factories=[DecoderFactory()])
                decoded = [(channel.topic, message.log_time, message.data, plain(content))
                           for _, channel, message, content in reader.iter_decoded_messages()]
            store = get_typestore(Stores.ROS2_JAZZY)
            with AnyReader([pathlib.Path(path)], default_typestore=store) as bag:
                for connection in bag.connections:  # the definitions of the file
                    types = get_types_from_msg(connection.msgdef.data, connection.msgtype)
                    store.register({name: fields for name, fields in types.items() if name not in store.fielddefs})
                others = [(connection.topic, stamp, data, plain(store.deserialize_cdr(data, connection.msgtype)))
                          for connection, stamp, data in bag.messages()]
            decoded.sort(key=lambda each: each[:2])
            others.sort(key=lambda each: each[:2])
            self.assertEqual([each[:2] for each in decoded], [each[:2] for each in others])
            self.assertEqual(len({topic for topic, *_ in decoded}), 20)
            self.assertGreaterEqual(len(decoded), 15 * PAIRS)
            for (topic, _, data, content), (_, _, other_data, other) in zip(decoded, others):
                self.assertEqual(data, bytes(other_data))
                self.assertTrue(same(content, other), topic)


if __name__ == "__main__":
    unittest.main()
