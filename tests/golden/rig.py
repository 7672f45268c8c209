#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares calibrations from boards with OpenCV's stereoCalibrate: on the shared chessboard set, and on drawn-up rigs.

usage: rig.py PROBE DATA        (PROBE: the program made of rig_probe.c; DATA: the test data, may be missing)
Exit status: 0 all alike, 1 a difference, 77 skipped because python3-opencv is missing.
"""
import os
import pathlib
import shlex
import subprocess
import sys

try:
    import cv2
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PROBE, DATA = [*shlex.split(os.environ.get("PLX_EMULATOR", "")), sys.argv[1]], pathlib.Path(sys.argv[2])
PLUMB_BOB = 1
COLUMNS, ROWS, SQUARE_M, SIZE = 9, 6, 0.025, (640, 480)
UNTIL = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 300, 1e-12)
POINTS = np.zeros((COLUMNS * ROWS, 3), np.float32)
POINTS[:, :2] = np.mgrid[0:COLUMNS, 0:ROWS].T.reshape(-1, 2) * SQUARE_M
failures = 0


def ours(pairs):
    lines = [f"{COLUMNS} {ROWS} {SQUARE_M} {SIZE[0]} {SIZE[1]} {PLUMB_BOB} {len(pairs)}"]
    lines += [" ".join(f"{value:.9g}" for value in corners.reshape(-1)) for pair in pairs for corners in pair]
    text = subprocess.run(PROBE, input="\n".join(lines), capture_output=True, check=True, text=True).stdout
    return {name: np.array(values, float) for name, *values in map(str.split, text.splitlines())}


def theirs(pairs):
    objects = [POINTS] * len(pairs)
    eyes = [[pair[eye].astype(np.float32).reshape(-1, 1, 2) for pair in pairs] for eye in range(2)]
    cameras = [cv2.calibrateCamera(objects, corners, SIZE, None, None)[1:3] for corners in eyes]
    return cv2.stereoCalibrate(objects, *eyes, *cameras[0], *cameras[1], SIZE, flags=cv2.CALIB_USE_INTRINSIC_GUESS, criteria=UNTIL)


def compare(name, pairs, rms_limit, focal_limit, baseline_limit):
    """Limits are relative. OpenCV squares all errors; ours leaves out gross ones."""
    global failures
    got = ours(pairs)
    rms, m1, _, m2, _, _, t, *_ = theirs(pairs)
    differences = (got["rms"][0] / rms - 1, got["left"][0] / m1[0, 0] - 1, got["right"][0] / m2[0, 0] - 1,
                   np.linalg.norm(got["translation"]) / np.linalg.norm(t) - 1)
    limits = (rms_limit, focal_limit, focal_limit, baseline_limit)
    good = all(abs(difference) <= limit for difference, limit in zip(differences, limits))
    failures += not good
    print(f"{'ok    ' if good else 'WRONG '}{name}: rms {got['rms'][0]:.4f} px, OpenCV {rms:.4f}; focal lengths "
          f"{100 * differences[1]:+.4f} and {100 * differences[2]:+.4f} %, baseline {100 * differences[3]:+.4f} %")


def drawn(rng):
    """Pairs of a random rig, with noise of 0.05 px."""
    focal = rng.uniform(450, 700)
    k = np.array([[focal, 0, 320 + rng.uniform(-10, 10)], [0, focal, 240 + rng.uniform(-10, 10)], [0, 0, 1]])
    d = np.array([rng.uniform(-0.3, 0), rng.uniform(0, 0.1), 0.001, -0.0005, 0])
    turn, shift = cv2.Rodrigues(rng.uniform(-0.03, 0.03, 3))[0], np.array([-0.1, 0.002, -0.001])
    pairs = []
    while len(pairs) < 20:
        r = cv2.Rodrigues(rng.uniform(-0.6, 0.6, 3))[0]
        t = np.array([rng.uniform(-0.15, 0.05), rng.uniform(-0.12, 0.02), rng.uniform(0.35, 0.6)])
        pair = []
        for rotation, translation in ((r, t), (turn @ r, turn @ t + shift)):
            corners = cv2.projectPoints(POINTS.astype(float), cv2.Rodrigues(rotation)[0], translation, k, d)[0].reshape(-1, 2)
            pair.append(corners + rng.normal(0, 0.05, corners.shape))
        if all((corners > 2).all() and (corners < np.array(SIZE) - 3).all() for corners in pair):
            pairs.append(pair)
    return pairs


def main():
    print(f"OpenCV {cv2.__version__}")
    rng = np.random.default_rng(1)
    for number in range(5):
        compare(f"rig {number}", drawn(rng), 1e-3, 1e-4, 1e-4)
    path = DATA / "chessboard" / "corners.yml"
    if path.exists():
        file = cv2.FileStorage(str(path), cv2.FILE_STORAGE_READ)
        names = [name for name in file.root().keys() if name.startswith("left")]
        pairs = [[file.getNode(each).mat() for each in (name, name.replace("left", "right"))] for name in names]
        compare("chessboard", pairs, 0.02, 1e-3, 1e-2)
    else:
        print(f"skipped: no chessboard data in {path.parent}")
    return 1 if failures else 0


sys.exit(main())
