# SPDX-License-Identifier: Apache-2.0
"""The socket and the HTTP server of parallax-web beside a real service: frames, slow and hostile clients, files, Foxglove."""
import grp
import json
import os
import pathlib
import pwd
import resource
import signal
import socket
import struct
import subprocess
import time
import unittest
import zlib

import numpy
import parallax_stereo
import websocket
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from programs import BINARIES, WAIT_S, setting_options
from web import Web, kill, true_objects, unpack

SLOW_BYTES_PER_S = 2_500_000  # app/web/viewer.h


class Frames(Web):
    def test_planes_are_those_of_the_service(self):
        self.start_daemon()
        self.start_web()
        collector, client = self.collect(), self.viewer("left", "right", "disparity", "scan", "histogram")
        for _ in range(5):
            header, planes, frame = self.frame_and_truth(client, collector)
            for name in ("left", "right"):
                numpy.testing.assert_array_equal(planes[name].reshape(240, 320), getattr(frame, name))
            numpy.testing.assert_array_equal(planes["disparity"].reshape(240, 320), frame.disparity)
            numpy.testing.assert_array_equal(planes["histogram"].reshape(2, 256).sum(axis=1), [320 * 240] * 2)
            self.assertEqual(len(planes["scan"]), 4 * 80)
            self.assertEqual([each["track"] for each in header["status"]["obstacles"]],
                             [each.track for each in sorted(frame.obstacles, key=lambda each: each.nearest_m) if each.status != "lost"])
            self.assertLess(abs(header["stamp_ms"] / 1000 - time.time()), 10)

    def test_the_map_is_that_of_the_service(self):
        self.start_daemon("mount.z_m=1.2", "mount.pitch_deg=8")
        self.start_web()
        collector, plain, compact = self.collect(), self.viewer("map"), self.viewer("map", compact=True)
        for client, unpacked in ((plain, bytes), (compact, zlib.decompress)):
            header, planes, frame = self.frame_and_truth(client, collector)
            self.assertEqual(unpacked(planes["map"]), frame.map.tobytes())
            self.assertTrue((frame.map["kind"] == parallax_stereo.CellKind.FREE).any())
            place = header["status"]["map"]
            self.assertEqual((place["origin_x"], place["origin_y"]), (frame.local_map.origin_x, frame.local_map.origin_y))

    def test_compact_frames_show_the_same_in_fewer_bytes(self):
        self.start_daemon("source.width=640", "source.height=480", "source.rate_hz=60")
        self.start_web()
        collector, client = self.collect(), self.viewer("left", "disparity", compact=True)
        header, planes, frame = self.frame_and_truth(client, collector)
        self.assertEqual(planes["left"][:2], b"\xff\xd8")  # JPEG; the page's test looks into it
        reduced = numpy.frombuffer(zlib.decompress(planes["disparity"]), numpy.uint8).reshape(240, 320)
        wanted = frame.disparity[::2, ::2].astype(int)
        numpy.testing.assert_array_equal(reduced, numpy.where(wanted == 0xFFFF, 255, wanted * 254 // (64 * 16)))
        begun, received = time.monotonic(), 0
        while time.monotonic() - begun < 3:
            message = client.recv()
            received += len(message)
            if isinstance(message, bytes):
                self.acknowledge(client, message)
        self.assertLess(received / (time.monotonic() - begun), 1.1 * SLOW_BYTES_PER_S)

    def test_the_left_picture_comes_in_colour_for_those_who_ask(self):
        self.start_daemon("colour.enabled=true")
        self.start_web()
        collector, client, grey = self.collect(), self.viewer("colour"), self.viewer("left")
        header, planes, frame = self.frame_and_truth(client, collector)
        self.assertEqual([(each["name"], each["form"]) for each in header["planes"]], [("colour", "rgb8")])
        colour = planes["colour"].reshape(240, 320, 3)
        numpy.testing.assert_array_equal(colour, frame.colour)
        luma = (colour.astype(int) @ (77, 150, 29) + 128) >> 8
        numpy.testing.assert_array_equal(luma, frame.left)  # the scene's calibration is the identity
        self.assertGreater(int(numpy.ptp(colour, axis=2).max()), 50)  # not grey
        header, planes, frame = self.frame_and_truth(grey, collector)
        self.assertEqual([(each["name"], each["form"]) for each in header["planes"]], [("left", "u8")])
        numpy.testing.assert_array_equal(planes["left"].reshape(240, 320), frame.left)
        _, planes, frame = self.frame_and_truth(self.viewer("colour", compact=True), collector)
        self.assertEqual(planes["colour"][:2], b"\xff\xd8")  # JPEG; the page's test looks into it
        self.assertLess(len(planes["colour"]), 320 * 240 * 3 / 5)

    def test_without_colour_the_grey_picture_comes_in_its_place(self):
        self.start_daemon()
        self.start_web()
        collector, grey, client = self.collect(), self.viewer("left", "scan"), self.viewer("colour", "scan")
        header, planes, frame = self.frame_and_truth(client, collector)
        numpy.testing.assert_array_equal(planes["left"].reshape(240, 320), frame.left)
        self.assertEqual(header["planes"], self.frame(grey)[0]["planes"])

    def test_a_pixel_is_measured(self):
        self.start_daemon()
        self.start_web()
        collector, client = self.collect(), self.viewer("left")
        _, _, frame = self.frame_and_truth(client, collector)
        y, x = (int(each[len(each) // 2]) for each in numpy.nonzero(frame.disparity != 0xFFFF))
        client.send(json.dumps({"pixel": [x, y], "id": 7}))
        answer = self.answer(client, lambda message: message.get("id") == 7)
        self.assertAlmostEqual(answer["point_m"][2], float(frame.depth()[y, x]), delta=0.2 * answer["point_m"][2])
        client.send(json.dumps({"pixel": [100000, -3], "id": 8}))
        self.assertEqual(self.answer(client, lambda message: message.get("id") == 8)["point_m"], [None] * 3)

    def located_and_truth(self, client, collector, boxes):
        """The places of BOXES that precede a frame, and what the library says of the same frame."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            located = self.answer(client, lambda message: [each["box_px"] for each in message.get("located", {}).get("boxes", [])] == boxes)["located"]
            self.assertEqual(self.frame(client)[0]["status"]["sequence"], located["sequence"])
            time.sleep(0.2)  # the library may be later
            if truth := collector.frames.get(located["sequence"]):
                return located["boxes"], truth.locate(boxes)
        self.fail("no places came")

    def test_boxes_are_located_in_each_frame(self):
        self.start_daemon()
        self.start_web()
        collector, client = self.collect(), self.viewer("scan")
        _, _, frame = self.frame_and_truth(client, collector)
        thing = next(each for each in true_objects("demo", frame, 20) if each["index"] == 2)  # a pole, which stays
        boxes = [thing["box_px"], [20, 225, 280, 12], [5000, -7, 10, 10]]
        client.send(json.dumps({"boxes": boxes}))
        places, truth = self.located_and_truth(client, collector, boxes)
        self.assertEqual([(each["state"], each.get("reason")) for each in places],
                         [("known", None), ("only_ground", "only ground is seen in the box"), ("outside", "no pixel of the box lies in the picture")])
        self.assertAlmostEqual(places[0]["distance_m"], truth[0].distance_m, places=3)
        self.assertAlmostEqual(places[0]["sigma_m"], truth[0].sigma_m, places=3)
        self.assertAlmostEqual(places[0]["distance_m"], thing["position_m"][2], delta=0.15 * thing["position_m"][2])
        self.assertEqual(places[0]["track"], truth[0].track)
        numpy.testing.assert_allclose(places[0]["position_m"], truth[0].position_m, atol=1e-3)
        for place in places[1:]:
            for name in ("distance_m", "sigma_m", "position_m", "base_m", "size_m", "velocity_mps"):
                self.assertIsNone(place[name], name)

    def test_boxes_cost_one_answer_a_frame_until_there_are_none(self):
        self.start_daemon()
        self.start_web()
        client = self.viewer("scan")
        for x in range(200):
            client.send(json.dumps({"boxes": [[x, 0, 9, 9]]}))
        self.answer(client, lambda message: message.get("located", {}).get("boxes", [{}])[0].get("box_px") == [199, 0, 9, 9])
        kinds = []
        while len(kinds) < 20:
            message = client.recv()
            if isinstance(message, bytes):
                self.acknowledge(client, message)
                kinds.append("frame")
            elif "located" in message:
                kinds.append("located")
        self.assertEqual(kinds, ["frame", "located"] * 10)
        client.send(json.dumps({"boxes": []}))
        client.send(json.dumps({"ping": 1}))
        self.answer(client, lambda message: "pong" in message)
        self.frame(client)
        for _ in range(30):
            message = client.recv()
            self.assertFalse(isinstance(message, str) and "located" in message)
            if isinstance(message, bytes):
                self.acknowledge(client, message)

    def test_boxes_that_are_none_are_refused_and_those_before_stay(self):
        self.start_daemon()
        self.start_web()
        client, good = self.viewer("scan"), [[1, 2, 3, 4]] * 16
        client.send(json.dumps({"boxes": good}))
        box = [140, 100, 40, 40]
        for bad in ("140 100 40 40", 7, None, {"x": 1}, box, [box[:3]], [[*box, 1]], [[*box[:3], "40"]], [[*box[:3], None]], [[140.5, *box[1:]]],
                    [[*box[:2], 0, 40]], [[*box[:3], -40]], [[*box[:3], 2 ** 31]], [[-1e300, *box[1:]]], [box] * 17, [[box]]):
            client.send(json.dumps({"boxes": bad}))
            self.assertIn("at most 16 boxes", self.answer(client, lambda message: "refused" in message)["refused"], bad)
        located = self.answer(client, lambda message: "located" in message)["located"]
        self.assertEqual([each["box_px"] for each in located["boxes"]], good)

    def test_viewers_that_do_not_read_get_no_old_frames(self):
        self.start_daemon()
        self.start_web()
        deaf = [self.viewer("scan"), *(self.viewer("left", "disparity") for _ in range(3))]  # they acknowledge nothing
        lively = [self.viewer("scan") for _ in range(12)]
        for client in lively:
            sequences = [self.frame(client)[0]["status"]["sequence"] for _ in range(5)]
            self.assertEqual(sequences, sorted(set(sequences)))
        waiting = [deaf[0].recv() for _ in range(20)]  # of 4 s; the state comes five times a second
        frames = sum(isinstance(each, bytes) for each in waiting)
        self.assertEqual(frames, 2)  # what may be on the way, and no more

    def test_without_a_service_it_says_so_and_waits(self):
        web = self.start_web()
        client = self.viewer("left")
        self.assertEqual(self.answer(client, lambda message: "service" in message)["service"]["state"], "stopped")
        daemon = self.start_daemon()
        self.frame(client)
        kill(daemon)
        self.answer(client, lambda message: message.get("service", {}).get("state") == "stopped")
        self.start_daemon()
        self.frame(client)
        self.assertIsNone(web.poll())

    def test_the_state_comes_several_times_a_second(self):
        """Also without a service and without a wish: a page calls everything unknown after a second without news."""
        self.start_web()
        client, rates, begin = self.connect("parallax.v1"), [], time.monotonic()
        while len(rates) < 20:
            rates.append(self.answer(client, lambda message: "service" in message)["rates"])
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(sum(rates), 4)  # once a second, as they are counted

    def test_pings_are_answered_in_their_order(self):
        self.start_web()
        client = self.connect("parallax.v1")
        for name in ("first", "second"):
            client.send(json.dumps({"ping": name}))
        for name in ("first", "second"):
            self.assertEqual(self.answer(client, lambda message: "pong" in message)["pong"], name)


class Http(Web):
    def raw(self, text, seconds=WAIT_S):
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as client:
            client.sendall(text)
            received = b""
            while chunk := client.recv(65536):
                received += chunk
            return received

    def test_what_is_served(self):
        self.start_daemon()
        self.start_web()
        self.until(lambda: json.loads(self.get("/status.json")[1])["state"] == "running")
        status, body, headers = self.get("/")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertIn(b"<title>Parallax</title>", body)
        self.assertEqual(self.get("/", method="HEAD")[1], b"")
        self.assertIn(b"\nparallax_up 1\n", self.get("/metrics")[1])
        self.assertEqual(self.get("/nothing")[0], 404)
        total = sum(len(self.get(f"/{name}")[1]) for name in ("", "page.css", "page.js", "link.js", "pictures.js", "top.js", "cloud.js", "confirmed.js", "panel.js", "wall.js"))
        self.assertLess(total, 100_000)

    def test_files_can_be_fetched_and_no_others(self):
        self.start_daemon()
        self.start_web()
        pathlib.Path(self.directory, "secret").write_text("secret")
        os.symlink(f"{self.directory}/secret", f"{self.directory}/blackbox.box")
        self.until(lambda: json.loads(self.get("/files.json")[1])["blackbox"])
        os.symlink(f"{self.directory}/secret", f"{self.directory}/blackbox/link.box")
        status, body, headers = self.get("/blackbox/live.box")
        self.assertEqual((status, body[:6]), (200, b"PLXBOX"))
        self.assertIn("attachment", headers["Content-Disposition"])
        for path in ("/blackbox/../secret", "/blackbox/%2e%2e/secret", "/blackbox/..%2fsecret", "/blackbox/link.box", "/blackbox/",
                     "/blackbox/%00", "/../../../../etc/passwd", "//etc/passwd"):
            self.assertIn(self.get(path)[0], (400, 404), path)

    def test_other_sites_are_refused(self):
        self.start_web()
        self.assertEqual(self.get("/", {"Host": "evil.example"})[0], 421)
        self.assertEqual(self.get("/status.json", {"Origin": "http://evil.example"})[0], 403)
        with self.assertRaisesRegex(websocket.WebSocketBadStatusException, "403"):
            self.connect("parallax.v1", origin="http://evil.example")
        with self.assertRaisesRegex(websocket.WebSocketBadStatusException, "400"):
            self.connect("other.v1")

    def test_nothing_that_is_served_names_an_absolute_path(self):
        """Behind a proxy the page has a prefix, of which it knows nothing."""
        self.start_web()
        for name in ("", "page.css", "page.js", "link.js", "pictures.js", "top.js", "cloud.js", "confirmed.js", "panel.js", "wall.js"):
            text = self.get(f"/{name}")[1].decode()
            self.assertNotRegex(text, r"""(href|src|action)="/|url\(/|from ["']/|import\(["']/|fetch\(["'`]/|location\.(host|origin)\b""", name)

    def test_beyond_this_machine_a_token_is_needed(self):
        def refused(*settings):
            words = setting_options([*self.settings, *settings])
            result = subprocess.run([BINARIES / "parallax-web", *words], capture_output=True, text=True)
            self.assertEqual(result.returncode, 78, result.stderr)
            return result.stderr
        self.assertIn("web.token_file", refused("web.listen=0.0.0.0:0"))
        self.assertIn("ADDRESS:PORT", refused("web.listen=somewhere"))
        path = pathlib.Path(self.directory, "token")
        self.assertIn("ADDRESS:PORT", refused("web.listen=127.0.0.1:99999"))
        path.write_text("short\n")
        path.chmod(0o640)
        self.assertIn("16", refused("web.listen=0.0.0.0:0", f"web.token_file={path}"))
        path.write_text("a-token-of-some-length\n")
        self.start_web(f"web.token_file={path}")
        self.assertEqual(self.get("/")[0], 401)
        self.assertEqual(self.get("/page.js?token=a-token-of-some-lengtX")[0], 401)
        status, _, headers = self.get("/?token=a-token-of-some-length")
        self.assertEqual((status, headers["Location"]), (303, "./"))  # not left in the address bar; below the prefix of a proxy, too
        cookie = headers["Set-Cookie"]
        self.assertIn("HttpOnly; SameSite=Strict", cookie)
        self.assertNotIn("Path", cookie)  # that of the address
        self.assertEqual(self.get("/", {"Cookie": cookie.split(";")[0]})[0], 200)
        self.assertEqual(self.get("/status.json", {"Authorization": "Bearer a-token-of-some-length"})[0], 200)
        with self.assertRaisesRegex(websocket.WebSocketBadStatusException, "401"):
            self.connect("parallax.v1")
        self.connect("parallax.v1", cookie=cookie.split(";")[0])

    def get_as(self, user, group, path):
        """The status and the text that this user of the machine gets."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.setgroups([])
            os.setgid(group)
            os.setuid(user)
            status, text, _ = self.get(path)
            os.write(writing, f"{status} {text.decode()}".encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as answer:
            said = answer.read()
        os.waitpid(child, 0)
        return said

    def test_users_who_may_not_open_the_socket_may_not_look(self):
        if os.geteuid() != 0:
            self.skipTest("it needs root, to be another user")
        nobody = pwd.getpwnam("nobody")
        daemon = self.start_daemon()
        self.until(lambda: os.path.exists(self.socket))
        self.start_web()
        for path in ("/", "/status.json", "/files.json", "/blackbox/live.box"):
            self.assertRegex(self.get_as(nobody.pw_uid, nobody.pw_gid, path), "^403 user [0-9]+ may not open .*web.token_file")
        self.assertEqual(self.get("/")[0], 200)
        kill(daemon)
        os.unlink(self.socket)
        self.assertRegex(self.get_as(nobody.pw_uid, nobody.pw_gid, "/files.json"), "^403 ")  # nor what the service has left
        self.assertEqual(self.get("/")[0], 200)
        self.start_daemon(f"publish.group={grp.getgrgid(nobody.pw_gid).gr_name}")
        self.until(lambda: os.path.exists(self.socket))
        self.until(lambda: self.get_as(nobody.pw_uid, nobody.pw_gid, "/status.json").startswith("200 "))

    def test_unauthorized_connections_take_nobodys_place(self):
        path = pathlib.Path(self.directory, "token")
        path.write_text("a-token-of-some-length\n")
        path.chmod(0o600)
        self.start_daemon()
        self.start_web(f"web.token_file={path}")
        token = {"Authorization": "Bearer a-token-of-some-length"}
        client = self.connect("parallax.v1", header=token)
        client.send(json.dumps({"show": ["scan"], "compact": False}))
        self.frame(client)
        silent = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(64)]
        for _ in range(10):
            self.assertEqual(self.get("/status.json", token)[0], 200)
        gone = 0
        for each in silent:
            each.setblocking(False)
            try:
                gone += each.recv(1) == b""
            except ConnectionResetError:
                gone += 1
            except BlockingIOError:
                pass
            each.close()
        self.assertGreater(gone, 64 - 14)
        self.frame(client)

    def test_one_viewer_leaves_places_to_others(self):
        self.start_daemon()
        self.until(lambda: os.path.exists(self.socket))
        self.start_web()
        clients = []
        with self.assertRaisesRegex(websocket.WebSocketBadStatusException, "429.*close pages or programs that look"):
            while len(clients) < 64:
                clients.append(self.connect("parallax.v1"))
        self.assertEqual(len(clients), 32)
        self.assertEqual(self.get("/metrics")[0], 200)  # requests have places of their own
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chmod(self.socket, 0o666)
            self.assertTrue(self.get_as(nobody.pw_uid, nobody.pw_gid, "/status.json").startswith("200 "))
        clients.pop().close()
        self.until(self.connects)

    def connects(self):
        try:
            return self.connect("parallax.v1")
        except websocket.WebSocketBadStatusException:
            return None

    def test_without_descriptors_it_waits(self):
        self.start_daemon()
        web = self.start_web()
        resource.prlimit(web.pid, resource.RLIMIT_NOFILE, (24, 24))
        many = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(11)]
        more = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(5)]

        def used_s():
            fields = pathlib.Path(f"/proc/{web.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        before = used_s()
        time.sleep(2)
        self.assertLess(used_s() - before, 0.4)  # of 2 s; a loop takes all that it gets
        for each in (*many, *more):
            each.close()
        self.until(lambda: self.get("/")[0] == 200)

    def test_hostile_clients_are_cut_off_and_others_go_on(self):
        self.start_daemon()
        web = self.start_web()
        client = self.viewer("scan")  # small: it does not read for a while
        self.assertIn(b"400", self.raw(b"GET / HTTP/1.1\r\n\r\n"))
        self.assertIn(b"431", self.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20000))
        self.assertIn(b"413", self.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"))
        self.assertIn(b"408", self.raw(b"GET / HTTP/1.1\r\nHost: local"))  # says no more: a slow loris
        upgrade = (b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                   b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: parallax.v1\r\n\r\n")
        for bad, reason in ((b"\x81\x02{}", 1002), (b"\x82\xff\0\0\0\0\x7f\xff\xff\xff\0\0\0\0", 1009)):  # unmasked; oversized
            with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S) as raw:
                raw.sendall(upgrade)
                self.assertIn(b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", raw.recv(4096))
                raw.sendall(bad)
                received = b""
                while chunk := raw.recv(4096):
                    received += chunk
                self.assertIn(b"\x88\x02" + struct.pack(">H", reason), received)
        many = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(100)]
        self.frame(client)
        for each in many:
            each.close()
        self.until(lambda: self.get("/")[0] == 200)
        self.frame(client)
        self.assertIsNone(web.poll())

    def test_the_flight_recorder_keeps_what_a_page_asks_for(self):
        self.start_daemon()
        self.start_web()
        client = self.viewer("left")
        client.send(json.dumps({"keep": 1}))
        self.assertIn("no flight recorder", self.answer(client, lambda message: "kept" in message)["kept"]["error"])
        self.start_service("parallax-recorder", stderr=subprocess.DEVNULL)
        self.until(lambda: os.path.exists(f"{self.directory}/r"))
        for _ in range(6):  # what it has by then depends on the machine
            for _ in range(20):
                self.frame(client)
            client.send(json.dumps({"keep": 60}))
            kept = self.answer(client, lambda message: "kept" in message)["kept"]
            if kept.get("pairs", 0) > 2:
                break
        self.assertGreater(kept.get("pairs", 0), 2, kept)
        self.assertIn(kept["name"], [each["name"] for each in json.loads(self.get("/files.json")[1])["recordings"]])
        self.assertEqual(self.get(f"/recordings/{kept['name']}")[1][:8], b"\x89MCAP0\r\n")


class Foxglove(Web):
    """A client of the public specification: github.com/foxglove/ws-protocol, docs/spec.md."""

    @staticmethod
    def typestore(channels):
        store = get_typestore(Stores.ROS2_JAZZY)
        for channel in channels:
            types = get_types_from_msg(channel["schema"], channel["schemaName"])
            store.register({name: fields for name, fields in types.items() if name not in store.fielddefs})
        return store

    def greet(self, protocol):
        client = self.connect(protocol)
        info = json.loads(client.recv())
        self.assertEqual((info["op"], client.subprotocol), ("serverInfo", protocol))
        self.assertEqual((info["capabilities"], info["supportedEncodings"]), (["parameters"], ["cdr"]))
        advertised = json.loads(client.recv())
        self.assertEqual(advertised["op"], "advertise")
        return client, {channel["topic"]: channel for channel in advertised["channels"]}

    def test_every_topic_as_ros_message(self):
        self.start_daemon("mount.z_m=1", "mount.pitch_deg=5.73", "colour.enabled=true")
        self.start_web()
        collector = self.collect()
        for protocol in ("foxglove.sdk.v1", "foxglove.websocket.v1"):
            client, channels = self.greet(protocol)
            self.assertEqual(len(channels), 21)
            store = self.typestore(channels.values())
            wanted = {100 + channel["id"]: channel for channel in channels.values()}
            client.send(json.dumps({"op": "subscribe", "subscriptions": [{"id": number, "channelId": channel["id"]}
                                                                         for number, channel in wanted.items()]}))
            messages, deadline = {}, time.monotonic() + WAIT_S

            def is_collected():
                """Whether the newest picture is one of a frame that the client of this test had time to read too."""
                image = messages["/parallax/left/image_rect"].data.reshape(240, 320)
                return any(numpy.array_equal(image, frame.left) for frame in list(collector.frames.values()))

            while len(messages) < len(wanted) or not is_collected():
                self.assertLess(time.monotonic(), deadline, f"{len(messages)} topics, and no picture that the service published")
                opcode, number, time_ns = struct.unpack_from("<BIQ", data := client.recv())
                self.assertEqual(opcode, 1)
                self.assertLess(abs(time_ns / 1e9 - time.time()), WAIT_S)
                messages[wanted[number]["topic"]] = store.deserialize_cdr(data[13:], wanted[number]["schemaName"])
            colour = messages["/parallax/left/image_rect_color"]
            self.assertEqual((colour.encoding, colour.step, len(colour.data)), ("rgb8", 3 * 320, 3 * 320 * 240))
            self.assertEqual([field.name for field in messages["/parallax/points"].fields], ["x", "y", "z", "rgb"])
            turned = {each.child_frame_id: each.header.frame_id for name in ("/tf", "/tf_static") for each in messages[name].transforms}
            self.assertEqual(turned, {"parallax_scan": "parallax_link", "parallax_left_optical_frame": "parallax_link"})
            self.assertEqual(messages["/diagnostics"].status[0].name, "parallax: service")
            self.assertEqual(set(messages["/parallax/map"].data.tolist()), {-1, 0, 100})
            self.assertEqual(messages["/parallax/verdict"].data, "stop")  # there are no zones
            client.send(json.dumps({"op": "unsubscribe", "subscriptionIds": list(wanted)}))

    def test_unconfirmed_obstacles_are_no_detections(self):
        self.start_daemon("tracks.min_hits=1000")  # none is ever confirmed
        self.start_web()
        client, channels = self.greet("foxglove.sdk.v1")
        store = self.typestore(channels.values())
        wanted = {number: channels[f"/parallax/{name}"] for number, name in enumerate(("obstacles", "obstacles_markers", "points_obstacles"))}
        client.send(json.dumps({"op": "subscribe", "subscriptions": [{"id": number, "channelId": channel["id"]}
                                                                     for number, channel in wanted.items()]}))
        messages = {number: [] for number in wanted}
        while min(map(len, messages.values())) < 3:
            _, number, _ = struct.unpack_from("<BIQ", data := client.recv())
            messages[number].append(store.deserialize_cdr(data[13:], wanted[number]["schemaName"]))
        self.assertEqual({len(each.detections) for each in messages[0]} | {len(each.markers) for each in messages[1]}, {0})
        self.assertGreater(messages[2][-1].width, 0)

    def test_applications_of_this_machine_may_connect(self):
        """Electron's, such as Foxglove's desktop application, send Origin: file://. So do pages that a browser opens from disk, and so no more
        than Foxglove's protocol is open to them."""
        self.start_web()
        client = self.connect("foxglove.sdk.v1", origin="file://")
        self.assertEqual(json.loads(client.recv())["op"], "serverInfo")
        for protocols in (("parallax.v1",), ("foxglove.sdk.v1", "parallax.v1")):
            with self.assertRaisesRegex(websocket.WebSocketBadStatusException, "403"):
                self.connect(*protocols, origin="file://")
        for origin in ("null", "file:///tmp/page.html", "http://evil.example"):
            with self.assertRaisesRegex(websocket.WebSocketBadStatusException, "403"):
                self.connect("foxglove.sdk.v1", origin=origin)

    def test_applications_of_this_machine_need_the_token(self):
        path = pathlib.Path(self.directory, "token")
        path.write_text("a-token-of-some-length\n")
        path.chmod(0o600)
        self.start_web(f"web.token_file={path}")
        with self.assertRaisesRegex(websocket.WebSocketBadStatusException, "401"):
            self.connect("foxglove.sdk.v1", origin="file://")
        with self.assertRaisesRegex(websocket.WebSocketBadStatusException, "401"):  # a browser's cookie is no word of the page's
            self.connect("foxglove.sdk.v1", origin="file://", cookie="parallax_token=a-token-of-some-length")
        self.connect("foxglove.sdk.v1", origin="file://", header={"Authorization": "Bearer a-token-of-some-length"})

    def test_two_clients_choose_their_own_numbers(self):
        self.start_daemon()
        self.start_web()
        clients = [self.greet("foxglove.sdk.v1")[0] for _ in range(2)]
        for number, client in enumerate(clients):
            client.send(json.dumps({"op": "subscribe", "subscriptions": [{"id": number, "channelId": 1}]}))
        for _ in range(5):
            for number, client in enumerate(clients):
                self.assertEqual(struct.unpack_from("<BI", client.recv()), (1, number))

    def test_parameters_can_be_read_only(self):
        self.start_daemon("exposure.target=0.375")
        self.start_web()
        client, _ = self.greet("foxglove.sdk.v1")
        self.until(lambda: os.path.exists(self.socket))
        def ask(**request):
            client.send(json.dumps(request))
            while (answer := json.loads(client.recv()))["op"] != "parameterValues":
                self.assertEqual(answer["op"], "status")
            return {each["name"]: each["value"] for each in answer["parameters"]}
        self.until(lambda: ask(op="getParameters", parameterNames=["exposure.target"], id="1"))
        values = ask(op="getParameters", parameterNames=[], id="2")
        self.assertEqual((values["exposure.target"], values["match.paths"], values["publish.right"]), (0.375, 4, True))
        self.assertEqual(values["publish.socket"], self.socket)
        changed = ask(op="setParameters", parameters=[{"name": "exposure.target", "value": 0.5}], id="3")
        self.assertEqual(changed, {"exposure.target": 0.375})

    def test_a_service_that_hangs_holds_up_no_other_viewer(self):
        daemon = self.start_daemon()
        self.start_web()
        client, _ = self.greet("foxglove.sdk.v1")
        viewer = self.viewer("scan")
        self.frame(viewer)
        daemon.send_signal(signal.SIGSTOP)  # the supervisor, which answers questions; the engine goes on
        for number in range(10):
            client.send(json.dumps({"op": "getParameters", "parameterNames": [], "id": str(number)}))
        sequences = [self.frame(viewer)[0]["status"]["sequence"] for _ in range(10)]
        self.assertEqual(sequences, sorted(set(sequences)))
        answers, times = [], []
        while len(answers) < 10:
            message = json.loads(client.recv())
            if message["op"] == "parameterValues":
                answers.append((message["id"], message["parameters"]))
                times.append(time.monotonic())
        self.assertEqual(answers, [(str(number), []) for number in range(10)])  # not known, and that is said
        self.assertLess(times[-1] - times[0], 9)  # one wait of 2 s for all: ten of them take 18 s from the first to the last
        daemon.send_signal(signal.SIGCONT)

    def test_raw_frames_have_topics_of_their_own(self):
        self.start_daemon("calibration=none")
        self.start_web()
        client, channels = self.greet("foxglove.sdk.v1")
        if "/parallax/left/image_raw" not in channels:  # the service has only just begun
            self.viewer("left")
            client.send(json.dumps({"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 1}]}))
            while "channels" not in (message := client.recv()):
                pass
            channels = {channel["topic"]: channel for channel in json.loads(message)["channels"]}
        self.assertEqual(set(channels), {"/parallax/left/image_raw", "/parallax/right/image_raw", "/parallax/frame_info",
                                         "/tf_static", "/diagnostics"})

    def test_what_is_wrong_is_said(self):
        self.start_web()
        client, _ = self.greet("foxglove.sdk.v1")
        for request in ({"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 99}]}, {"op": "advertise", "channels": []}):
            client.send(json.dumps(request))
            self.assertEqual(json.loads(client.recv())["op"], "status")
        client.send("no JSON")
        self.assertEqual(client.recv_data()[0], websocket.ABNF.OPCODE_CLOSE)


if __name__ == "__main__":
    unittest.main()
