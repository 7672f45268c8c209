# SPDX-License-Identifier: Apache-2.0
"""From disparity to metres, vectorised, with the numbers of plx_disparity_px and plx_point."""
from __future__ import annotations

import functools

import numpy
from numpy.typing import NDArray

from ._layout import DISPARITY_INVALID, DISPARITY_ONE
from .records import Calibration


@functools.lru_cache(maxsize=8)
def _pixels(min_disparity: int) -> NDArray[numpy.float32]:
    """The disparity in pixels of every value of a plane."""
    values = numpy.arange(DISPARITY_INVALID + 1, dtype=numpy.float32)
    pixels: NDArray[numpy.float32] = values / numpy.float32(DISPARITY_ONE) + numpy.float32(min_disparity)
    pixels[DISPARITY_INVALID] = numpy.nan
    return pixels


@functools.lru_cache(maxsize=8)
def _distances(c: Calibration, min_disparity: int) -> NDArray[numpy.float64]:
    """The distance in metres of every value of a plane: Z = f b / d (Hartley, Zisserman: Multiple View Geometry, 2004, chapter 12),
    where d counts from the disparity at infinity, cx - cx_right."""
    disparity = _pixels(min_disparity).astype(numpy.float64) - (c.cx - c.cx_right)
    with numpy.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        distance = c.fx * c.baseline_m / disparity
        shown = distance.astype(numpy.float32)
    distance[~(numpy.isfinite(shown) & (shown > 0))] = numpy.nan
    return distance


def disparity_px(plane: NDArray[numpy.uint16], min_disparity: int) -> NDArray[numpy.float32]:
    return _pixels(min_disparity)[plane]


def depth(plane: NDArray[numpy.uint16], min_disparity: int, calibration: Calibration) -> NDArray[numpy.float32]:
    return _distances(calibration, min_disparity).astype(numpy.float32)[plane]


def points(plane: NDArray[numpy.uint16], min_disparity: int, calibration: Calibration) -> NDArray[numpy.float32]:
    distance = _distances(calibration, min_disparity)[plane]
    rows, columns = plane.shape
    result = numpy.empty((rows, columns, 3), numpy.float32)
    result[..., 0] = (numpy.arange(columns) - calibration.cx) * distance / calibration.fx
    result[..., 1] = (numpy.arange(rows)[:, None] - calibration.cy) * distance / calibration.fy
    result[..., 2] = distance
    return result


def depth_sigma(depth_m: NDArray[numpy.float32], confidence: NDArray[numpy.uint8], sigma_px: NDArray[numpy.float32],
                calibration: Calibration) -> NDArray[numpy.float32]:
    """|dZ / dd| = Z^2 / (f b) times the standard deviation of the disparity, which is unknown where the table has 0."""
    known = numpy.where(sigma_px > 0, sigma_px, numpy.nan).astype(numpy.float32)[confidence]
    result: NDArray[numpy.float32] = depth_m * depth_m / numpy.float32(calibration.fx * calibration.baseline_m) * known
    return result
