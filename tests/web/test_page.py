# SPDX-License-Identifier: Apache-2.0
"""The page in Debian's headless Chromium beside a real service: what it draws, its keys, and what it says when things go away.
Screenshots are left in build/screenshots. web.png, the picture of the README and docs/web.md, is left there only if it shows a healthy page."""
import base64
import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
import urllib.request

import numpy

from programs import WAIT_S
from web import OtherPrograms, Prefix, SCREENSHOTS, Web, joined_or_missing, kill, true_objects

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError as missing:
    print(f"skipped: {missing}; ./dev setup --all installs it")
    sys.exit(77)

DRIVER = shutil.which("chromedriver")
if not DRIVER:
    print("skipped: no chromium-driver; ./dev setup --all installs it")
    sys.exit(77)

# Without a graphics card; WebGL by SwiftShader.
FLAGS = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--enable-unsafe-swiftshader", "--hide-scrollbars",
         "--force-color-profile=srgb", "--window-size=1400,980"]
# The pixels of a canvas, as base64 of RGBA.
PIXELS = """
const canvas = document.querySelector(arguments[0]);
const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
let text = "";
for (let i = 0; i < data.length; i += 8192) text += String.fromCharCode(...data.subarray(i, i + 8192));
return [parallax.shown, canvas.width, canvas.height, btoa(text)];
"""
# What a person reads in a picture of the page, and the frame that its views show.
READ = """
const text = id => document.getElementById(id).innerText;
return { shown: parallax.shown, frame: parallax.frame.status.sequence, age: parallax.ageMs, state: text("state"), sentence: text("sentence"),
         faults: text("faults"), figures: text("figures"), times: text("times"), listed: document.querySelectorAll("#obstacles tr").length,
         pale: document.querySelectorAll("figure.old").length, obstacles: parallax.frame.status.obstacles };
"""
# What the page says of now: words, and how many of the parts that age are not pale.
SAID = """
const text = id => document.getElementById(id).innerText;
return { verdict: text("verdict"), state: text("state"), figures: text("figures"), faults: text("faults"), obstacles: text("obstacles"), drop: text("drop"),
         values: [...new Set([...document.querySelectorAll("#times dd, #eyes dd, #geometry dd")].map(each => each.innerText))],
         vivid: document.querySelectorAll("figure:not(.old), .live:not(.old)").length };
"""
UNKNOWN = {"verdict": "UNKNOWN no connection", "state": "no connection", "figures": "unknown", "faults": "unknown", "obstacles": "unknown",
           "drop": "drops: unknown", "values": ["unknown"], "vivid": 0}
# Marks of the colour scale with the colour at their middle, and the colours of the depth view.
SCALE = """
const scale = document.querySelector("#depth .scale"), bar = scale.getBoundingClientRect(), context = scale.getContext("2d");
const marks = [...document.querySelectorAll("#depth .marks span")].map(mark => {
  const box = mark.getBoundingClientRect(), share = (box.left + box.width / 2 - bar.left) / bar.width;
  const colour = context.getImageData(Math.floor(share * scale.width), scale.height >> 1, 1, 1).data;
  return { text: mark.innerText, left: box.left, right: box.right, colour: [...colour].slice(0, 3) };
});
"""
# Draws a wall without its middle: 3 m ahead in columns 80..109 and 140..159, 6 m in 160..239; of the ground, row 100 + 300 / Z.
# Returns the colours of 3 and 6 m, and those of the wanted pixels of the picture, and of the top view.
WALL = """
const [ground, inPicture, inTop, done] = arguments;
Promise.all([import("/pictures.js"), import("/top.js")]).then(([pictures, top]) => {
  const outline_m = Array.from({ length: 16 }, (_, part) => part < 3 ? 3 : part < 6 ? null : part < 8 ? 3 : 6);
  const wall = { track: 1, box_px: [80, 60, 160, 160], outline_m, nearest_m: 3, position_m: [-3, 0, 8], extent_m: [2.4, 1, 3],
                 velocity_mps: [0, 0, 0], world_velocity_mps: null, moving: null };
  const calibration = { fx: 300, fy: 300, cx: 160, cy: 100, cx_right: 160, baseline_m: 0.1 };
  const frame = { left: { width: 320, height: 240, data: new Uint8Array(320 * 240) }, status: { obstacles: [wall], free_ahead_m: null, calibration, ground } };
  const figure = document.createElement("figure");
  figure.innerHTML = "<canvas></canvas><canvas></canvas><figcaption></figcaption>";
  const read = (canvas, points) => {
    const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return points.map(([x, y]) => [...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 4)]);
  };
  const picture = new pictures.Picture(figure, () => {}), above = new top.Top(figure);
  picture.draw(frame);
  const seen = read(picture.overlay, inPicture);
  above.draw(frame);
  done([[3, 6].map(metres => [...pictures.colour(1.2 / metres), 255]), seen, read(above.canvas, inTop)]);
});
"""
# What a page shows of FRAMES, each a list of tracks and their status, or null: their tracks, in its order.
CONFIRMED = """
const [frames, done] = arguments;
import("/confirmed.js").then(({ Confirmed }) => {
  const confirmed = new Confirmed();
  done(frames.map(frame => confirmed.next(frame && frame.map(([track, status]) => ({ track, status, nearest_m: track })))?.map(({ track }) => track) ?? null));
});
"""
# Draws ground that falls away: 3 m ahead in columns 80..159 of the picture, 6 m in 160..239; free to 10 m beside it. Returns the
# wanted pixels of the picture and of the top view, the caption, and the words beside the views, with and without a drop.
DROP = """
const [inPicture, inTop, done] = arguments;
Promise.all([import("/pictures.js"), import("/top.js"), import("/panel.js")]).then(([pictures, top, panel]) => {
  const scan = { data: new Uint16Array(4 * 80) };
  for (let i = 0; i < 80; i++) scan.data.set(i < 20 || i >= 60 ? [0, 48, 1, 0] : [0, i < 40 ? 160 : 80, 3, 0], 4 * i);
  const calibration = { fx: 300, fy: 300, cx: 160, cy: 100, cx_right: 160, baseline_m: 0.1 };
  const ground = { pitch_rad: 0, roll_rad: 0, camera_height_m: 1 }, drop = { ahead_m: 3, x_px: 80, width_px: 160 };
  const frame = { scan, left: { width: 320, height: 240, data: new Uint8Array(320 * 240) }, status: { obstacles: [], free_ahead_m: 3, calibration, ground, drop } };
  const figure = document.createElement("figure");
  figure.innerHTML = "<canvas></canvas><canvas></canvas><figcaption></figcaption>";
  const read = (canvas, points) => {
    const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return points.map(([x, y]) => [...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 4)]);
  };
  const picture = new pictures.Picture(figure, () => {}), above = new top.Top(figure);
  const words = document.getElementById("drop"), said = each => { panel.showDrop(each); return words.textContent; };
  picture.draw(frame);
  const seen = read(picture.overlay, inPicture), caption = picture.caption.textContent;
  above.draw(frame);
  done([seen, read(above.canvas, inTop), caption, [drop, { ahead_m: null, x_px: null, width_px: 0 }, null].map(said)]);
});
"""
# Draws the map and the zones of STATUS from above; CELLS: base64 of 200 x 200 cells. Returns the wanted pixels.
MAP = """
const [status, cells, points, done] = arguments;
import("/top.js").then(top => {
  const figure = document.createElement("figure"), data = Uint8Array.from(atob(cells), each => each.charCodeAt(0));
  figure.innerHTML = "<canvas></canvas>";
  document.body.append(figure); // for the page's colours
  const above = new top.Top(figure);
  above.canvas.style.width = "320px";
  above.drawGrid = () => {}; // its circles would lie over the cells
  above.draw({ map: { width: 200, height: 200, data }, status });
  figure.remove();
  const { data: drawn, width } = above.canvas.getContext("2d").getImageData(0, 0, above.canvas.width, above.canvas.height);
  done(points.map(([x, y]) => [...drawn.subarray(4 * (y * width + x), 4 * (y * width + x) + 4)]));
});
"""
# Draws the arrows of the rows' drift into an empty picture; returns its overlay as base64 of RGBA, and the caption.
ARROWS = """
const [drift, done] = arguments;
import("/pictures.js").then(pictures => {
  const calibration = { fx: 300, fy: 290, cx: 150, cy: 100, cx_right: 150, baseline_m: 0.1 };
  const frame = { left: { width: 320, height: 240, data: new Uint8Array(320 * 240) },
                  status: { obstacles: [], free_ahead_m: null, calibration, ground: null, drift } };
  const figure = document.createElement("figure");
  figure.innerHTML = "<canvas></canvas><canvas></canvas><figcaption></figcaption>";
  const picture = new pictures.Picture(figure, () => {});
  picture.showsRows = true;
  picture.draw(frame);
  const { data } = picture.overlay.getContext("2d").getImageData(0, 0, 320, 240);
  done([btoa(Array.from(data, each => String.fromCharCode(each)).join("")), picture.caption.textContent]);
});
"""
# Draws the chart of DRIFTS, one a second; returns the values of its labels, and the points of its curves and of the band.
DRIFT_CHART = """
const [drifts, done] = arguments;
import("/panel.js").then(panel => {
  const charts = new panel.Charts(), now = performance.now;
  drifts.forEach((drift, i) => {
    performance.now = () => 1000 * i;
    charts.add({ latency_ms: 1, fresh: true, drift }, { rate: 1, ageMs: 1 });
  });
  performance.now = now;
  const chart = document.getElementById("chart-drift"), points = path => [...path.getAttribute("d").matchAll(/([MLZ]) ?([\\d.]*) ?([\\d.]*)/g)].map(
    ([, step, x, y]) => step === "Z" ? ["Z"] : [step, Number(x), Number(y)]);
  done([[...chart.querySelectorAll(".label")].map(each => each.textContent), [...chart.querySelectorAll(".data")].map(points)]);
});
"""
CHARTS = """
return [...document.querySelectorAll("svg.chart:has(.axis)")].map(chart => {
  const boxes = [...chart.querySelectorAll(".data")].map(each => each.getBBox()), axis = chart.querySelector(".axis").getBBox();
  const left = Math.min(...boxes.map(box => box.x)), right = Math.max(...boxes.map(box => box.x + box.width));
  const colour = each => [each.getAttribute("fill"), each.getAttribute("stroke")].filter(name => name && name !== "none");
  return { id: chart.id, colours: [...chart.querySelectorAll(".data")].flatMap(colour), legend: [...chart.querySelectorAll("tspan[fill]")].flatMap(colour),
           isPlain: [...chart.querySelectorAll(".data, tspan[fill]")].some(each => getComputedStyle(each).fill === getComputedStyle(chart).fill),
           labels: [...chart.querySelectorAll(".label")].map(each => each.textContent), filled: (right - left) / axis.width };
});
"""


class Page(Web):
    @classmethod
    def setUpClass(cls):
        options = Options()
        for flag in FLAGS:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.binary_location = shutil.which("chromium") or shutil.which("chromium-browser") or ""
        cls.browser = webdriver.Chrome(options=options, service=Service(DRIVER))
        cls.addClassCleanup(cls.browser.quit)
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)

    def open(self, *settings, web_settings=()):
        self.daemon = self.start_daemon("source.rate_hz=10", *settings)
        self.web = self.start_web(*web_settings)
        self.browser.get("about:blank")  # the page of the test before asks a server that is gone
        self.browser.get_log("browser")
        self.browser.get(f"http://127.0.0.1:{self.port}/")
        self.wait_frames(3)

    def run_script(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def text(self, name):
        return self.browser.find_element(By.ID, name).text

    def wait_frames(self, count):
        before = self.run_script("return parallax.frames")
        self.until(lambda: self.run_script("return parallax.frames") >= before + count)

    def press(self, key):
        self.browser.find_element(By.TAG_NAME, "body").send_keys(key)

    def pixels(self, selector):
        sequence, width, height, text = self.run_script(PIXELS, selector)
        return sequence, numpy.frombuffer(base64.b64decode(text), numpy.uint8).reshape(height, width, 4)

    def console(self):
        # WebGL by SwiftShader copies each frame back, and Chromium says that this is slow.
        return [entry for entry in self.browser.get_log("browser")
                if entry["level"] in ("SEVERE", "WARNING") and "GPU stall due to ReadPixels" not in entry["message"]]

    def test_the_top_view_is_along_the_ground(self):
        """Points 3 m ahead and 1 m to the left, at several heights, of cameras that look down and are turned about their view axis."""
        self.open()
        for pitch, roll in ((0, 0), (0.105, 0), (0.35, 0), (0.35, 0.087), (0.2, -0.087)):
            right, down, ahead = numpy.eye(3)
            view = numpy.cos(pitch) * ahead + numpy.sin(pitch) * down
            below = numpy.cos(pitch) * down - numpy.sin(pitch) * ahead
            camera = numpy.array([numpy.cos(roll) * right + numpy.sin(roll) * below, numpy.cos(roll) * below - numpy.sin(roll) * right, view])
            for height in (-0.8, 0, 0.9):
                seen = camera @ (-1.0, height, 3.0)
                x, z = self.browser.execute_async_script(
                    "const [pitch, roll, point, done] = arguments;"
                    "import('/top.js').then(top => done(top.fromAbove({pitch_rad: pitch, roll_rad: roll, camera_height_m: 0.9}, point)));",
                    pitch, roll, seen.tolist())
                self.assertAlmostEqual(x, -1, places=5)
                self.assertAlmostEqual(z, 3, places=5)

    def test_canvases_show_the_frame(self):
        self.open()
        collector = self.collect()
        self.wait_frames(3)
        sequence, pixels = self.pixels("#picture .image")
        frame = self.until(lambda: collector.frames.get(sequence))
        numpy.testing.assert_array_equal(pixels[:, :, 0], frame.left)
        sequence, pixels = self.pixels("#depth .image")
        frame = self.until(lambda: collector.frames.get(sequence))
        numpy.testing.assert_array_equal((pixels[:, :, :3] == 0).all(axis=2), frame.disparity == 0xFFFF)  # unknown is black
        known = numpy.argwhere(frame.disparity != 0xFFFF)
        near = max(known, key=lambda at: frame.disparity[tuple(at)])
        far = min(known, key=lambda at: frame.disparity[tuple(at)])
        self.assertGreater(pixels[tuple(near)][0], pixels[tuple(near)][2])  # red
        self.assertGreater(pixels[tuple(far)][2], pixels[tuple(far)][0])  # blue
        self.assertEqual(self.console(), [])

    def test_obstacles_are_drawn_and_listed(self):
        self.open()
        self.until(lambda: self.text("obstacles") not in ("", "unknown"))
        _, pixels = self.pixels("#picture .overlay")
        self.assertGreater((pixels[:, :, 3] > 0).sum(), 100)
        self.assertRegex(self.text("obstacles"), r"#\d+ \w+ \d+\.\d m")
        for name in ("top", "cloud"):  # something is drawn: more than one colour
            colours = self.run_script("""
                const canvas = document.querySelector(arguments[0]), copy = document.createElement("canvas");
                Object.assign(copy, { width: canvas.width, height: canvas.height });
                copy.getContext("2d").drawImage(canvas, 0, 0);
                return new Set(new Uint32Array(copy.getContext("2d").getImageData(0, 0, copy.width, copy.height).data.buffer)).size""",
                                      f"#{name} canvas")
            self.assertGreater(colours, 20, name)
        self.assertEqual(self.console(), [])

    def test_unconfirmed_obstacles_are_hidden_and_a_lost_one_stays_for_a_frame(self):
        self.open("tracks.min_hits=1000")  # none is ever confirmed
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/status.json", timeout=WAIT_S) as answer:
            self.assertEqual({each["status"] for each in json.load(answer)["obstacles"]}, {"new"})
        self.until(lambda: self.run_script("return parallax.frames") > 3)
        self.assertEqual(self.text("obstacles"), "")
        self.assertRegex(self.run_script("return document.querySelector('#picture figcaption').innerText"), "^0 obstacles")
        frames = [[[1, "new"], [2, "tracked"]], [[1, "new"]], [[1, "tracked"]], [[1, "tracked"], [3, "tracked"]], [[3, "tracked"]], [[3, "tracked"]],
                  None, [], [[3, "tracked"]], None, [[4, "new"]], [[4, "tracked"], [3, "tracked"]]]
        shown = [[2], [2], [1], [1, 3], [1, 3], [3], None, [], [3], None, [], [3, 4]]
        self.assertEqual(self.browser.execute_async_script(CONFIRMED, frames), shown)
        self.assertEqual(self.console(), [])

    def test_obstacles_follow_their_outline(self):
        self.open()
        nothing = [0, 0, 0, 0]
        level = {"pitch_rad": 0, "roll_rad": 0, "camera_height_m": 1}
        for ground, near_row, far_row in ((level, 198, 148), (None, 218, 218), ({**level, "camera_height_m": 3}, 218, 218)):
            # The top view is 320 x 240 px, with 22.56 px a metre and the camera at 160, 232.8.
            (near, far), picture, top = self.browser.execute_async_script(
                WALL, ground, [(90, near_row), (125, near_row), (150, near_row), (200, far_row), (200, far_row - 8)],
                [(145, 165), (152, 165), (158, 165), (160, 130), (180, 97)])
            self.assertEqual(picture, [near, nothing, near, far, nothing])
            self.assertEqual([top[0], *top[2:]], [near, near, near, near])  # the whole line has one colour
            self.assertNotEqual(top[1], near)
        self.assertEqual(self.console(), [])

    def test_an_edge_of_a_drop_is_drawn(self):
        self.open()
        self.until(lambda: self.text("drop") == "no drop is seen")  # of the scene
        # The ground at Z is in row 100 + 300 / Z. The top view is as above.
        picture, top, caption, words = self.browser.execute_async_script(
            DROP, [(120, 200), (120, 203), (150, 190), (200, 150), (200, 200), (280, 130), (40, 130)], [(149, 165), (180, 97), (149, 130)])
        white, nothing = [255] * 4, [0] * 4
        self.assertEqual([picture[0], *picture[2:]], [white, nothing, white, nothing, nothing, nothing])
        self.assertEqual(picture[1][:3], [0, 0, 0])  # its seam
        self.assertEqual(top[:2], [white] * 2)
        self.assertNotEqual(top[2], white)
        self.assertIn("white line: drop 3.0 m ahead", caption)
        self.assertEqual(words, ["drop 3.0 m ahead", "no drop is seen", "drops: unknown"])
        self.assertEqual(self.console(), [])

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

    def test_the_map_and_zones_lie_where_they_are(self):
        """Cells and a zone around points of the robot's base, of a robot and a camera that are turned, in an otherwise empty top view."""
        self.open()
        for x_m, y_m, robot_yaw, camera in ((0, 0, 0, None), (1.3, -2.1, 0.6, {"x_m": 0.3, "y_m": -0.2, "yaw_rad": -0.4})):
            points = (2.5, 0.5), (4, -1), (3, 1.5)  # free, occupied, drop
            cells, origin = numpy.zeros((200, 200, 4), numpy.uint8), (numpy.array([x_m, y_m]) // 0.05 - 100).astype(int)
            cosine, sine = numpy.cos(robot_yaw), numpy.sin(robot_yaw)
            for kind, (x, y) in enumerate(points, 1):
                at = numpy.array([x_m + cosine * x - sine * y, y_m + sine * x + cosine * y])
                column, row = (at // 0.05).astype(int) - origin
                cells[row - 2:row + 3, column - 2:column + 3] = kind, 0, 0, 0
            cx, cy, yaw = (camera or {"x_m": 0, "y_m": 0, "yaw_rad": 0}).values()
            seen = []
            for x, y in (*points, (2, -1), (1, 2)):  # unknown, and the middle of the zone's first side
                ahead = numpy.cos(yaw) * (x - cx) + numpy.sin(yaw) * (y - cy)
                left = numpy.cos(yaw) * (y - cy) - numpy.sin(yaw) * (x - cx)
                seen.append((160 - 22.56 * left, 232.8 - 22.56 * ahead))  # the top view is 320 x 240 px, the camera at 160, 232.8
            zone = {"name": "", "polygon_m": [[0.5, 2], [1.5, 2], [1.5, 3], [0.5, 3]], "active": True, "verdict": "go"}
            status = {"mount": camera, "zones": [zone], "map": {"origin_x": int(origin[0]), "origin_y": int(origin[1]), "x_m": x_m, "y_m": y_m,
                                                                "yaw_rad": robot_yaw}}
            free, occupied, drop, unknown, side = self.browser.execute_async_script(
                MAP, status, base64.b64encode(cells).decode(), [(int(x), int(y)) for x, y in seen])
            self.assertEqual(free.index(max(free[:3])), 1)  # green
            self.assertEqual(occupied.index(max(occupied[:3])), 0)  # red
            self.assertEqual(drop.index(max(drop[:3])), 2)  # violet
            self.assertEqual(unknown, [0] * 4)
            self.assertEqual((side.index(max(side[:3])), side[3] > 100), (1, True))  # green, and no cell
        self.assertEqual(self.console(), [])

    def test_arrows_show_the_rows_20_times_as_long(self):
        self.open()
        drift = {"matches": 700, "pitch_rad": 0.0005, "roll_rad": 0.004, "bend_rad": -0.004, "scale": 0.001}
        text, caption = self.browser.execute_async_script(ARROWS, drift)
        self.assertIn("20 times", caption)
        opaque = numpy.frombuffer(base64.b64decode(text), numpy.uint8).reshape(240, 320, 4)[:, :, 3] > 128
        lengths = []
        for x, y in ((20 + 40 * i, 20 + 40 * j) for i in range(8) for j in range(5)):  # below, in a corner, is the legend
            across, down = (x - 150) / 300, (y - 100) / 290
            length = 20 * 290 * (0.0005 * (1 + down * down) - 0.004 * across + 0.004 * across * down + 0.001 * down)
            self.assertTrue(opaque[y, x])
            self.assertLess(abs(length), 36)  # it does not reach the next one
            if abs(length) > 6:
                lengths.append(length)
                way = 1 if length > 0 else -1
                self.assertTrue(opaque[y:round(y + length - 4 * way):way, x].all(), (x, y, length))
                self.assertFalse(opaque[round(y + length + way), x], (x, y, length))
                self.assertFalse(opaque[y - 4 * way, x], (x, y, length))
        self.assertGreater(len(lengths), 20)
        self.assertTrue(min(lengths) < -6 < 6 < max(lengths))  # both ways
        text, caption = self.browser.execute_async_script(ARROWS, None)
        self.assertIn("not measured", caption)
        self.assertFalse(numpy.frombuffer(base64.b64decode(text), numpy.uint8).reshape(240, 320, 4)[:200].any())

    def test_a_key_switches_the_arrows(self):
        self.open()
        caption = self.browser.find_element(By.CSS_SELECTOR, "#picture figcaption")
        button = self.browser.find_element(By.ID, "rows")
        self.assertEqual((button.get_attribute("aria-pressed"), "arrows" in caption.text), ("false", False))
        self.press("a")
        self.assertEqual(button.get_attribute("aria-pressed"), "true")
        self.until(lambda: "20 times" in caption.text)  # once there are enough matches
        self.browser.save_screenshot(str(SCREENSHOTS / "rows.png"))
        button.click()
        self.until(lambda: "arrows" not in caption.text)
        self.assertEqual(self.console(), [])

    def test_the_chart_of_the_drift(self):
        self.open()
        rows = {"matches": 700, "rows_px": 0.3, "rows_left_px": 0.1, "offset_px": 0, "offset_deviation_px": 0}
        both = {**rows, "offset_px": -0.4, "offset_deviation_px": 0.1}
        labels, (first, second, band, offset) = self.browser.execute_async_script(
            DRIFT_CHART, [None, rows, rows, both, both, None, None, None, None, rows, both])
        self.assertEqual(labels[:6], ["−10 s", "−5 s", "now", "−0.5 px", "0 px", "0.5 px"])
        x, y = (lambda second: 46 + 24.8 * second), (lambda value: 48 - 64 * value)  # of 300 x 96

        def check(points, expected):
            self.assertEqual([point[0] for point in points], [point[0] for point in expected])
            for point, wanted in zip(points, expected):
                numpy.testing.assert_allclose(point[1:], wanted[1:], atol=0.11)
        for curve, value in ((first, 0.3), (second, 0.1)):
            check(curve, [("ML"[i not in (1, 9)], x(i), y(value)) for i in (1, 2, 3, 4, 9, 10)])  # with a gap
        check(offset, [("M", x(3), y(-0.4)), ("L", x(4), y(-0.4)), ("M", x(10), y(-0.4))])
        check(band, [("M", x(3), y(-0.3)), ("L", x(4), y(-0.3)), ("L", x(4), y(-0.5)), ("L", x(3), y(-0.5)), ("Z",),
                     ("M", x(10), y(-0.3)), ("L", x(10), y(-0.5)), ("Z",)])
        self.assertEqual(self.console(), [])

    def why_unhealthy(self, collector, rate_hz):
        """What is wrong with the page as it is now; empty if it is healthy."""
        read, wrong = self.run_script(READ), []
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
        self.run_script("const tick = performance.now(), wall = Date.now(); performance.now = () => tick; Date.now = () => wall;")
        try:
            state = None
            while state != (state := self.run_script(READ)):
                time.sleep(0.1)  # messages on their way are drawn
            yield
        finally:
            self.run_script("delete performance.now; Date.now = () => new Date().getTime();")
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
                print(f"skipped in part: other programs use {100 * share:.0f} % of the processors: no picture ({name}); ./dev test -R web/test_page")
                return
            self.assertLess(time.monotonic(), deadline, wrong)
            time.sleep(0.2)

    def test_pictures_of_the_documentation_show_a_healthy_page(self):
        rate_hz = 8
        self.open("source.width=640", "source.height=480", f"source.rate_hz={rate_hz}")
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

    def wait_full_charts(self):
        """Until the charts have some seconds of data."""
        self.until(lambda: any(re.fullmatch("−\\d+ s", label) and int(label[1:-2]) >= 8 for chart in self.run_script(CHARTS) for label in chart["labels"]))

    def test_marks_of_the_colour_scale_stand_at_their_colours(self):
        self.open()
        collector = self.collect()
        for size in ((1400, 980), (700, 980)):  # marks follow the width of the page
            self.browser.set_window_size(*size)
            self.addCleanup(self.browser.set_window_size, 1400, 980)
            self.wait_frames(3)
            sequence, width, height, text, marks = self.run_script(SCALE + PIXELS.replace("];", ", marks];"), "#depth .image")
            pixels = numpy.frombuffer(base64.b64decode(text), numpy.uint8).reshape(height, width, 4)
            frame = self.until(lambda: collector.frames.get(sequence))
            c, known = frame.calibration, frame.disparity != 0xFFFF
            self.assertGreaterEqual(len(marks), 4)
            for mark, following in zip(marks, marks[1:]):
                self.assertLessEqual(following["right"], mark["left"])  # the nearest comes first, at the right
            compared = 0
            for mark in marks:
                disparity = 16 * (c.fx * c.baseline_m / float(re.fullmatch(r"([\d.]+) m", mark["text"])[1]) - (c.cx - c.cx_right))
                there = known & (numpy.abs(frame.disparity.astype(float) - disparity) <= 1)
                if there.any():
                    compared += 1
                    numpy.testing.assert_allclose(numpy.median(pixels[there][:, :3], axis=0), mark["colour"], atol=16, err_msg=mark["text"])
            self.assertGreaterEqual(compared, 3)

    def test_charts_have_axes_and_are_full(self):
        self.open()
        self.wait_full_charts()
        charts = {chart["id"]: chart for chart in self.run_script(CHARTS)}
        for name, unit in (("chart-rate", "/s"), ("chart-latency", " ms"), ("chart-stages", " ms")):
            self.assertGreaterEqual(charts[name]["filled"], 0.9, name)
            left, middle, right, *values = charts[name]["labels"]
            self.assertRegex(left, r"^−\d+ s$")
            self.assertAlmostEqual(int(middle[1:-2]), int(left[1:-2]) / 2, delta=1)
            self.assertEqual(right, "now")
            self.assertEqual(values[0], f"0{unit}")
            self.assertTrue(all(value.endswith(unit) for value in values), values)
            low, half, high = (float(value.removesuffix(unit)) for value in values)
            self.assertAlmostEqual(half, high / 2)
        for chart in charts.values():
            self.assertFalse(chart["isPlain"], chart)  # each curve has a colour of its own
            self.assertLessEqual(set(chart["legend"]), set(chart["colours"]))
            self.assertGreaterEqual(len(set(chart["legend"])), 2)
        self.assertEqual(charts["histogram"]["labels"][:3], ["0", "grey level", "255"])
        self.assertTrue(all(label.endswith(" %") for label in charts["histogram"]["labels"][3:]))
        self.assertEqual(self.console(), [])

    def test_keys_open_every_view(self):
        self.open()
        for key, view in zip("7654321", ("calibrate", "cameras", "cloud", "top", "depth", "picture", "all")):
            self.press(key)
            self.assertTrue(self.browser.find_element(By.CSS_SELECTOR, f"nav [data-view={view}]").get_attribute("aria-pressed") == "true")
            self.wait_frames(3)
            if view != "all":
                shown = [each.get_attribute("id") for each in self.browser.find_elements(By.CSS_SELECTOR, "#views figure") if each.is_displayed()]
                self.assertEqual(shown, [view])
                self.browser.save_screenshot(str(SCREENSHOTS / f"{view}.png"))
        self.assertEqual(self.console(), [])

    def test_both_cameras_with_sharpness(self):
        self.open("publish.right=true")
        self.press("6")
        self.until(lambda: "sharpness left" in self.browser.find_element(By.CSS_SELECTOR, "#cameras figcaption").text)
        self.browser.find_element(By.CSS_SELECTOR, "#cameras").click()
        self.press(Keys.ARROW_RIGHT)
        self.assertEqual(self.console(), [])

    def test_a_live_calibration_is_shown(self):
        """The command opens its view; what it says comes from its file, here once with a board that a test holds."""
        self.open("calibration=none")
        command = self.start("parallax", "calibrate", "--live", "--board", "9x6", "--square", "0.03", "--socket", self.socket,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        words = self.browser.find_element(By.CSS_SELECTOR, "#calibrate .words")
        self.until(lambda: words.text == "show the whole board to both cameras")
        self.assertEqual(self.run_script("return parallax.view"), "calibrate")
        self.until(lambda: "0 pairs of 12" in self.browser.find_element(By.CSS_SELECTOR, "#calibrate figcaption").text)
        state_file = pathlib.Path(f"{self.socket}.calibrating")
        state = json.loads(state_file.read_text())
        command.send_signal(signal.SIGSTOP)  # from here on the test holds the board

        state["left"] |= {"parts": [[1, 0, 0, 0], [0] * 4, [0] * 4], "kept": [[[10, 10], [70, 10], [70, 70], [10, 70]]], "corners": [[40, 40]]}
        state |= {"state": "kept", "words": "tilt the board: its left side nearer to the cameras", "pairs": 1}
        fresh = pathlib.Path(f"{self.socket}.fresh")

        def holds(looked=itertools.count(1000)):
            fresh.write_text(json.dumps(state | {"looked": next(looked)}))
            fresh.replace(state_file)
            return words.text.startswith("tilt the board")

        self.until(holds)
        self.wait_frames(2)
        _, pixels = self.pixels("#calibrate .left")
        coloured = (pixels[:, :, :3].max(axis=2).astype(int) - pixels[:, :, :3].min(axis=2)) > 20
        self.assertFalse(coloured[15:30, 15:30].any())  # this part was seen ...
        self.assertTrue(coloured[100:150, 100:150].all())  # ... and these were not
        self.assertTrue((pixels[40, 39:42, 1] > pixels[40, 39:42, 0]).all())  # the corner is green
        self.assertTrue(coloured[40, 9:12].any())  # the board that was kept
        self.browser.save_screenshot(str(SCREENSHOTS / "calibrate.png"))

        state_file.unlink()
        self.until(lambda: words.text == "no calibration runs: parallax calibrate --live")
        command.send_signal(signal.SIGCONT)
        self.assertEqual(self.console(), [])

    def test_a_click_measures(self):
        self.open()
        picture = self.browser.find_element(By.CSS_SELECTOR, "#picture .overlay")
        picture.click()
        self.until(lambda: "ahead" in self.text("pixel") or "nothing is known" in self.text("pixel"))
        point = self.run_script("return parallax.frame && document.getElementById('pixel').textContent.match(/^(\\d+), (\\d+)/).slice(1)")
        self.assertAlmostEqual(int(point[0]), 160, delta=2)
        self.browser.find_element(By.ID, "picture").send_keys(Keys.ARROW_RIGHT)
        self.until(lambda: self.text("pixel").startswith(f"{int(point[0]) + 1}, "))

    def test_wifi_mode_shows_nearly_the_same(self):
        self.open()
        collector = self.collect()
        self.press("w")
        self.until(lambda: self.run_script("return Boolean(parallax.frame.left?.bitmap)"))
        self.wait_frames(3)
        sequence, pixels = self.pixels("#picture .image")
        frame = self.until(lambda: collector.frames.get(sequence))
        self.assertLess(numpy.abs(pixels[:, :, 0].astype(int) - frame.left).mean(), 12)
        self.assertEqual(self.pixels("#depth .image")[1].shape[:2], (120, 160))
        self.press("w")
        self.until(lambda: self.run_script("return Boolean(parallax.frame.left?.data)"))
        self.assertEqual(self.console(), [])

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
        self.until(lambda: self.run_script(SAID) == UNKNOWN)
        self.assertLess(time.monotonic() - begin, 10)  # 1 s, on a busy machine
        silent_ms = self.run_script("return performance.now() - parallax.link.newsAt")
        self.until(lambda: self.run_script("return performance.now() - parallax.link.newsAt") < silent_ms)  # it gives the connection up
        self.assertEqual(self.run_script(SAID), UNKNOWN)
        os.kill(self.web.pid, signal.SIGCONT)
        self.wait_go()

    def test_a_page_that_has_heard_nothing_yet_says_unknown(self):
        """Figures come once a second: the server stands still before the first ones."""
        self.open()
        self.browser.refresh()
        os.kill(self.web.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, self.web.pid, signal.SIGCONT)
        self.until(lambda: self.text("state") == "no connection")
        self.assertEqual(self.run_script(SAID), UNKNOWN | {"verdict": "unknown no connection"})

    def test_a_service_that_stands_still_is_not_go(self):
        """Messages go on, and their frame is old."""
        self.open_with_go()
        group = [self.daemon.pid, *(int(each) for each in pathlib.Path(f"/proc/{self.daemon.pid}/task/{self.daemon.pid}/children").read_text().split())]
        for pid in group:
            os.kill(pid, signal.SIGSTOP)
            self.addCleanup(os.kill, pid, signal.SIGCONT)
        self.until(lambda: self.text("verdict") != "GO" and self.text("state") != "running")
        said = self.run_script(SAID)
        self.assertEqual(said["vivid"], 0)
        self.assertEqual([said["obstacles"], said["drop"]], ["unknown", "drops: unknown"])

    def test_a_hidden_tab_wakes_up_without_old_news(self):
        self.open_with_go()
        hide = "Object.defineProperty(document, 'hidden', { value: arguments[0], configurable: true }); document.dispatchEvent(new Event('visibilitychange'));"
        self.assertEqual(self.run_script(hide + SAID, True), UNKNOWN)
        self.run_script(hide, False)
        self.wait_go()
        for tick, wall in ((5000, 0), (0, 5000), (0, -5000)):  # no news; asleep while one clock stood still; the other one was set
            self.assertGreaterEqual(self.run_script(
                "return parallax.link.sinceMs({ tick: performance.now() - arguments[0], wall: Date.now() - arguments[1] })", tick, wall), 4999)
        self.assertIsNone(self.run_script("return Number.isFinite(parallax.link.sinceMs(null)) || null"))  # nothing was answered yet

    def test_a_token_opens_the_page_once(self):
        token = pathlib.Path(self.directory, "token")
        token.write_text("a-token-of-some-length\n")
        token.chmod(0o600)
        self.start_daemon()
        self.start_web(f"web.token_file={token}")
        self.browser.get(f"http://127.0.0.1:{self.port}/")
        self.assertIn("a token is needed", self.browser.find_element(By.TAG_NAME, "body").text)
        self.browser.get(f"http://127.0.0.1:{self.port}/?token=a-token-of-some-length")
        self.wait_frames(2)
        self.assertEqual(self.browser.current_url, f"http://127.0.0.1:{self.port}/")

    def test_behind_a_proxy_with_a_prefix_it_works_the_same(self):
        token = pathlib.Path(self.directory, "token")
        token.write_text("a-token-of-some-length\n")
        token.chmod(0o600)
        self.start_daemon()
        self.start_web(f"web.token_file={token}")
        proxy = Prefix(self.port)
        self.addCleanup(proxy.server_close)
        self.addCleanup(proxy.shutdown)
        page = f"http://127.0.0.1:{proxy.server_address[1]}/robot/"
        self.browser.get("about:blank")  # as in open
        self.browser.get_log("browser")
        self.browser.get(f"{page}?token=a-token-of-some-length")
        self.wait_frames(3)
        self.assertEqual(self.browser.current_url, page)
        self.until(lambda: self.browser.find_elements(By.CSS_SELECTOR, "#files a[href^='blackbox/']"))
        self.assertEqual(self.console(), [])

    def test_recordings_can_be_kept_and_fetched(self):
        self.open()
        self.start_service("parallax-recorder", stderr=subprocess.DEVNULL)
        self.until(lambda: os.path.exists(f"{self.directory}/r"))
        for _ in range(6):  # what the recorder has by then depends on the machine
            self.press("r")
            self.wait_frames(10)
            self.press("r")
            self.until(lambda: not self.text("kept").startswith(("recording", "the flight recorder is writing")))
            if "pairs are in" in self.text("kept"):
                break
        self.assertIn("pairs are in", self.text("kept"))
        link = self.until(lambda: self.browser.find_elements(By.CSS_SELECTOR, "#files a[href^='recordings/']"))[0]
        self.assertEqual(self.run_script("return fetch(arguments[0]).then(answer => answer.arrayBuffer()).then(data => data.byteLength)",
                                         link.get_attribute("href")),
                         os.path.getsize(f"{self.directory}/recordings/{link.text}"))


if __name__ == "__main__":
    unittest.main()
