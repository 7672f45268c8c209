# SPDX-License-Identifier: Apache-2.0
"""The charts of the page: axes, labels, curves."""
import unittest

import numpy

from page import Page


class Charts(Page):
    def test_the_chart_of_the_drift(self):
        self.open()
        rows = {"matches": 700, "epipolar_error_px": 0.3, "residual_px": 0.1, "disparity_offset_px": 0, "disparity_offset_deviation_px": 0}
        both = {**rows, "disparity_offset_px": -0.4, "disparity_offset_deviation_px": 0.1}
        labels, (first, second, band, offset) = self.probe(
            "drawDriftChart", [None, rows, rows, both, both, None, None, None, None, rows, both])
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

    def test_charts_have_axes_and_are_full(self):
        self.open()
        self.wait_full_charts()
        charts = {chart["id"]: chart for chart in self.probe("readCharts")}
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


if __name__ == "__main__":
    unittest.main()
