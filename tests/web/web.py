# SPDX-License-Identifier: Apache-2.0
"""Fixture of the tests of parallax-web: it, a real parallaxd on the synthetic scene, and clients of its socket."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import socketserver
import struct
import subprocess
import sys
import threading
import time

from programs import BINARIES, SKIPPED, WAIT_S, Programs, setting_options

try:
    import numpy.testing  # here: imports by several threads at once fail at times (CPython issue 106176)
    import parallax_stereo
    import websocket
except ImportError as missing:
    print(f"skipped: {missing}; ./dev setup --all installs it")
    sys.exit(SKIPPED)

SCREENSHOTS = BINARIES.parent.parent / "screenshots"
FORMS = {"u8": numpy.uint8, "rgb8": numpy.uint8, "u16": numpy.uint16, "u32": numpy.uint32}


def unpack(message):
    """A frame of the socket (app/web/packet.h): its header, and its planes as they are sent."""
    length, = struct.unpack_from("<I", message)
    header = json.loads(message[4:4 + length])
    base = 4 + length + 7 & ~7
    planes = {}
    for plane in header["planes"]:
        data = message[base + plane["offset"]:base + plane["offset"] + plane["bytes"]]
        planes[plane["name"]] = numpy.frombuffer(data, FORMS[plane["form"]]) if plane["form"] in FORMS else data
    return header, planes


def true_objects(scene, frame, rate_hz):
    """The objects of the synthetic SCENE in FRAME."""
    words = [scene, str(frame.width), str(frame.height), str(frame.capture[0].sequence / rate_hz)]
    return json.loads(subprocess.run([BINARIES / "scene_probe", *words], check=True, capture_output=True).stdout)


def joined_or_missing(records, objects, farthest_m=1e9):
    """What is wrong with RECORDS, each (middle, extent, box in the picture): one that joins objects, or an object in full view that has not
    exactly one. A record contains an object if both of its boxes contain the middle of the object's front: the one in space alone would
    contain what stands beside a long wall that runs aslant."""
    margins = 0.1, 0.1, 0.4  # metres: the noise of depth, and the back, which is not seen

    def contains(record, thing):
        middle, extent, (x, y, width, height) = record
        thing_x, thing_y, thing_width, thing_height = thing["box_px"]
        return (x <= thing_x + thing_width / 2 <= x + width and y <= thing_y + thing_height / 2 <= y + height and
                all(abs(thing["position_m"][axis] - middle[axis]) < extent[axis] / 2 + margins[axis] for axis in range(3)))

    found = [[thing["index"] for thing in objects if contains(record, thing)] for record in records]
    wrong = [f"record {i} joins the objects {things}" for i, things in enumerate(found) if len(things) > 1]
    for thing in objects:
        count = sum(thing["index"] in things for things in found)
        if thing["visible"] > 0.9 and thing["position_m"][2] < farthest_m and count != 1:
            wrong.append(f"{count} records for object {thing['index']}")
    return wrong


class OtherPrograms:
    """How busy programs other than this test and what it has started keep the processors."""

    def __init__(self):
        self.begin = self.ticks()

    @staticmethod
    def ticks():
        """Since the start of the machine: of all programs but ours, and what there was to have."""
        values = [int(each) for each in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        everything, idle = sum(values), values[3] + values[4]
        parents, used = {}, {}
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rsplit(")", 1)[1].split()
            except (OSError, IndexError):  # it has ended
                continue
            pid = int(path.parent.name)
            parents[pid] = int(fields[1])
            used[pid] = sum(int(each) for each in fields[11:15])

        def is_ours(pid):
            while pid not in (0, 1, os.getpid()):
                pid = parents.get(pid, 0)
            return pid == os.getpid()
        ours = sum(ticks for pid, ticks in used.items() if is_ours(pid))
        return everything - idle - ours, everything

    def share(self):
        """Of the processors' time since this object was made."""
        others, everything = (now - then for now, then in zip(self.ticks(), self.begin))
        return max(others, 0) / max(everything, 1)


class Collector(threading.Thread):
    """Copies of the newest frames, by their sequence: what a page is compared with."""

    def __init__(self, socket):
        super().__init__(daemon=True)
        self.socket, self.frames, self.ended = socket, {}, False

    def run(self):
        with parallax_stereo.Client(self.socket) as client:
            while not self.ended:
                try:
                    frame = client.read(timeout=1.0)
                except (TimeoutError, ConnectionError, parallax_stereo.Overwritten):
                    continue
                self.frames[frame.sequence] = frame
                for old in [sequence for sequence in self.frames if sequence < frame.sequence - 200]:
                    del self.frames[old]


class Prefix(socketserver.ThreadingTCPServer):
    """A reverse proxy that serves PORT of this machine below /robot/, and nothing else."""
    daemon_threads = True

    def __init__(self, port):
        super().__init__(("127.0.0.1", 0), PrefixHandler)
        self.port = port
        threading.Thread(target=self.serve_forever, daemon=True).start()


class PrefixHandler(socketserver.StreamRequestHandler):
    def handle(self):
        method, _, rest = self.rfile.readline().partition(b" ")
        if not rest.startswith(b"/robot/"):
            self.wfile.write(b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            return
        with socket.create_connection(("127.0.0.1", self.server.port)) as service, contextlib.suppress(OSError):  # either side may go
            service.sendall(method + b" " + rest.removeprefix(b"/robot"))
            threading.Thread(target=self.pass_requests, args=(service,), daemon=True).start()
            while chunk := service.recv(65536):
                self.wfile.write(chunk)

    def pass_requests(self, service):
        with contextlib.suppress(OSError, ValueError):  # the same; closed here
            while chunk := self.rfile.read1(65536):
                service.sendall(chunk)


class Web(Programs):
    def setUp(self):
        super().setUp()
        self.settings = [f"publish.socket={self.socket}", f"blackbox.directory={self.directory}/blackbox", "calibration_history=",
                         f"recorder.directory={self.directory}/recordings", f"recorder.socket={self.directory}/r"]
        os.mkdir(f"{self.directory}/recordings")

    def start_service(self, program, *settings, **options):
        return self.start(program, *setting_options([*self.settings, *settings]), **options)

    def start_daemon(self, *settings):
        return self.start_service("parallaxd", "backend=cpu", "publish.right=true", "match.disparities=64", "match.paths=4",
                                  "source.width=320", "source.height=240", "source.rate_hz=20", *settings, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)

    def start_web(self, *settings, port=0):
        log = f"{self.directory}/web.log"
        with open(log, "w") as out:
            process = self.start_service("parallax-web", f"web.listen=127.0.0.1:{port}", *settings, stderr=out)
        self.until(lambda: "page is at" in pathlib.Path(log).read_text() or process.poll() is not None)
        self.assertIsNone(process.poll(), pathlib.Path(log).read_text())
        self.port = int(re.search(r"127\.0\.0\.1:(\d+)", pathlib.Path(log).read_text())[1])
        return process

    def until(self, is_so, seconds=WAIT_S):
        """Waits until IS_SO() is true, and returns what it gave."""
        deadline = time.monotonic() + seconds
        while not (result := is_so()):
            self.assertLess(time.monotonic(), deadline, "it did not happen in time")
            time.sleep(0.05)
        return result

    def get(self, path, headers=None, method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        connection.putrequest(method, path, skip_host=bool(headers and "Host" in headers))
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        connection.endheaders()
        with contextlib.closing(connection):
            answer = connection.getresponse()
            return answer.status, answer.read(), dict(answer.getheaders())

    def connect(self, *protocols, **options):
        client = websocket.create_connection(f"ws://127.0.0.1:{self.port}/", subprotocols=list(protocols), timeout=WAIT_S, **options)
        self.addCleanup(client.close)
        return client

    def viewer(self, *planes, compact=False):
        client = self.connect("parallax.v1")
        client.send(json.dumps({"show": planes, "compact": compact}))
        return client

    def answer(self, client, is_it):
        """The first text message for which IS_IT is true; frames are acknowledged."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            message = client.recv()
            if isinstance(message, bytes):
                if message[0] == ord("{"):
                    continue
                self.acknowledge(client, message)
            elif is_it(json.loads(message)):
                return json.loads(message)
        self.fail("no such message came")

    @staticmethod
    def acknowledge(client, message):
        header, planes = unpack(message)
        client.send(json.dumps({"ack": header["status"]["sequence"]}))
        return header, planes

    def frame(self, client):
        """The next frame of a viewer."""
        while isinstance(message := client.recv(), str):
            pass
        return self.acknowledge(client, message)

    def collect(self):
        self.until(lambda: os.path.exists(self.socket))
        collector = Collector(self.socket)
        collector.start()
        self.addCleanup(setattr, collector, "ended", True)
        return collector


    def frame_and_truth(self, client, collector):
        """A frame of a viewer, and the same as the client library has it."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            header, planes = self.frame(client)
            time.sleep(0.2)  # the library may be later
            truth = collector.frames.get(header["status"]["sequence"])
            if truth:
                return header, planes, truth
        self.fail("no frame came to both")


def kill(process):
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
