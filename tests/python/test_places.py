#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Things with known places, seen by pitched and rolled cameras: Python's records and arrays and the command's JSON say where they are."""
import json
import subprocess
import unittest

import service
from programs import BINARIES

import numpy
import parallax_stereo

ERROR, ERROR_M = 0.025, 0.03  # of the distance, and metres


class Places(service.Service):
    def open(self, pitch, roll):
        """The truth of each thing: x, y, z of its middle and its nearest distance along the view."""
        self.peer = self.start("places_peer", self.socket, str(pitch), str(roll), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True, bufsize=1)
        numbers = list(map(float, self._answer().split()))
        self.assertEqual(len(numbers), 8, "places_peer has no frame")
        return [numbers[:4], numbers[4:]]

    def near(self, got, truth, distance, what):
        self.assertLessEqual(abs(got - truth), ERROR * distance + ERROR_M, f"{what}: {got:.3f} m, truly {truth:.3f}")

    def check_boxes(self, outlet, boxes, truth):
        """BOXES: position_m and nearest_m of each obstacle."""
        for x, y, z, nearest in truth:
            (bx, by, bz), bnear = min(boxes, key=lambda box: numpy.linalg.norm(numpy.subtract(box[0], (x, y, z))))
            self.near(bx, x, z, f"{outlet}, x")
            self.near(bnear, nearest, z, f"{outlet}, nearest_m")
            self.assertLess(abs(by - y) + abs(bz - z), 0.6, outlet)

    def read(self, look):
        client = self.connect()
        while True:
            try:
                with client.next(timeout=service.WAIT_S) as frame:
                    found = look(frame)
                return found
            except parallax_stereo.Overwritten:
                continue

    def check_pixels(self, truth):
        """What the arrays say of the pixels in the middle of each face."""
        def look(frame):
            camera = frame.calibration
            found = []
            for x, y, z, _ in truth:
                column, row = round(camera.fx * x / z + camera.cx), round(camera.fy * y / z + camera.cy)
                window = slice(row - 3, row + 4), slice(column - 3, column + 4)
                found.append((numpy.nanmedian(frame.points()[window], axis=(0, 1)), numpy.nanmedian(frame.depth()[window])))
            return found
        for (point, depth), (x, y, z, _) in zip(self.read(look), truth):
            for got, true in zip((*point, depth), (x, y, z, z)):
                self.near(got, true, z, "points and depth")

    def check_all(self, pitch, roll):
        truth = self.open(pitch, roll)
        self.check_boxes("Python", self.read(lambda frame: [(each.position_m, each.nearest_m) for each in frame.obstacles]), truth)
        rows = self.read(lambda frame: frame.obstacle_array.copy())
        self.check_boxes("obstacle_array", list(zip(rows["position_m"], rows["nearest_m"])), truth)
        self.check_pixels(truth)
        text = subprocess.run([BINARIES / "parallax", "status", "--json", "--socket", self.socket], check=True, timeout=service.WAIT_S,
                              capture_output=True, text=True).stdout
        obstacles = json.loads(text)["obstacles"]
        self.check_boxes("JSON", [(each["position_m"], each["nearest_m"]) for each in obstacles], truth)
        self.end_peer()

    def test_level(self):
        self.check_all(0, 0)

    def test_looking_down(self):
        self.check_all(6, 0)

    def test_looking_far_down(self):
        self.check_all(20, 0)

    def test_turned(self):
        self.check_all(6, -5)

    def test_turned_and_looking_far_down(self):
        self.check_all(20, 5)


if __name__ == "__main__":
    unittest.main()
