# SPDX-License-Identifier: Apache-2.0
"""/wall.json beside a real service that sees a rendered wall: the figures of `parallax wall`, what is refused, who waits for whom."""
import http.client
import json
import struct
import subprocess
import threading
import time
import unittest

from programs import BINARIES, WAIT_S
from web import Web, kill

WALL = "source.scene=wall", "source.width=640", "source.height=480", "source.rate_hz=10"


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

    def measure(self, query):
        status, body, _ = self.get(f"/wall.json?{query}")
        self.assertEqual(status, 200, body)
        return json.loads(body)

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

    def refuse_bad_numbers(self):
        for name, values in (("frames", ("0", "301", "2.5", "many", "")), ("distance", ("0", "-3", "1001", "nan", "0x3", "3,0", "%zz", "", "3%20m"))):
            for value in values:
                self.assertRegex(self.refused(f"{name}={value}", 400), f"^{name}: \".*\"; expected .*[0-9]\n$")

    def test_the_figures_are_those_of_the_command_and_bad_numbers_are_refused(self):
        self.begin()
        self.assertEqual(self.get("/wall.png")[0], 404)
        page = self.measure("frames=6&distance=3.00")
        _, png, headers = self.get("/wall.png")
        command = json.loads(subprocess.run([BINARIES / "parallax", "wall", "--json", "--frames", "6", "--distance", "3.00", "--socket", self.socket],
                                            check=True, capture_output=True).stdout)
        self.assertEqual(key_paths(page), key_paths(command))
        for name in ("verdict", "advice", "source", "frames", "tape_m"):
            self.assertEqual(page[name], command[name])
        self.assertEqual((page["verdict"], page["advice"], page["frames"]), ("good", None, 6))
        self.assertAlmostEqual(page["distance_m"], 3.0, delta=0.03)
        for mine, other in zip(page["parts"], command["parts"], strict=True):
            self.assertEqual(mine["name"], other["name"])
            for name, delta in (("bias_px", 0.03), ("fill", 0.02), ("noise_px", 0.03), ("temporal_px", 0.03), ("covered", 0.1)):
                self.assertAlmostEqual(mine[name], other[name], delta=delta, msg=f"{mine['name']} {name}")
        self.assertEqual((headers["Content-Type"], png[:8], struct.unpack(">II", png[16:24])), ("image/png", b"\x89PNG\r\n\x1a\n", (640, 480)))
        self.refuse_bad_numbers()
        without = self.measure("frames=1")
        self.assertEqual((without["tape_m"], without["parts"][0]["bias_px"], without["verdict"]), (None, None, "unproven"))

    def test_one_measures_while_others_look(self):
        self.begin()
        viewer, first = self.viewer("left"), self.ask("frames=300")
        progress = self.answer(viewer, lambda message: message.get("wall", {}).get("measured", 0) > 1)["wall"]
        self.assertEqual(progress["frames"], 300)
        self.assertEqual(self.refused("frames=1", 429), "another viewer measures; try again when that is done\n")
        sequences = [self.frame(viewer)[0]["status"]["sequence"] for _ in range(3)]
        self.assertEqual(sequences, sorted(set(sequences)))
        first.close()  # its visitor goes away: at once there is place for the next one
        self.until(lambda: self.get("/wall.json?frames=1")[0] == 200, seconds=20)
        self.until(lambda: "wall" not in self.answer(viewer, lambda message: "service" in message))

    def test_what_cannot_be_measured_is_said(self):
        self.start_web()
        self.assertEqual(self.refused("frames=1", 503), "the service is not running; start parallaxd\n")
        self.daemon = self.start_daemon(*WALL, "calibration=none")
        self.until(lambda: json.loads(self.get("/status.json")[1])["state"] in ("running", "degraded"))
        self.assertIn("no calibration", self.refused("frames=1", 503))

    def test_it_ends_where_no_frames_come(self):
        self.begin()
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(self.get("/wall.json?frames=300")), daemon=True)
        waiting.start()
        self.answer(self.viewer("left"), lambda message: message.get("wall", {}).get("measured", 0) > 0)
        kill(self.daemon)
        begin = time.monotonic()
        waiting.join(WAIT_S)
        self.assertGreater(time.monotonic() - begin, 1)
        self.assertEqual((answers[0][0], answers[0][1]), (503, b"no fresh picture for 3 s; see the health of the service\n"))


if __name__ == "__main__":
    unittest.main()
