# SPDX-License-Identifier: Apache-2.0
"""Frames of a real service: views in place, metres, obstacles, copies."""
import ctypes
import dataclasses
import math
import time
import unittest

import service
import numpy
import parallax_stereo
from parallax_stereo import Plane, TrackStatus, _layout
from parallax_stereo._library import library

WAIT_S = service.WAIT_S
WIDTH, HEIGHT = 326, 240  # rows have padding


def view_of(frame):
    """The struct plx_view of FRAME, as plx_point reads it."""
    view = numpy.zeros(1, _layout.VIEW)
    view["frame"], view["layout"], view["min_disparity"] = frame._memory.ctypes.data, [tuple(plane) for plane in frame._layout], frame.min_disparity
    for plane in (Plane.DISPARITY, Plane.SCAN):
        view["plane"][0, plane] = frame.planes[plane].ctypes.data
    return view


class Frames(service.Service):
    def setUp(self):
        super().setUp()
        self.start_daemon(f"source.width={WIDTH}", "publish.right=true", "colour.enabled=true", "publish.slots=64")
        self.client = self.connect()

    def frames(self):
        """Frames in place, again and again: this machine may be too slow for one."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            yield self.client.next(timeout=WAIT_S)
        self.fail("every frame was overwritten")

    def whole(self, look):
        """What LOOK makes of a frame that was not overwritten meanwhile."""
        for view in self.frames():
            try:
                with view as frame:
                    seen = look(frame)
                return seen
            except parallax_stereo.Overwritten:
                continue

    def test_views_are_in_place_and_read_only(self):
        def look(frame):
            self.assertEqual(set(frame.planes), set(Plane))
            for plane, image in frame.planes.items():
                self.assertIs(getattr(frame, plane.name.lower()), image)
                self.assertTrue(image.size and not image.flags.writeable and not image.flags.owndata)
                self.assertIn(image.ctypes.data, self.client._mapping)
                with self.assertRaises(ValueError):
                    image.flags.writeable = True
                with self.assertRaises(ValueError):
                    image[0, 0] = image[0, 0]
            self.assertFalse(frame.obstacle_array.flags.writeable)
            self.assertGreater(frame.left.strides[0], WIDTH)
            self.assertEqual((frame.left.shape, frame.disparity.shape), ((HEIGHT, WIDTH),) * 2)
            self.assertEqual(frame.histogram[0].sum(), WIDTH * HEIGHT)
            self.assertEqual(frame.colour.shape, (HEIGHT, WIDTH, 3))
            luma = (frame.colour.astype(int) @ (77, 150, 29) + 128) >> 8  # the scene has its grey picture as luma
            numpy.testing.assert_array_equal(luma, frame.left)
            self.assertEqual(frame.white_balance, (1, 1, 1))  # the scene's colours are finished
            self.assertGreater(numpy.ptp(frame.colour, axis=2).mean(), 10)
            return frame

        frame = self.whole(look)
        for name in ("left", "planes", "obstacle_array"):
            self.assertRaises(ValueError, getattr, frame, name)  # released
        self.assertRaises(ValueError, frame.copy)

    def test_metres_are_those_of_plx_point(self):
        def look(frame):
            plane, depth, points, pixels = frame.disparity, frame.depth(), frame.points(), frame.disparity_px()
            point, view = (ctypes.c_float * 3)(), view_of(frame)
            for y in range(0, HEIGHT, 5):
                for x in range(0, WIDTH, 3):
                    if library.plx_point(ctypes.c_void_p(view.ctypes.data), x, y, point):
                        self.assertTrue(math.isnan(depth[y, x]) and numpy.isnan(points[y, x]).all())
                        self.assertIn(plane[y, x], (0, 0xFFFF))  # at infinity, unknown
                    else:
                        self.assertEqual(points[y, x].tolist(), list(point))
                        self.assertEqual(depth[y, x], point[2])
            return plane.copy(), depth, points, pixels, frame.calibration, frame.min_disparity, frame.depth(dense=True)

        plane, depth, points, pixels, c, least, dense = self.whole(look)
        known = (plane != 0xFFFF) & (plane != 0)
        self.assertGreater(known.mean(), 0.5)
        self.assertEqual((depth.dtype, points.dtype, points.shape), (numpy.float32, numpy.float32, (HEIGHT, WIDTH, 3)))
        disparity = plane[known] / 16 + least
        numpy.testing.assert_array_equal(pixels[known], disparity.astype(numpy.float32))
        numpy.testing.assert_allclose(depth[known], c.fx * c.baseline_m / (disparity - (c.cx - c.cx_right)), rtol=1e-6)
        self.assertTrue(numpy.isnan(depth[~known]).all() and numpy.isnan(pixels[plane == 0xFFFF]).all())
        self.assertGreater(numpy.isfinite(dense).sum(), known.sum())

    def test_obstacles_are_those_of_the_array(self):
        def look(frame):
            return () if frame.blind else frame.obstacles, frame.obstacle_array.copy(), frame

        deadline = time.monotonic() + WAIT_S
        obstacles = ()
        while not obstacles and time.monotonic() < deadline:
            obstacles, array, frame = self.whole(look)
        self.assertIs(frame.obstacles, obstacles)  # also after the release
        in_view = array[array["status"] != TrackStatus.LOST]
        self.assertEqual(len(obstacles), len(in_view))
        for obstacle, row in zip(obstacles, in_view):
            for field in dataclasses.fields(obstacle):
                if field.name != "outline_m":
                    numpy.testing.assert_array_equal(getattr(obstacle, field.name), row[field.name])
            with numpy.errstate(divide="ignore"):
                metres = 16 * frame.calibration.fx * frame.calibration.baseline_m / row["outline"]
            numpy.testing.assert_allclose(obstacle.outline_m, metres, rtol=1e-6)
            self.assertLess(abs(obstacle.outline_m.min() / obstacle.nearest_m - 1), 0.2)
            self.assertFalse(obstacle.outline_m.flags.writeable)
            self.assertIsInstance(obstacle.status, TrackStatus)
            self.assertIsInstance(obstacle.moving, bool)
        with self.assertRaises(dataclasses.FrozenInstanceError):
            obstacles[0].x = 1
        self.assertRegex(repr(obstacles[0]), r"^<Obstacle track \d+, \w+: \w+ [0-9.]+ x [0-9.]+ m at x .* m>$")

    def test_drops_are_those_of_the_scan(self):
        """The scene has none: two runs of columns are written into a copy, the second up to the narrower last column."""
        deadline = time.monotonic() + WAIT_S
        while (frame := self.client.read(timeout=WAIT_S)).blind and time.monotonic() < deadline:
            pass
        self.assertEqual(frame.drops, ())
        frame._memory.flags.writeable = True
        scan = frame._plane(Plane.SCAN)[0]
        scan["free"][10:30], scan["known"][10:30] = 320, 3
        scan["free"][20] = 480
        scan["free"][70:], scan["known"][70:] = 240, 3
        scan["free"][5], scan["known"][5] = 0xFFFF, 3  # of a damaged memory
        depth_scale = 16 * frame.calibration.fx * frame.calibration.baseline_m
        first, second = frame.drops
        self.assertEqual((first.x, first.width, second.x, second.width), (40, 80, 280, WIDTH - 280))
        self.assertAlmostEqual(first.nearest_m, depth_scale / 480, places=6)
        numpy.testing.assert_allclose(first.edge_m, [depth_scale / each for each in scan["free"][10:30]], rtol=1e-6)
        self.assertEqual((first.edge_m.shape, first.edge_m.flags.writeable, second.edge_m.shape), ((20,), False, (12,)))
        library.plx_drop_nearest.restype = ctypes.c_float
        view = view_of(frame)
        for drop in (first, second):
            in_c = library.plx_drop_nearest(ctypes.c_void_p(view.ctypes.data), drop.x, drop.width)
            self.assertEqual(numpy.float32(drop.nearest_m), numpy.float32(in_c))
        self.assertRegex(repr(first), r"^<Drop in columns 40 to 119, from [0-9.]+ m>$")
        for blind, is_blind in ((parallax_stereo.Blindness.OBSTACLES_OFF, False), (parallax_stereo.Blindness.NO_GROUND, True)):
            frame._head["blind"] = blind
            if is_blind:
                self.assertRaises(parallax_stereo.Blind, lambda: frame.drops)
            else:
                self.assertEqual(frame.drops, (first, second))

    def test_numbers(self):
        frame = self.whole(lambda frame: frame)
        self.assertTrue(frame.simulated and frame.is_calibrated and frame.fresh and 0 < frame.age < WAIT_S)
        self.assertEqual((frame.width, frame.height, frame.disparities), (WIDTH, HEIGHT, 64))
        self.assertEqual(list(frame.stage_us), list(parallax_stereo.Stage))
        self.assertGreater(sum(frame.stage_us.values()), 0)
        self.assertEqual(len(frame.capture), 2)
        self.assertAlmostEqual(frame.calibration.cx, (WIDTH - 1) / 2)
        if frame.ground:
            self.assertAlmostEqual(math.hypot(*frame.ground.normal), 1, places=5)
        if frame.motion:
            rotation = frame.motion.motion.rotation
            numpy.testing.assert_allclose(rotation @ rotation.T, numpy.eye(3), atol=1e-9)
            self.assertEqual(frame.motion.covariance.shape, (6, 6))
        self.assertRegex(repr(frame), rf"^<Frame \d+ of epoch \d+: {WIDTH} x {HEIGHT}, synthetic, ")
        header = self.client.last_header()
        self.assertGreaterEqual(header.sequence, frame.sequence)
        self.assertEqual(header.epoch, frame.epoch)
        self.assertIsInstance(() if header.blind else header.obstacles, tuple)

    def test_copies_are_private_and_equal(self):
        def look(frame):
            copy = frame.copy()
            for plane, image in frame.planes.items():
                numpy.testing.assert_array_equal(copy.planes[plane], image)
            return copy, () if frame.blind else frame.obstacles, frame.depth()

        copy, obstacles, depth = self.whole(look)
        self.assertEqual(() if copy.blind else copy.obstacles, obstacles)
        numpy.testing.assert_array_equal(copy.depth(), depth)
        self.assertFalse(copy.left.flags.writeable)
        whole = self.client.read(timeout=WAIT_S)
        self.assertGreater(whole.sequence, copy.sequence)
        self.assertEqual(whole.missed, whole.sequence - copy.sequence - 1)
        self.assertEqual(set(whole.planes), set(Plane))
        self.assertFalse(whole.left.flags.writeable)

    def test_locate_tells_where_a_box_is(self):
        """Two walls are drawn into a copy: 20 px of disparity on the left, 40 px on the right."""
        frame = self.client.read(timeout=WAIT_S)
        frame._memory.flags.writeable = True
        dense, c = frame._plane(Plane.DENSE), frame.calibration
        dense[:, :100], dense[:, 100:] = [numpy.uint16((pixels + c.cx - c.cx_right - frame.min_disparity) * 16) for pixels in (20, 40)]
        frame._plane(Plane.CONFIDENCE)[:], frame._plane(Plane.FILLED)[:] = 255, 0
        frame._head["ground"]["valid"] = 0
        near, far = c.fx * c.baseline_m / 40, c.fx * c.baseline_m / 20
        left, right, beside, both = frame.locate([(20, 50, 60, 80), (150, 50, 60, 80), (5000, 0, 9, 9), (60, 50, 80, 80)])
        self.assertTrue(left and right and not beside and not both)
        self.assertAlmostEqual(left.distance_m, far, delta=0.02 * far)
        self.assertAlmostEqual(right.distance_m, near, delta=0.02 * near)
        self.assertAlmostEqual(left.position_m[0], (49.5 - c.cx) / c.fx * far, delta=0.02 * far)
        self.assertAlmostEqual(right.size_m[0], 60 / c.fx * near, delta=0.1 * near)
        self.assertGreater(right.share, 0.99)
        self.assertEqual((beside.state, both.state), (parallax_stereo.LocationState.OUTSIDE, parallax_stereo.LocationState.AMBIGUOUS))
        self.assertIsNone(beside.position_m or beside.distance_m or beside.base_m or beside.track or beside.velocity_mps)
        mask = numpy.zeros((80, 80), bool)
        mask[:, :40] = True
        masked, unmasked = frame.locate(numpy.array([(60, 50, 80, 80)] * 2), masks=[mask, None])
        self.assertAlmostEqual(masked.distance_m, far, delta=0.02 * far)
        self.assertFalse(unmasked)
        self.assertEqual(frame.locate(numpy.zeros((0, 4))), ())
        self.assertRegex(repr((left, beside)), r"<Location [0-9.]+ m, sigma [0-9.]+ m>, <Location unknown: outside>")
        for boxes, masks in (([(0, 0, 4, 4)], [numpy.ones((4, 5))]), ([(0, 0, 4, 4)], []), ([(math.nan, 0, 4, 4)], None), ([(1, 2, 3)], None)):
            self.assertRaises(ValueError, frame.locate, boxes, masks)

        released = self.whole(lambda frame: (frame, frame.locate([(0, 0, WIDTH, HEIGHT)])))[0]
        self.assertRaises(ValueError, released.locate, [(0, 0, 9, 9)])

    def test_service_says_what_it_does(self):
        deadline = time.monotonic() + WAIT_S
        while self.client.state not in (parallax_stereo.State.RUNNING, parallax_stereo.State.DEGRADED):
            self.assertLess(time.monotonic(), deadline, self.client.state)
            time.sleep(0.01)
        self.assertEqual(self.client.restarts, 0)
        self.assertIsInstance(self.client.reason, str)
        self.assertIn(f"width: {WIDTH}", parallax_stereo.config(self.socket))
        with self.assertRaises(parallax_stereo.PermissionDenied) as caught:
            self.client.motion_hint(1, 2, numpy.eye(3), (0, 0, 0))
        self.assertIsInstance(caught.exception, PermissionError)


if __name__ == "__main__":
    unittest.main()
