# SPDX-License-Identifier: Apache-2.0
"""The enumerations of <parallax/vocabulary.h>, from which toolchain/vocabulary.py writes this file."""
from __future__ import annotations

from ._enums import Flags, Number


class Plane(Number):
    """The planes of a frame, enum plx_plane_id."""
    LEFT = 0
    DISPARITY = 1
    DENSE = 2
    FILLED = 3
    CONFIDENCE = 4
    LABELS = 5
    HISTOGRAM = 6
    RIGHT = 7
    SCAN = 8
    STIXELS = 9
    MAP = 10
    COLOUR = 11


class State(Number):
    """What the service does, enum plx_state."""
    STARTING = 0
    RUNNING = 1
    DEGRADED = 2
    RECOVERING = 3
    FAILED = 4
    STOPPED = 5


class Source(Number):
    """Where the pictures come from, enum plx_source_type. Only V4L2 shows the world as it is now."""
    SYNTHETIC = 0
    REPLAY = 1
    V4L2 = 2


class Clock(Number):
    """The clock of a source, enum plx_clock."""
    MONOTONIC = 0
    REALTIME = 1
    DEVICE = 2
    FILE = 3


class Memory(Number):
    """How a camera's pictures come into memory, enum plx_memory."""
    NONE = 0
    USERPTR = 1
    DMABUF = 2
    MMAP = 3


class Stage(Number):
    """The stages whose time is published, enum plx_stage."""
    CONVERT = 0
    HISTOGRAM = 1
    RECTIFY = 2
    PREFILTER = 3
    CENSUS = 4
    SGM = 5
    CHECK = 6
    REFINE = 7
    GROUND = 8
    STIXELS = 9
    OBSTACLES = 10
    MOTION = 11
    TRACKS = 12
    MAP = 13
    COLOUR = 14


class MotionSource(Number):
    """Where ego-motion comes from, enum plx_motion_source."""
    NONE = 0
    VISUAL = 1


class TrackStatus(Number):
    """What is known of a track in this frame, enum plx_track_status."""
    NEW = 1
    TRACKED = 2
    LOST = 3


class CellKind(Number):
    """What the map knows of a cell, enum plx_cell_kind."""
    UNKNOWN = 0
    FREE = 1
    OCCUPIED = 2
    DROP = 3
    LOST = 4


class VerdictKind(Number):
    """What a robot may do, enum plx_verdict_kind; GO is the largest."""
    STOP = 0
    SLOW = 1
    GO = 2


class LocationState(Number):
    """What Frame.locate says of a box, enum plx_location_state; only KNOWN has a position."""
    NO_DISPARITY = 0
    KNOWN = 1
    OUTSIDE = 2
    ONLY_GROUND = 3
    AMBIGUOUS = 4
    BEYOND_REACH = 5
    BLIND = 6
    RAW = 7


class SizeClass(Number):
    """Class of an obstacle's measured width and height, not of what it is: enum plx_size_class."""
    UNKNOWN = 0
    NARROW = 1
    MEDIUM = 2
    LARGE = 3
    LOW = 4
    WIDE = 5


# The type of an element of each plane: of NumPy, or a structure.
PLANE_ELEMENTS = {
    Plane.LEFT: "uint8",
    Plane.DISPARITY: "uint16",
    Plane.DENSE: "uint16",
    Plane.FILLED: "uint8",
    Plane.CONFIDENCE: "uint8",
    Plane.LABELS: "uint16",
    Plane.HISTOGRAM: "uint32",
    Plane.RIGHT: "uint8",
    Plane.SCAN: "plx_scan",
    Plane.STIXELS: "plx_stixel",
    Plane.MAP: "plx_cell",
    Plane.COLOUR: "plx_rgb",
}


class Blindness(Flags):
    """Why a frame cannot show obstacles, enum plx_blind; Blindness(0): it can."""
    NOT_CALIBRATED = 1 << 0
    OBSTACLES_OFF = 1 << 1
    NO_GROUND = 1 << 2
    NO_PICTURE = 1 << 3

    def _nothing(self) -> str:
        return "it can"


class Reason(Flags):
    """Why a verdict is not go, enum plx_reason_bit; Reason(0): it is."""
    OCCUPIED = 1 << 0
    DROP = 1 << 1
    UNKNOWN = 1 << 2
    LITTLE_DEPTH = 1 << 3
    FAULT = 1 << 4
    NO_MAP = 1 << 5
    NO_ZONES = 1 << 6
    STALE = 1 << 7
    NO_SERVICE = 1 << 8
    SETTLING = 1 << 9

    def _nothing(self) -> str:
        return "none"


class Health(Flags):
    """Faults, enum plx_health; Health(0) is fine."""
    CAMERA_LOST_LEFT = 1 << 0
    CAMERA_LOST_RIGHT = 1 << 1
    NO_FRAMES = 1 << 2
    DROPPED = 1 << 3
    DESYNC = 1 << 4
    TIMESTAMP = 1 << 5
    FROZEN = 1 << 6
    DARK = 1 << 7
    OVEREXPOSED = 1 << 8
    BRIGHTNESS_MISMATCH = 1 << 9
    MISALIGNED = 1 << 10
    LATE = 1 << 11
    OVERLOAD = 1 << 12
    GPU_FALLBACK = 1 << 13
    GROUND_LOST = 1 << 14
    BUFFER_ERROR = 1 << 15
    NOT_CALIBRATED = 1 << 16
    MEMORY_PRESSURE = 1 << 17
    HOT = 1 << 18
    CAMERA_MOVED = 1 << 19
    BLURRED = 1 << 20
    CORRECTIONS_OFF = 1 << 21

    def _nothing(self) -> str:
        return "fine"
