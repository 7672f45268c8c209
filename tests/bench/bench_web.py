#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the live page costs and shows, beside a service at 640 x 480 and 30 Hz on this machine:
    PLX_BINARY_DIR=build/release PYTHONPATH=client/python:tests/python:tests/web PARALLAX_LIBRARY=build/release/lib/libparallax.so \\
        build/python/bin/python tests/bench/bench_web.py
The service works little (4 paths, no motion), so that two cores are enough for it and for Chromium."""
import json
import os
import statistics
import threading
import time
import unittest

import parallax_stereo
import websocket
from page import Page
from web import unpack

SECONDS = 15
LIGHT = ("match=classic", "match.paths=4", "match.disparities=64", "motion.source=none", "source.width=640", "source.height=480",
         "source.rate_hz=30")
AGES = "const ages = [...parallax.ages].sort((a, b) => a - b); return [ages.length, ages[ages.length >> 1], ages[Math.floor(ages.length * 0.95)]];"


def cpu_s(process):
    with open(f"/proc/{process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Reader(threading.Thread):
    """A viewer that reads and acknowledges as a page does."""

    def __init__(self, test, planes, compact=False):
        super().__init__(daemon=True)
        self.client, self.bytes, self.frames, self.ended = test.viewer(*planes, compact=compact), 0, 0, False

    def run(self):
        while not self.ended:
            try:
                message = self.client.recv()
            except websocket.WebSocketException:  # parallax-web ends before this thread
                return
            self.bytes += len(message)
            if isinstance(message, bytes):
                self.frames += 1
                self.client.send(json.dumps({"ack": unpack(message)[0]["status"]["sequence"]}))


class Bench(Page):
    def latencies(self, seconds):
        """Of the service itself, ms, median and 95th percentile."""
        values, deadline = [], time.monotonic() + seconds
        with parallax_stereo.Client(self.socket) as client:
            while time.monotonic() < deadline:
                frame = client.read(timeout=5.0)
                values.append((frame.published_ns - frame.capture[0].capture_ns) / 1e6)
        values.sort()
        return statistics.median(values), values[int(len(values) * 0.95)]

    def test_page(self):
        self.open(*LIGHT)
        for key, view in zip("23456", ("picture", "depth", "top", "cloud", "cameras")):
            self.press(key)
            time.sleep(2)
            self.run_script("parallax.ages = []")
            before, begun = cpu_s(self.web), time.monotonic()
            time.sleep(SECONDS)
            count, median, late = self.run_script(AGES)
            took = time.monotonic() - begun
            service = self.run_script("return parallax.frame.status.rate_hz")
            print(f"{view:8} {count / took:5.1f} frames/s of {service:4.1f}, shown {median:5.1f} ms after publication (p95 {late:5.1f}); "
                  f"parallax-web {100 * (cpu_s(self.web) - before) / took:4.1f} % of a core", flush=True)

    def test_viewers(self):
        self.start_daemon(*LIGHT)
        web = self.start_web()
        self.until(lambda: os.path.exists(self.socket))
        time.sleep(3)
        print("service alone        latency %.1f ms (p95 %.1f)" % self.latencies(SECONDS), flush=True)
        readers = [Reader(self, ["left", "disparity"]) for _ in range(16)]
        deaf = self.viewer("left", "disparity")
        for reader in readers:
            reader.start()
        before = cpu_s(web)
        print("16 viewers, 1 deaf   latency %.1f ms (p95 %.1f)" % self.latencies(SECONDS), flush=True)
        print(f"    {sum(reader.frames for reader in readers) / 16 / SECONDS:.1f} frames/s each, parallax-web "
              f"{100 * (cpu_s(web) - before) / SECONDS / 16:.2f} % of a core for each", flush=True)
        for reader in readers:
            reader.ended = True
        deaf.close()

    def test_wifi(self):
        self.start_daemon(*LIGHT)
        web = self.start_web()
        reader = Reader(self, ["left", "disparity", "scan", "histogram"], compact=True)
        reader.start()
        time.sleep(3)
        frames, received, before = reader.frames, reader.bytes, cpu_s(web)
        time.sleep(SECONDS)
        print(f"Wi-Fi    {(reader.frames - frames) / SECONDS:.1f} frames/s, {(reader.bytes - received) / SECONDS / 1e6:.2f} MB/s, "
              f"parallax-web {100 * (cpu_s(web) - before) / SECONDS:.1f} % of a core", flush=True)
        reader.ended = True


if __name__ == "__main__":
    unittest.main(argv=["bench_web", "Bench.test_page", "Bench.test_viewers", "Bench.test_wifi"])
