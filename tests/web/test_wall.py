# SPDX-License-Identifier: Apache-2.0
"""/wall.json beside a real service that sees a rendered wall: the figures of `parallax wall`, what is refused, who waits for whom."""
import http.client
import itertools
import json
import select
import struct
import subprocess
import time
import unittest

from programs import BINARIES, WAIT_S
from web import Web, kill

SILENT = b"no fresh picture for 3 s; see the health of the service"
UNAVAILABLE = 69  # app/exit.h
# A frame is fresh for 3 s, and costs little, so that it is fresh on a slow machine too.
WALL = ("source.scene=wall", "source.rate_hz=1", "source.width=160", "source.height=120", "threads=1", "motion.source=none",
        *(f"{stage}.enabled=false" for stage in ("ground", "stixels", "obstacles", "map")))


def key_paths(value, path=""):
    """The names of all fields of VALUE, those of lists once."""
    if isinstance(value, dict):
        return {each for name, item in value.items() for each in {f"{path}.{name}"} | key_paths(item, f"{path}.{name}")}
    return {each for item in value for each in key_paths(item, f"{path}[]")} if isinstance(value, list) else set()


class Wall(Web):
    def begin(self, *settings):
        self.daemon = self.start_daemon(*WALL, *settings)
        self.start_web()
        self.until(lambda: json.loads(self.get("/status.json")[1])["state"] in ("running", "degraded"))

    def record_pairs(self):
        """The directory of two pairs of the service, which ends."""
        paths = (f"{self.directory}/pairs-{attempt}" for attempt in itertools.count())

        def recorded():  # again while a slow machine has no fresh picture
            path = next(paths)
            done = subprocess.run([BINARIES / "parallax", "record", "--pairs", "2", "--socket", self.socket, path], check=False, capture_output=True)
            return path if done.returncode == 0 else None
        path = self.until(recorded)
        self.end(self.daemon)
        return path

    def measure(self, query):
        """The answer to QUERY, with the rows: asks again while a slow machine has no fresh picture, and until they are measured."""
        def measured():
            status, body, _ = self.get(f"/wall.json?{query}")
            if status == 503 and SILENT in body:
                return None
            self.assertEqual(status, 200, body)
            result = json.loads(body)
            return None if result["rows_px"] is None else result
        return self.until(measured)

    def measure_by_command(self, *words):
        """Likewise, after measure()."""
        def measured():
            done = subprocess.run([BINARIES / "parallax", "wall", "--json", *words, "--socket", self.socket], check=False, capture_output=True)
            return None if done.returncode == UNAVAILABLE else done
        done = self.until(measured)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def refused(self, query, wanted_status):
        status, body, _ = self.get(f"/wall.json?{query}")
        self.assertEqual(status, wanted_status, body)
        return body.decode()

    def ask(self, query):
        """A request whose answer is not awaited."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        self.addCleanup(connection.close)
        connection.request("GET", f"/wall.json?{query}")
        return connection

    def start_measuring(self, viewer, frames):
        """A request for 300 frames that has measured more than FRAMES of them, and VIEWER's news of it."""
        request, deadline = self.ask("frames=300"), time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            if select.select([request.sock], [], [], 0)[0]:  # answered already: a slow machine has no fresh picture
                self.assertIn(SILENT, request.getresponse().read())
                request = self.ask("frames=300")
            message = viewer.recv()
            if isinstance(message, bytes):
                if message[0] != ord("{"):
                    self.acknowledge(viewer, message)
            elif json.loads(message).get("wall", {}).get("measured", 0) > frames:
                return request, json.loads(message)["wall"]
        self.fail("nothing is measured")

    def refuse_bad_numbers(self):
        for name, values in (("frames", ("0", "301", "2.5", "many", "")), ("distance", ("0", "-3", "1001", "nan", "0x3", "3,0", "%zz", "", "3%20m"))):
            for value in values:
                self.assertRegex(self.refused(f"{name}={value}", 400), f"^{name}: \".*\"; expected .*[0-9]\n$")

    def test_the_figures_are_those_of_the_command_and_bad_numbers_are_refused(self):
        self.daemon = self.start_daemon(*WALL)
        self.begin("source.type=replay", f"source.path={self.record_pairs()}", "source.loop=true", "source.replay_rate=fixed")
        self.assertEqual(self.get("/wall.png")[0], 404)

        def results():
            page = self.measure("frames=2&distance=3.00")
            command = self.measure_by_command("--frames", "2", "--distance", "3.00")
            both_pairs = all(result["parts"][0]["temporal_px"] > 0 for result in (page, command))  # a slow machine may skip one of them
            return (page, command) if both_pairs else None
        page, command = self.until(results)
        _, png, headers = self.get("/wall.png")
        self.assertEqual(key_paths(page), key_paths(command))
        for name in ("verdict", "not_measured", "advice", "source", "frames", "tape_m"):
            self.assertEqual(page[name], command[name])
        self.assertEqual((page["verdict"], page["not_measured"], page["advice"], page["frames"]), ("good", [], None, 2))
        self.assertAlmostEqual(page["distance_m"], 3.0, delta=0.03)
        for mine, other in zip(page["parts"], command["parts"], strict=True):
            self.assertEqual(mine["name"], other["name"])
            for name, delta in (("bias_px", 0.01), ("fill", 0.01), ("noise_px", 0.01), ("temporal_px", 0.01), ("covered", 0.02)):
                self.assertAlmostEqual(mine[name], other[name], delta=delta, msg=f"{mine['name']} {name}")
        self.assertEqual((headers["Content-Type"], png[:8], struct.unpack(">II", png[16:24])), ("image/png", b"\x89PNG\r\n\x1a\n", (160, 120)))
        self.refuse_bad_numbers()
        without = self.measure("frames=1")
        self.assertEqual((without["tape_m"], without["parts"][0]["bias_px"], without["verdict"], without["not_measured"]),
                         (None, None, "unproven", ["bias"]))

    def test_one_measures_while_others_look(self):
        self.begin()
        viewer, first = self.viewer("left"), None

        def refusal():
            nonlocal first
            first, progress = self.start_measuring(viewer, 1)
            self.assertEqual(progress["frames"], 300)
            status, body, _ = self.get("/wall.json?frames=1")
            return body if status == 429 else None
        self.assertEqual(self.until(refusal), b"another viewer measures; try again when that is done\n")
        sequences = [self.frame(viewer)[0]["status"]["sequence"] for _ in range(3)]
        self.assertEqual(sequences, sorted(set(sequences)))
        first.close()  # its visitor goes away: there is place for the next one before 300 frames have come, as those take 5 minutes
        self.until(lambda: self.get("/wall.json?frames=1")[0] == 200)
        self.until(lambda: "wall" not in self.answer(viewer, lambda message: "service" in message))

    def test_what_cannot_be_measured_is_said(self):
        self.start_web()
        self.assertEqual(self.refused("frames=1", 503), "the service is not running; start parallaxd\n")
        self.daemon = self.start_daemon(*WALL, "calibration=none")
        self.until(lambda: json.loads(self.get("/status.json")[1])["state"] in ("running", "degraded"))
        self.until(lambda: "no calibration" in self.refused("frames=1", 503))

    def test_it_ends_where_no_frames_come(self):
        self.begin()
        viewer, begin = self.viewer("left"), time.monotonic()
        request, _ = self.start_measuring(viewer, 0)
        kill(self.daemon)
        answer = request.getresponse()
        self.assertGreater(time.monotonic() - begin, 3)
        self.assertEqual((answer.status, answer.read()), (503, SILENT + b"\n"))


if __name__ == "__main__":
    unittest.main()
