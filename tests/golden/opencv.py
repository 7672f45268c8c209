#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares rectification, maps, resampling and demosaicing with OpenCV, and the chessboard set with its stored results.

usage: opencv.py PROBE DATA        (PROBE: the program made of opencv_probe.c; DATA: the test data, may be missing)
Exit status: 0 all equal, 1 a difference, 77 skipped because python3-opencv is missing.
"""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PROBE, DATA = [*shlex.split(os.environ.get("PLX_EMULATOR", "")), sys.argv[1]], pathlib.Path(sys.argv[2])
PLUMB_BOB, RATIONAL, EQUIDISTANT = 1, 2, 3
SQUARE_M = 0.025  # of the chessboard: OpenCV measured in squares, and a baseline is in metres
OBLONG = "equidistant, fx != fy"
ZERO_DISPARITY = cv2.CALIB_ZERO_DISPARITY
# Later versions sample the outline of the picture at other points, which moves the focal length a little.
RECTIFICATION_LIMIT = 1e-9 if cv2.__version__.startswith(("4.5", "4.6")) else 5e-3
failures = 0


def check(good, text):
    global failures
    failures += not good
    print(("ok    " if good else "WRONG ") + text)


class Stereo:
    """A calibration, with OpenCV's answers to what the probe is asked."""

    def __init__(self, model, size, k, d, rotation, translation):
        self.model, self.size, self.k, self.rotation = model, size, k, rotation
        self.d = [np.asarray(coefficients, float).reshape(-1) for coefficients in d]
        self.translation = np.asarray(translation, float).reshape(3)
        self.rectified = None

    def rectify(self, alpha):
        k, d, size = self.k, self.d, self.size
        if self.model == EQUIDISTANT:
            answer = cv2.fisheye.stereoRectify(k[0], d[0], k[1], d[1], size, self.rotation, self.translation, ZERO_DISPARITY,
                                               newImageSize=size, balance=alpha)
        else:
            answer = cv2.stereoRectify(k[0], d[0], k[1], d[1], size, self.rotation, self.translation, flags=ZERO_DISPARITY,
                                       alpha=alpha)
        return list(answer[:4])

    def maps(self, eye):
        r, p = self.rectified[eye], self.rectified[2 + eye]
        make = cv2.fisheye.initUndistortRectifyMap if self.model == EQUIDISTANT else cv2.initUndistortRectifyMap
        return make(self.k[eye], self.d[eye], r, p, self.size, cv2.CV_32FC1)

    def text(self):
        numbers = []
        for k, d in zip(self.k, self.d):
            numbers += [*self.size, k[0, 0], k[1, 1], k[0, 2], k[1, 2], self.model, *d, *[0] * (8 - len(d))]
        numbers += [*self.rotation.ravel(), *self.translation, int(self.rectified is not None)]
        for matrix in self.rectified or []:
            numbers += [*matrix.ravel()]
        return " ".join(repr(float(number)) for number in numbers)


def ask(*request, text=""):
    done = subprocess.run([*PROBE, *map(str, request)], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, request))}: {done.stderr.strip()}")
    return done.stdout


def compare_rectification(name, stereo, alpha, expected=None):
    limit = 1e-9 if expected or stereo.model == EQUIDISTANT else RECTIFICATION_LIMIT
    stereo.rectified = None
    lines = ask("rectify", alpha, text=stereo.text()).splitlines()
    expected = expected or stereo.rectify(alpha)
    worst = 0
    for line, matrix in zip(lines, expected):
        ours = np.array(line.split(), float).reshape(matrix.shape)
        worst = max(worst, np.max(np.abs(ours - matrix)) / np.max(np.abs(matrix)))
    check(worst < limit, f"{name}: R1 R2 P1 P2 at alpha {alpha}: largest relative difference {worst:.1e}")


def our_map(stereo, eye, folder):
    path = folder / f"map{eye}"
    ask("map", eye, path, text=stereo.text())
    entry = np.fromfile(path, np.dtype([("xy", "<i2", 2), ("f", "u1", 2)])).reshape(stereo.size[1], stereo.size[0])
    return path, entry


def compare_maps(name, stereo, folder):
    for eye in (0, 1):
        xy, fraction = cv2.convertMaps(*stereo.maps(eye), cv2.CV_16SC2)
        _, entry = our_map(stereo, eye, folder)
        theirs = xy.astype(int) * 32 + np.stack([fraction & 31, fraction >> 5], -1)
        ours = entry["xy"].astype(int) * 32 + entry["f"]
        inside = np.all((xy >= -1) & (xy <= np.array(stereo.size)), axis=-1)
        difference = np.abs(ours - theirs)[inside]
        equal = np.mean(np.all(difference == 0, axis=-1))
        check(inside.mean() > 0.3 and difference.max() <= 1 and equal >= 0.9999,
              f"{name}: map of eye {eye}: {100 * equal:.4f} % equal, largest difference {difference.max()}/32 px")
        ours_outside = np.any((entry["xy"] < -1) | (entry["xy"] > np.array(stereo.size)), axis=-1)
        check(np.all(ours_outside == ~inside), f"{name}: map of eye {eye}: the same pixels lie outside")


def resample(stereo, eye, image, folder):
    path, _ = our_map(stereo, eye, folder)
    image.tofile(folder / "src")
    height, width = image.shape
    ask("remap", image.itemsize, width, height, path, *stereo.size, folder / "src", folder / "dst")
    return np.fromfile(folder / "dst", image.dtype).reshape(stereo.size[1], stereo.size[0])


def compare_images(name, ours, theirs, min_equal):
    difference = np.abs(ours.astype(int) - theirs.astype(int))
    equal = np.mean(difference == 0)
    check(difference.max() <= 1 and equal >= min_equal,
          f"{name}: {100 * equal:.4f} % of pixels equal, largest difference {difference.max()}")


def compare_remap(name, stereo, folder, rng):
    # OpenCV resamples 16-bit images in float, Parallax in integers: the rounding of halves differs
    for dtype, largest, min_equal in ((np.uint8, 255, 1.0), (np.uint16, 65535, 0.95)):
        image = rng.integers(0, largest + 1, stereo.size[::-1]).astype(dtype)
        path, entry = our_map(stereo, 0, folder)
        fraction = (entry["f"][..., 1].astype(np.uint16) * 32 + entry["f"][..., 0]).astype(np.uint16)
        theirs = cv2.remap(image, np.ascontiguousarray(entry["xy"]), fraction, cv2.INTER_LINEAR)
        compare_images(f"{name}: remap of {image.itemsize * 8}-bit noise", resample(stereo, 0, image, folder), theirs, min_equal)


def matrix(fx, fy, cx, cy):
    return np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1.0]])


def synthetic():
    turn = cv2.Rodrigues(np.array([0.011, -0.023, 0.007]))[0]
    k = [matrix(521.3, 519.8, 322.7, 236.1), matrix(524.9, 523.0, 315.2, 245.9)]
    shift = [-0.1203, 0.0017, -0.0023]
    plumb = [[-0.28, 0.09, 0.0011, -0.0007, -0.012], [-0.31, 0.12, -0.0009, 0.0004, -0.02]]
    rational = [[0.31, -0.12, 0.0006, -0.0004, 0.011, 0.62, -0.05, 0.02], [0.28, -0.1, -0.0003, 0.0005, 0.01, 0.6, -0.04, 0.018]]
    fisheye = [[0.02, -0.011, 0.006, -0.002], [0.018, -0.009, 0.004, -0.001]]
    wide = [matrix(283.1, 283.1, 319.2, 241.3), matrix(281.7, 281.7, 322.4, 238.8)]
    oblong = [matrix(283.1, 272.4, 319.2, 241.3), matrix(281.7, 293.2, 322.4, 238.8)]
    none = [[0.0] * 5] * 2
    return {
        "plumb_bob": Stereo(PLUMB_BOB, (640, 480), k, plumb, turn, shift),
        "rational": Stereo(RATIONAL, (640, 480), k, rational, turn, shift),
        "equidistant": Stereo(EQUIDISTANT, (640, 480), wide, fisheye, turn, shift),
        OBLONG: Stereo(EQUIDISTANT, (640, 480), oblong, fisheye, turn, shift),
        "odd size": Stereo(PLUMB_BOB, (513, 377), [matrix(400, 401, 260, 190), matrix(402, 403, 250, 185)], plumb, turn, shift),
        "parallel": Stereo(PLUMB_BOB, (640, 480), [k[0], k[0]], none, np.eye(3), [-0.12, 0, 0]),
    }


def chessboard(folder):
    path = DATA / "chessboard"
    if not (path / "stereo_ref.yml").exists():
        print(f"skipped: no chessboard data in {path}")
        return
    file = cv2.FileStorage(str(path / "stereo_ref.yml"), cv2.FILE_STORAGE_READ)
    m1, m2, d1, d2, r, t, *stored = (file.getNode(n).mat() for n in "M1 M2 D1 D2 R T R1 R2 P1 P2".split())
    stored[3][:, 3] *= SQUARE_M
    stereo = Stereo(PLUMB_BOB, (640, 480), [m1, m2], [d1, d2], r, t * SQUARE_M)
    compare_rectification("chessboard", stereo, 0.0, stored)
    stereo.rectified = stored
    compare_maps("chessboard", stereo, folder)
    for eye, name in enumerate(("left", "right")):
        raw = cv2.imread(str(path / f"{name}01.jpg"), cv2.IMREAD_GRAYSCALE)
        ours = resample(stereo, eye, raw, folder)
        compare_images(f"chessboard {name}01: stored", ours,
                       cv2.imread(str(path / "rectified01" / f"{name}.png"), cv2.IMREAD_GRAYSCALE), 0.999)
        compare_images(f"chessboard {name}01: fresh", ours, cv2.remap(raw, *stereo.maps(eye), cv2.INTER_LINEAR), 0.999)


def zone_plate():
    """Rings that become finer outwards, beside tinted discs, as light on a sensor: R, G, B."""
    y, x = np.mgrid[0:360, 0:480].astype(float)
    plate = 0.5 + 0.35 * np.cos((x * x + y * y) * 0.0012)
    disc = np.where(np.hypot(x - 300, y - 200) < 90, 0.8, np.where(np.hypot(x - 130, y - 260) < 55, 0.3, 0.55))
    return np.rint(255 * ((plate * disc)[..., None] * (0.9, 0.8, 0.6) + (0, 0.02, 0.04))).astype(np.uint8)


def pictures():
    yield "zone plate", zone_plate()
    for path in sorted((DATA / "stereo").glob("*/left.png")):  # grey: the channels are alike, as nearly they are in most places
        yield path.parent.name, cv2.cvtColor(cv2.imread(str(path), cv2.IMREAD_GRAYSCALE), cv2.COLOR_GRAY2RGB)


def compare_mosaics(folder):
    """Decibels of each way's mean square error, but for two pixels at the edges."""
    for name, truth in pictures():
        height, width = truth.shape[:2]
        mosaic = truth[..., 1].copy()
        mosaic[::2, ::2], mosaic[1::2, 1::2] = truth[::2, ::2, 0], truth[1::2, 1::2, 2]
        mosaic.tofile(folder / "mosaic")
        ask("mosaic", width, height, folder / "mosaic", folder / "rgb")
        ways = {"ours": np.fromfile(folder / "rgb", np.uint8).reshape(truth.shape), "bilinear": cv2.cvtColor(mosaic, cv2.COLOR_BayerBG2RGB),
                "edge-aware": cv2.cvtColor(mosaic, cv2.COLOR_BayerBG2RGB_EA)}
        decibels = {way: 10 * np.log10(255**2 / np.square((got.astype(float) - truth)[2:-2, 2:-2]).mean()) for way, got in ways.items()}
        check(decibels["ours"] >= max(decibels["bilinear"] + 3, decibels["edge-aware"]),
              f"mosaic of {name}: " + ", ".join(f"{way} {value:.2f} dB" for way, value in decibels.items()))


def main():
    print(f"OpenCV {cv2.__version__}")
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for name, stereo in synthetic().items():
            for alpha in (0.0, 0.4, 1.0):
                if name != OBLONG:  # OpenCV before 4.7 scales the wrong axis there (fisheye.cpp, cn[0] *= aspect_ratio)
                    compare_rectification(name, stereo, alpha)
                stereo.rectified = stereo.rectify(alpha)
                compare_maps(f"{name}, alpha {alpha}", stereo, folder)
            compare_remap(name, stereo, folder, rng)
        chessboard(folder)
        compare_mosaics(folder)
    print(f"{failures} differences" if failures else "all equal")
    return 1 if failures else 0


sys.exit(main())
