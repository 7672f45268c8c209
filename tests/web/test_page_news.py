# SPDX-License-Identifier: Apache-2.0
"""What the page says of now, and that it says unknown or stop, never go, when news end: verdict, faults, silence."""
import os
import pathlib
import re
import signal
import time
import unittest

import numpy

from page import By, Page
from web import SCREENSHOTS, kill

UNKNOWN = {"verdict": "UNKNOWN no connection", "state": "no connection", "figures": "unknown", "faults": "unknown", "obstacles": "unknown",
           "drop": "drops: unknown", "values": ["unknown"], "vivid": 0}


class News(Page):
    def test_the_map_zones_and_the_verdict_are_shown(self):
        mount = "mount.z_m=1", "mount.pitch_deg=5.73", "mount.roll_deg=0.86"  # of the demonstration scene; its nearest box stands about 3.2 m ahead
        slow_machine = "verdict.reaction_ms=1500", "verdict.stop_flags=frozen,late,no_frames", "verdict.slow_flags="
        near = "{name: near, polygon: [[1.7, -0.4], [2.7, -0.4], [2.7, 0.4], [1.7, 0.4]]}"
        far = "{name: far, polygon: [[1.7, -0.5], [4.8, -0.5], [4.8, 0.5], [1.7, 0.5]], max_unknown: 0.6}"
        self.open(*mount, *slow_machine, f"zones=[{near}]")
        self.until(lambda: self.text("verdict") == "GO")
        kill(self.web)
        self.until(lambda: self.text("verdict") == "UNKNOWN no connection")  # never the last word
        kill(self.daemon)
        self.open(*mount, *slow_machine, f"zones=[{near}, {far}]")
        self.until(lambda: re.fullmatch(r"STOP .*occupied.*, zone far, nearest [23]\.\d\d m", self.text("verdict")))
        self.browser.save_screenshot(str(SCREENSHOTS / "map.png"))
        kill(self.daemon)
        self.open(*mount)
        self.assertFalse(self.browser.find_element(By.ID, "verdict").is_displayed())

    def test_faults_come_with_advice(self):
        self.open("calibration=none")
        self.until(lambda: "not calibrated" in self.text("faults"))
        self.assertIn("parallax calibrate", self.text("faults"))
        collector = self.collect()
        self.wait_frames(2)
        sequence, pixels = self.pixels("#picture .image")
        frame = self.until(lambda: collector.frames.get(sequence))
        numpy.testing.assert_array_equal(pixels[:, :, 0], frame.left)

    def test_it_says_what_is_gone_and_comes_back(self):
        self.open()
        kill(self.daemon)
        self.until(lambda: self.text("state") == "stopped")
        self.assertIn("waits for it", self.text("sentence"))
        self.until(lambda: "old" in self.browser.find_element(By.ID, "picture").get_attribute("class"))
        self.daemon = self.start_daemon()
        self.wait_frames(3)
        self.until(lambda: self.text("state") in ("running", "degraded"))
        port = self.port
        kill(self.web)
        self.until(lambda: self.text("state") == "no connection")
        self.start_web(port=port)
        self.wait_frames(3)
        self.assertNotIn("old", self.browser.find_element(By.ID, "picture").get_attribute("class"))

    def open_with_go(self):
        self.open("mount.z_m=1", "mount.pitch_deg=5.73", "mount.roll_deg=0.86", "verdict.reaction_ms=1500", "verdict.stop_flags=frozen,late,no_frames",
                  "verdict.slow_flags=", "zones=[{name: near, polygon: [[1.7, -0.4], [2.7, -0.4], [2.7, 0.4], [1.7, 0.4]]}]")
        self.wait_go()

    def wait_go(self):
        self.until(lambda: self.text("verdict") == "GO" and not self.run_script("return parallax.isOld"))

    def test_silence_is_unknown_everywhere(self):
        """The server stands still, as a robot out of reach of its WLAN: no socket is closed."""
        self.open_with_go()
        self.until(lambda: "#" in self.text("obstacles"))
        os.kill(self.web.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, self.web.pid, signal.SIGCONT)
        begin = time.monotonic()
        self.until(lambda: self.probe("readNews") == UNKNOWN)
        self.assertLess(time.monotonic() - begin, 10)  # 1 s, on a busy machine
        silent_ms = self.probe("sinceNewsMs")
        self.until(lambda: self.probe("sinceNewsMs") < silent_ms)  # it gives the connection up
        self.assertEqual(self.probe("readNews"), UNKNOWN)
        os.kill(self.web.pid, signal.SIGCONT)
        self.wait_go()

    def test_a_page_that_has_heard_nothing_yet_says_unknown(self):
        """Figures come once a second: the server stands still before the first ones."""
        self.open()
        self.browser.refresh()
        os.kill(self.web.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, self.web.pid, signal.SIGCONT)
        self.until(lambda: self.text("state") == "no connection")
        self.assertEqual(self.probe("readNews"), UNKNOWN | {"verdict": "unknown no connection"})

    def test_a_service_that_stands_still_is_not_go(self):
        """Messages go on, and their frame is old."""
        self.open_with_go()
        group = [self.daemon.pid, *(int(each) for each in pathlib.Path(f"/proc/{self.daemon.pid}/task/{self.daemon.pid}/children").read_text().split())]
        for pid in group:
            os.kill(pid, signal.SIGSTOP)
            self.addCleanup(os.kill, pid, signal.SIGCONT)
        self.until(lambda: self.text("verdict") != "GO" and self.text("state") != "running")
        said = self.probe("readNews")
        self.assertEqual(said["vivid"], 0)
        self.assertEqual([said["obstacles"], said["drop"]], ["unknown", "drops: unknown"])

    def test_a_hidden_tab_wakes_up_without_old_news(self):
        self.open_with_go()
        self.assertEqual(self.probe("hideTab", True), UNKNOWN)
        self.probe("hideTab", False)
        self.wait_go()
        for tick, wall in ((5000, 0), (0, 5000), (0, -5000)):  # no news; asleep while one clock stood still; the other one was set
            self.assertGreaterEqual(self.probe("sinceMs", tick, wall), 4999)
        self.assertIsNone(self.run_script("return Number.isFinite(parallax.link.sinceMs(null)) || null"))  # nothing was answered yet


if __name__ == "__main__":
    unittest.main()
