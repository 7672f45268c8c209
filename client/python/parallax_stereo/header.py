# SPDX-License-Identifier: Apache-2.0
"""What a frame says besides its planes: numbers, and obstacles."""
from __future__ import annotations

import ctypes
from typing import Optional

import numpy
from numpy.typing import NDArray

from . import _layout, records
from ._library import library
from .errors import Blind, NotFound, check
from .flags import Blindness, Health, Source, Stage, State, TrackStatus

Bytes = NDArray[numpy.uint8]


class Header:
    """The numbers and obstacles of a frame. The numbers are a private copy from the start."""

    def __init__(self, memory: Bytes, obstacle_count: int) -> None:
        self._memory: Optional[Bytes] = memory
        self._head = memory[:_layout.HEAD.itemsize].copy().view(_layout.HEAD)
        self._obstacle_count = obstacle_count
        self._obstacles: Optional[tuple[records.Obstacle, ...]] = None

    @classmethod
    def _of_memory(cls, memory: Bytes) -> Header:
        memory.flags.writeable = False
        return Header(memory, int(memory[:_layout.HEAD.itemsize].view(_layout.HEAD)["obstacle_count"][0]))

    def _open_memory(self) -> Bytes:
        if self._memory is None:
            raise ValueError("the frame was released: take planes and obstacles inside its `with`, or keep frame.copy()")
        return self._memory

    def __repr__(self) -> str:
        age = f"{self.age * 1000:.0f} ms old" if self.age < 1e6 else "of unknown age"
        return (f"<{type(self).__name__} {self.sequence} of epoch {self.epoch}: {self.width} x {self.height}, {self.source}, "
                f"{self.state}, {self._obstacle_count} obstacles, {age}>")

    def _number(self, name: str) -> int:
        return int(self._head[name][0])

    @property
    def sequence(self) -> int:
        return self._number("sequence")

    @property
    def epoch(self) -> int:
        """Increases with every start of the service; sequence then begins again."""
        return self._number("epoch")

    @property
    def published_ns(self) -> int:
        return self._number("published_ns")

    @property
    def skew_ns(self) -> int:
        return self._number("skew_ns")

    @property
    def pairs_skipped(self) -> int:
        return self._number("pairs_skipped")

    @property
    def width(self) -> int:
        return self._number("width")

    @property
    def height(self) -> int:
        return self._number("height")

    @property
    def min_disparity(self) -> int:
        return self._number("min_disparity")

    @property
    def disparities(self) -> int:
        return self._number("disparities")

    @property
    def region_count(self) -> int:
        return self._number("region_count")

    @property
    def blind_within_m(self) -> float:
        """Nothing nearer is seen."""
        return float(self._head["blind_within_m"][0])

    @property
    def state(self) -> State:
        return State(self._number("state"))

    @property
    def health(self) -> Health:
        return Health(self._number("health"))

    @property
    def blind(self) -> Blindness:
        """Why the frame cannot show obstacles; false: it can."""
        return Blindness(self._number("blind"))

    @property
    def source(self) -> Source:
        return Source(self._number("source"))

    @property
    def simulated(self) -> bool:
        """The service drew the pictures itself."""
        return self.source == Source.SYNTHETIC

    @property
    def is_calibrated(self) -> bool:
        """False: both pictures are as captured, and there is neither disparity nor obstacles."""
        return not self.health & Health.NOT_CALIBRATED

    @property
    def age(self) -> float:
        """Seconds since the left picture was taken, time in suspend included; infinite where that is unknown."""
        nanoseconds = int(library.plx_age_ns(self._head.ctypes.data))
        return nanoseconds / 1e9 if nanoseconds != _layout.UNKNOWN_AGE_NS else float("inf")

    @property
    def realtime_ns(self) -> Optional[int]:
        """When the left picture was taken by the wall clock, nanoseconds since 1970, as ROS and logs have it; None where that is unknown.
        It follows that clock when it is set: ask once for each frame."""
        nanoseconds = ctypes.c_int64()
        code = library.plx_realtime_ns(self._head.ctypes.data, ctypes.byref(nanoseconds))
        if code == NotFound.code:
            return None
        check(code)
        return nanoseconds.value

    @property
    def fresh(self) -> bool:
        """Whether the frame is news now; ask again before a robot acts on it."""
        return bool(library.plx_is_fresh(self._head.ctypes.data))

    @property
    def stage_us(self) -> dict[Stage, int]:
        return dict(zip(Stage, self._head["stage_us"][0].tolist()))

    @property
    def cpu_us(self) -> int | None:
        """Processor time of all threads of the engine since its frame before; None: not known, in its first one."""
        return int(self._head["cpu_us"][0]) or None

    @property
    def capture(self) -> tuple[records.Capture, records.Capture]:
        """Of the left and the right camera."""
        left, right = self._head["capture"][0]
        return records.capture(left), records.capture(right)

    @property
    def calibration(self) -> records.Calibration:
        return records.calibration(self._head["calibration"][0])

    @property
    def ground(self) -> Optional[records.Ground]:
        """None: no ground was found."""
        return records.ground(self._head["ground"][0])

    @property
    def alignment(self) -> Optional[records.Alignment]:
        """None: it was not measured."""
        return records.alignment(self._head["alignment"][0])

    @property
    def drift(self) -> Optional[records.Drift]:
        """None: it was not measured."""
        return records.drift(self._head["drift"][0])

    @property
    def correction(self) -> records.Corrections:
        """Of the calibration: in force and proposed."""
        return records.corrections(self._head["correction"][0])

    @property
    def motion(self) -> Optional[records.Motion]:
        """None: it is unknown."""
        return records.motion(self._head["motion"][0])

    @property
    def mount(self) -> Optional[records.Mount]:
        """Where the left camera is on the robot. None: neither mount nor ground are known."""
        return records.mount(self._head["mount"][0])

    @property
    def white_balance(self) -> Optional[tuple[float, float, float]]:
        """The gains of red, green and blue with which the colour plane was made. None: there is no such plane, or nothing is known of the
        light yet."""
        colour = self._head["colour"][0]
        return tuple(colour["gain"].tolist()) if colour["known"] else None

    @property
    def zones(self) -> tuple[records.Zone, ...]:
        """The zones of the configuration, and what the map says of them."""
        return records.zones(self._head["zone"][0])

    # --- obstacles ---

    @property
    def obstacle_array(self) -> NDArray[numpy.void]:
        """All obstacles as a structured array, in place: sorted by area, tracks that are LOST in this frame last."""
        begin = _layout.OBSTACLES_OFFSET
        return self._open_memory()[begin:begin + self._obstacle_count * _layout.OBSTACLE.itemsize].view(_layout.OBSTACLE)

    @property
    def obstacles(self) -> tuple[records.Obstacle, ...]:
        """The obstacles in view, largest first, without tracks that are LOST. Raises Blind where the frame cannot show any, so that an
        empty tuple says that nothing stands in view."""
        if self.blind:
            raise Blind(f"{library.plx_strerror(Blind.code).decode()}: {self.blind}")
        if self._obstacles is None:
            calibration = self.calibration
            depth_scale = 16 * calibration.fx * calibration.baseline_m if calibration else 0
            everything = records.obstacles(self.obstacle_array.copy(), depth_scale)
            self._obstacles = tuple(obstacle for obstacle in everything if obstacle.status != TrackStatus.LOST)
        return self._obstacles
