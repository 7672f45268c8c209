#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes one picture size of a ZED's calibration as OpenCV FileStorage.

usage: zed.py SN12345.conf stereo.yml 2K|FHD|HD|VGA

The signs of the pose are those of Stereolabs' samples, not tried on a camera.
"""
import configparser
import sys

import cv2
import numpy as np

SIZES = {"2K": (2208, 1242), "FHD": (1920, 1080), "HD": (1280, 720), "VGA": (672, 376)}

if len(sys.argv) != 4 or sys.argv[3] not in SIZES:
    sys.exit("usage: zed.py SN12345.conf stereo.yml 2K|FHD|HD|VGA")
name = sys.argv[3]
conf = configparser.ConfigParser(strict=False)
if not conf.read(sys.argv[1]):
    sys.exit(f"zed.py: cannot read {sys.argv[1]}")
stereo, out = conf["STEREO"], cv2.FileStorage(sys.argv[2], cv2.FILE_STORAGE_WRITE)
out.write("image_width", SIZES[name][0])
out.write("image_height", SIZES[name][1])
for eye, side in enumerate(("LEFT", "RIGHT"), 1):
    n = {key: float(value) for key, value in conf[f"{side}_CAM_{name}"].items()}
    out.write(f"M{eye}", np.array([[n["fx"], 0, n["cx"]], [0, n["fy"], n["cy"]], [0, 0, 1]]))
    out.write(f"D{eye}", np.array([[n.get(key, 0) for key in ("k1", "k2", "p1", "p2", "k3")]]))
turn = [float(stereo[f"{axis}_{name}"]) for axis in ("RX", "CV", "RZ")]
move = [float(stereo.get(key, stereo.get(f"{key}_{name}", "0"))) for key in ("Baseline", "TY", "TZ")]
out.write("R", cv2.Rodrigues(np.array(turn))[0])
out.write("T", -np.array(move).reshape(3, 1) / 1000)
out.release()
