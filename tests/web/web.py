# SPDX-License-Identifier: Apache-2.0
"""Fixture of the tests of parallax-web: it, a real parallaxd on the synthetic scene, and clients of its socket."""
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

try:
    import numpy
    import parallax_stereo
    import websocket
except ImportError as missing:
    print(f"skipped: {missing}; ./dev setup --all installs it")
    sys.exit(77)

BINARIES = pathlib.Path(os.environ["PLX_BINARY_DIR"]) / "bin"
WAIT_S = float(os.environ.get("PLX_TEST_PATIENCE_S", 120))  # until it is clear that what is expected never happens
FORMS = {"u8": numpy.uint8, "u16": numpy.uint16, "u32": numpy.uint32}


_libc = ctypes.CDLL(None)


def _end_with_test():
    _libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


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


class Web(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="plx-web-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.socket = f"{self.directory}/s"
        self.settings = [f"publish.socket={self.socket}", f"blackbox.directory={self.directory}/blackbox",
                         f"recorder.directory={self.directory}/recordings", f"recorder.socket={self.directory}/r"]
        os.mkdir(f"{self.directory}/recordings")

    def start(self, program, *settings, **options):
        words = (word for setting in [*self.settings, *settings] for word in ("--set", setting))
        process = subprocess.Popen([BINARIES / program, *words], preexec_fn=_end_with_test, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.wait()

    def start_daemon(self, *settings):
        return self.start("parallaxd", "backend=cpu", "publish.right=true", "match.disparities=64", "match.paths=4", "source.width=320",
                          "source.height=240", "source.rate_hz=20", *settings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start_web(self, *settings, port=0):
        log = f"{self.directory}/web.log"
        with open(log, "w") as out:
            process = self.start("parallax-web", f"web.listen=127.0.0.1:{port}", *settings, stderr=out)
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
