# SPDX-License-Identifier: Apache-2.0
"""What the views of the page draw, pixel by pixel: frames, obstacles, drops, the map, arrows, the colour scale."""
import base64
import json
import re
import unittest
import urllib.request

import numpy

from page import Page
from programs import WAIT_S


class Drawing(Page):
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
                x, z = self.probe("fromAbove", pitch, roll, seen.tolist())
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

    def test_the_picture_and_the_points_are_coloured(self):
        self.open("colour.enabled=true")
        collector = self.collect()
        self.wait_frames(3)
        sequence, pixels = self.pixels("#picture .image")
        frame = self.until(lambda: collector.frames.get(sequence))
        numpy.testing.assert_array_equal(pixels[:, :, :3], frame.colour)
        self.assertIsNone(self.run_script("return parallax.frame.left ?? null"))  # it is not sent as well
        self.assertEqual(self.probe("drawPoint", [200, 100, 50]), [200, 100, 50])
        grey = self.probe("drawPoint", [128])
        self.assertGreater(grey[1], grey[0])  # without colour the tint is that of the height: low is green
        self.press("w")
        self.until(lambda: self.run_script("return Boolean(parallax.frame.colour?.bitmap)"))
        self.wait_frames(3)
        sequence, pixels = self.pixels("#picture .image")
        frame = self.until(lambda: collector.frames.get(sequence))
        self.assertLess(numpy.abs(pixels[:, :, :3].astype(int) - frame.colour).mean(), 15)
        self.assertEqual(self.console(), [])

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

    def test_obstacles_are_drawn_and_listed(self):
        self.open()
        self.until(lambda: self.text("obstacles") not in ("", "unknown"))
        _, pixels = self.pixels("#picture .overlay")
        self.assertGreater((pixels[:, :, 3] > 0).sum(), 100)
        self.assertRegex(self.text("obstacles"), r"#\d+ \w+ \d+\.\d m")
        for name in ("top", "cloud"):  # something is drawn: more than one colour
            colours = self.probe("countColours", f"#{name} canvas")
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
        self.assertEqual(self.probe("confirmedTracks", frames), shown)
        self.assertEqual(self.console(), [])

    def test_obstacles_follow_their_outline(self):
        self.open()
        nothing = [0, 0, 0, 0]
        level = {"pitch_rad": 0, "roll_rad": 0, "camera_height_m": 1}
        for ground, near_row, far_row in ((level, 198, 148), (None, 218, 218), ({**level, "camera_height_m": 3}, 218, 218)):
            # The top view is 320 x 240 px, with 22.56 px a metre and the camera at 160, 232.8.
            (near, far), picture, top = self.probe(
                "drawWall", ground, [(90, near_row), (125, near_row), (150, near_row), (200, far_row), (200, far_row - 8)],
                [(145, 165), (152, 165), (158, 165), (160, 130), (180, 97)])
            self.assertEqual(picture, [near, nothing, near, far, nothing])
            self.assertEqual([top[0], *top[2:]], [near, near, near, near])  # the whole line has one colour
            self.assertNotEqual(top[1], near)
        self.assertEqual(self.console(), [])

    def test_an_edge_of_a_drop_is_drawn(self):
        self.open()
        self.until(lambda: self.text("drop") == "no drop is seen")  # of the scene
        # The ground at Z is in row 100 + 300 / Z. The top view is as above.
        picture, top, caption, words = self.probe(
            "drawDrop", [(120, 200), (120, 203), (150, 190), (200, 150), (200, 200), (280, 130), (40, 130)], [(149, 165), (180, 97), (149, 130)])
        white, nothing = [255] * 4, [0] * 4
        self.assertEqual([picture[0], *picture[2:]], [white, nothing, white, nothing, nothing, nothing])
        self.assertEqual(picture[1][:3], [0, 0, 0])  # its seam
        self.assertEqual(top[:2], [white] * 2)
        self.assertNotEqual(top[2], white)
        self.assertIn("white line: drop 3.0 m ahead", caption)
        self.assertEqual(words, ["drop 3.0 m ahead", "no drop is seen", "drops: unknown"])
        self.assertEqual(self.console(), [])

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
            free, occupied, drop, unknown, side = self.probe(
                "drawMap", status, base64.b64encode(cells).decode(), [(int(x), int(y)) for x, y in seen])
            self.assertEqual(free.index(max(free[:3])), 1)  # green
            self.assertEqual(occupied.index(max(occupied[:3])), 0)  # red
            self.assertEqual(drop.index(max(drop[:3])), 2)  # violet
            self.assertEqual(unknown, [0] * 4)
            self.assertEqual((side.index(max(side[:3])), side[3] > 100), (1, True))  # green, and no cell
        self.assertEqual(self.console(), [])

    def test_arrows_show_the_rows_20_times_as_long(self):
        self.open()
        drift = {"matches": 700, "pitch_rad": 0.0005, "roll_rad": 0.004, "bend_rad": -0.004, "scale": 0.001}
        text, caption = self.probe("drawArrows", drift)
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
        text, caption = self.probe("drawArrows", None)
        self.assertIn("not measured", caption)
        self.assertFalse(numpy.frombuffer(base64.b64decode(text), numpy.uint8).reshape(240, 320, 4)[:200].any())

    def test_marks_of_the_colour_scale_stand_at_their_colours(self):
        self.open()
        collector = self.collect()
        for size in ((1400, 980), (700, 980)):  # marks follow the width of the page
            self.browser.set_window_size(*size)
            self.addCleanup(self.browser.set_window_size, 1400, 980)
            self.wait_frames(3)
            sequence, width, height, text, marks = self.probe("depthAndScale")
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


if __name__ == "__main__":
    unittest.main()
