# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/obstacles.md: parallax snapshot of the street after 13 s. They are left in build/screenshots only if their frame is
healthy and has one record for each object."""
import pathlib
import shutil
import subprocess
import time
import unittest

import numpy
import parallax_stereo

from programs import BINARIES, WAIT_S
from web import SCREENSHOTS, Web, joined_or_missing, true_objects

RATE_HZ = 6
BEGIN_S, END_S = 13, 16  # of the drive; the camera comes by once a minute
FARTHEST_M = 16


def read_pfm(path):
    kind, size, scale, data = path.read_bytes().split(b"\n", 3)
    assert kind == b"Pf" and float(scale) < 0  # one channel, little endian
    width, height = map(int, size.split())
    return numpy.frombuffer(data, "<f4").reshape(height, width)[::-1]


class Pictures(Web):
    def why_unhealthy(self, frame):
        wrong = []
        if (frame.state, frame.health, frame.source) != (parallax_stereo.State.RUNNING, 0, parallax_stereo.Source.SYNTHETIC):
            wrong.append(f"{frame.state}, {frame.health}, {frame.source}")
        records = [(each.position_m, each.extent_m, (each.x, each.y, each.width, each.height)) for each in frame.obstacles]
        return wrong + joined_or_missing(records, true_objects("street", frame, RATE_HZ), FARTHEST_M)

    def snapshot(self, collector):
        """Pictures of the newest frame, and the frame; none if it is not that time of the drive."""
        directory = pathlib.Path(self.directory, "snapshot")
        shutil.rmtree(directory, ignore_errors=True)
        command = [BINARIES / "parallax", "snapshot", "--socket", self.socket, "--output", directory]
        if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
            return None, None  # no fresh frame
        disparity = read_pfm(directory / "disparity.pfm")
        for frame in list(collector.frames.values()):
            time_s = frame.capture[0].sequence / RATE_HZ % 60
            if BEGIN_S <= time_s < END_S and numpy.array_equal(disparity, numpy.where(frame.disparity == 0xFFFF, numpy.inf, frame.disparity / 16)):
                return directory, frame
        return None, None

    def test_pictures_of_the_documentation_show_a_healthy_frame(self):
        self.start_daemon("source.scene=street", "source.width=480", "source.height=360", f"source.rate_hz={RATE_HZ}", "colour.enabled=true")
        collector, wrong, deadline = self.collect(), "no snapshot", time.monotonic() + WAIT_S
        while True:
            directory, frame = self.snapshot(collector)
            if frame and not (wrong := self.why_unhealthy(frame)):
                break
            self.assertLess(time.monotonic(), deadline, wrong)
            time.sleep(0.2)
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        for name in ("disparity.png", "obstacles.png", "columns.png"):
            shutil.copy(directory / name, SCREENSHOTS / name)


if __name__ == "__main__":
    unittest.main()
