# SPDX-License-Identifier: Apache-2.0
"""The pictures of README.md and docs/web.md, left in build/screenshots only if they show a healthy page."""
import contextlib
import os
import re
import signal
import time
import unittest

from page import Page
from programs import WAIT_S
from web import OtherPrograms, SCREENSHOTS, joined_or_missing, true_objects


class PagePictures(Page):
    def why_unhealthy(self, collector, rate_hz):
        """What is wrong with the page as it is now; empty if it is healthy."""
        read, wrong = self.probe("readPage"), []
        figures = re.fullmatch(r"([\d.]+) pairs/s · shown ([\d.]+)/s, (\d+) ms old", read["figures"])
        if not figures:
            return [read["figures"]]
        service, shown, age = (float(each) for each in figures.groups())
        wrong += [f"{name}: {value} pairs/s" for name, value in (("service", service), ("page", shown)) if value < 5]
        wrong += [f"{value} ms old" for value in (age, read["age"]) if not 0 <= value <= 300]
        if (read["state"], read["faults"], read["pale"]) != ("running", "no faults", 0):
            wrong.append(f"{read['state']}: {read['faults']}, {read['pale']} pale views")
        if "simulated" not in read["sentence"]:
            wrong.append(f"sentence: {read['sentence']}")
        frame = collector.frames.get(read["shown"])
        if read["frame"] != read["shown"] or not frame:
            return [*wrong, "the frame is not the one that is drawn"]
        objects = true_objects("demo", frame, rate_hz)
        wrong += joined_or_missing([(each["position_m"], each["extent_m"], each["box_px"]) for each in read["obstacles"]], objects)
        if read["listed"] != len(read["obstacles"]):
            wrong.append("the list does not show the frame")
        return wrong

    @contextlib.contextmanager
    def frozen(self):
        """The page gets no message and its clock stands still: it stays as it is, so that what is judged is what is photographed."""
        os.kill(self.web.pid, signal.SIGSTOP)
        self.probe("stopClock")
        try:
            state = None
            while state != (state := self.probe("readPage")):
                time.sleep(0.1)  # messages on their way are drawn
            yield
        finally:
            self.probe("startClock")
            os.kill(self.web.pid, signal.SIGCONT)

    def photograph(self, name, collector, rate_hz):
        """Takes the picture of a healthy page; fails if there is none in time. How fast it is cannot be judged while other programs
        keep the machine busy."""
        wrong, deadline, others = None, time.monotonic() + WAIT_S, OtherPrograms()
        while True:
            if not (wrong := self.why_unhealthy(collector, rate_hz)):
                with self.frozen():
                    if not (wrong := self.why_unhealthy(collector, rate_hz)):
                        picture = self.browser.get_screenshot_as_png()
                        if not (wrong := self.why_unhealthy(collector, rate_hz)):
                            (SCREENSHOTS / name).write_bytes(picture)
                            return
            if time.monotonic() > deadline and (share := others.share()) > 0.2:
                print(f"skipped in part: other programs use {100 * share:.0f} % of the processors: no picture ({name}); ./dev test -R web/test_page_pictures")
                return
            self.assertLess(time.monotonic(), deadline, wrong)
            time.sleep(0.2)

    def test_pictures_of_the_documentation_show_a_healthy_page(self):
        rate_hz = 8
        self.open("source.width=640", "source.height=480", f"source.rate_hz={rate_hz}", "colour.enabled=true")
        collector = self.collect()
        bottom = self.run_script("return document.getElementById('views').getBoundingClientRect().bottom - innerHeight")
        size = self.browser.get_window_size()
        self.browser.set_window_size(size["width"], size["height"] + round(bottom) + 10)
        self.addCleanup(self.browser.set_window_size, size["width"], size["height"])
        self.wait_full_charts()
        self.photograph("web.png", collector, rate_hz)
        self.press("d")
        self.photograph("web-dark.png", collector, rate_hz)
        self.assertEqual(self.console(), [])


if __name__ == "__main__":
    unittest.main()
