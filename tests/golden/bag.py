#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bags that the Python package rosbags writes, read as pairs: colour and 16 bits, calibration, other topics, zstd.

usage: bag.py PROBE        (PROBE: the program made of bag_probe.c)
Exit status: 0 all equal, 1 a difference, 77 skipped because rosbags is missing (./dev setup --all installs it).
"""
import pathlib
import subprocess
import sys
import tempfile

from probe import PROBE  # first: it skips the test where rosbags is missing
import numpy
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_HUMBLE)
TYPES = STORE.types
WIDTH, HEIGHT, PAIRS = 31, 7, 12
FX, BASELINE = 420.0, 0.095
TOPICS = {eye: (f"/stereo/{eye}/image_rect_color", f"/stereo/{eye}/camera_info") for eye in ("left", "right")}


def header(stamp_ns):
    return TYPES["std_msgs/msg/Header"](TYPES["builtin_interfaces/msg/Time"](stamp_ns // 10**9, stamp_ns % 10**9), "camera")


def info(eye, stamp_ns):
    p = numpy.array([FX, 0, 15, -FX * BASELINE if eye == "right" else 0, 0, FX, 3, 0, 0, 0, 1, 0], float)
    roi = TYPES["sensor_msgs/msg/RegionOfInterest"](0, 0, 0, 0, False)
    return TYPES["sensor_msgs/msg/CameraInfo"](header(stamp_ns), HEIGHT, WIDTH, "plumb_bob", numpy.zeros(5),
                                               numpy.array([FX, 0, 15, 0, FX, 3, 0, 0, 1], float), numpy.eye(3).reshape(-1), p, 0, 0, roi)


def picture(rng, encoding, stamp_ns):
    """A random picture, and what it is in grey."""
    if encoding == "16UC1":
        pixels = rng.integers(0, 65536, (HEIGHT, WIDTH), dtype=numpy.uint16)
        data, grey = pixels.astype("<u2").view(numpy.uint8), pixels
    elif encoding == "mono8":
        data = grey = rng.integers(0, 256, (HEIGHT, WIDTH), dtype=numpy.uint8)
    else:
        data = rng.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=numpy.uint8)
        rgb = (data if encoding == "rgb8" else data[:, :, ::-1]).astype(int)
        grey = (77 * rgb[:, :, 0] + 150 * rgb[:, :, 1] + 29 * rgb[:, :, 2] + 128) >> 8
    data = data.reshape(-1)
    return TYPES["sensor_msgs/msg/Image"](header(stamp_ns), HEIGHT, WIDTH, encoding, 0, data.size // HEIGHT, data), grey


def write(folder, encoding, compression):
    """Writes a bag; returns its file and the lines that are expected of it."""
    rng = numpy.random.default_rng(7)
    expected = []
    writer = Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP)
    if compression:
        writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with writer:
        connections = {eye: (writer.add_connection(TOPICS[eye][0], "sensor_msgs/msg/Image", typestore=STORE),
                             writer.add_connection(TOPICS[eye][1], "sensor_msgs/msg/CameraInfo", typestore=STORE)) for eye in TOPICS}
        other = writer.add_connection("/other", "std_msgs/msg/Header", typestore=STORE)
        for k in range(PAIRS):
            stamp_ns = 1_700_000_000_000_000_000 + k * 50_000_000 + (400_000_000 if k > 5 else 0)  # with a gap
            pixels = []
            for eye in TOPICS if k % 2 else reversed(TOPICS):
                image, grey = picture(rng, encoding, stamp_ns)
                writer.write(connections[eye][0], stamp_ns, STORE.serialize_cdr(image, "sensor_msgs/msg/Image"))
                writer.write(connections[eye][1], stamp_ns, STORE.serialize_cdr(info(eye, stamp_ns), "sensor_msgs/msg/CameraInfo"))
                pixels.append((eye, "".join(f"{value:04x}" for value in grey.reshape(-1))))
            writer.write(other, stamp_ns, STORE.serialize_cdr(header(stamp_ns), "std_msgs/msg/Header"))
            pixels = dict(pixels)
            expected.append(f"{stamp_ns} {pixels['left']} {pixels['right']}")
    return next(pathlib.Path(folder).glob("*.mcap*")), expected


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for encoding, compression in (("mono8", False), ("rgb8", False), ("bgr8", True), ("16UC1", False)):
            path, expected = write(f"{folder}/{encoding}", encoding, compression)
            result = subprocess.run([*PROBE, path, TOPICS["left"][0], TOPICS["right"][0]], capture_output=True, text=True)
            lines = result.stdout.splitlines()
            size = f"{WIDTH} {HEIGHT} {2 if encoding == '16UC1' else 1} {FX:g} {BASELINE:g}"
            good = result.returncode == 0 and lines == [size, *expected]
            failures += not good
            print(f"{'ok    ' if good else 'WRONG '}{encoding}: {len(lines) - 1} pairs of {PAIRS}{' ' if result.stderr else ''}"
                  f"{result.stderr.strip()}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
