# SPDX-License-Identifier: Apache-2.0
"""Fixture of the Python package's tests: a real parallaxd on the synthetic scene, and ring_peer, whose frames a test commands."""
import select
import subprocess
import sys
import time

from programs import SKIPPED, WAIT_S, Programs, setting_options

try:
    import numpy  # noqa: F401
except ImportError:
    print("skipped: no NumPy")
    sys.exit(SKIPPED)

import parallax_stereo  # noqa: E402


class Service(Programs):
    def start_daemon(self, *settings):
        settings = [f"publish.socket={self.socket}", "backend=cpu", "blackbox.directory=", "calibration_history=", "source.height=240", "source.rate_hz=20",
                    "match.disparities=64", "match.paths=4", *settings]
        log = open(f"{self.directory}/log", "a")
        self.addCleanup(log.close)
        return self.start("parallaxd", *setting_options(settings), stdout=log, stderr=log)

    def connect(self):
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                client = parallax_stereo.Client(self.socket)
                self.addCleanup(client.close)
                return client
            except parallax_stereo.Error:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def start_peer(self, epoch, slots=4):
        """A service whose frames come by ask("go FRAMES PERIOD_US") and ask("wait")."""
        self.peer = self.start("ring_peer", "service", self.socket, str(epoch), str(slots), "4", stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, bufsize=1)
        self.assertEqual(self._answer(), "ready\n")

    def _answer(self):
        """The peer's next line; it prints one at a time, so that nothing is left in the buffer."""
        self.assertTrue(select.select([self.peer.stdout], [], [], WAIT_S)[0], "ring_peer says nothing")
        return self.peer.stdout.readline()

    def ask(self, command):
        self.peer.stdin.write(f"{command}\n")
        return int(self._answer())

    def publish(self, frames=1):
        self.ask(f"go {frames} 0")
        self.ask("wait")

    def end_peer(self):
        self.peer.stdin.close()
        self.assertEqual(self.peer.wait(WAIT_S), 0)


def pattern(sequence, words):
    """What ring_peer writes into frame SEQUENCE."""
    return numpy.arange(words, dtype=numpy.uint64) + numpy.uint64(sequence * 0x9E3779B97F4A7C15 % 2**64)


def words_of(plane):
    return plane.reshape(-1).view(numpy.uint64)


def mappings():
    """How many mappings of services this process has."""
    with open("/proc/self/maps") as maps:
        return sum("memfd:" in line for line in maps)
