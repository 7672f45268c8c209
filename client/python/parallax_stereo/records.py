# SPDX-License-Identifier: Apache-2.0
"""What a frame says, as frozen dataclasses with the field names of <parallax/frame.h>. Axes: x right, y down, z forward, metres."""
from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy
from numpy.typing import NDArray

from . import _layout
from ._layout import COLUMN_WIDTH, SCAN_DROP, SCAN_NOTHING_FREE
from .flags import Clock, Health, LocationState, Memory, MotionSource, Reason, SizeClass, TrackStatus, VerdictKind

Vector2 = tuple[float, float]
Vector3 = tuple[float, float, float]


@dataclasses.dataclass(frozen=True)
class Capture:
    """One eye's capture, struct plx_capture_info."""
    capture_ns: int
    clock_offset_ns: int
    clock: Clock
    sequence: int
    dropped: int
    exposure_us: int
    gain: float
    masked: int
    memory: Memory


@dataclasses.dataclass(frozen=True)
class Calibration:
    """The pinhole model of the rectified left image, struct plx_calibration_info."""
    fx: float
    fy: float
    cx: float
    cy: float
    cx_right: float
    baseline_m: float


@dataclasses.dataclass(frozen=True)
class Ground:
    """The ground plane, struct plx_ground_info."""
    camera_height_m: float
    pitch_rad: float
    roll_rad: float
    normal: Vector3
    inlier_ratio: float


@dataclasses.dataclass(frozen=True)
class Alignment:
    """How well the rows of the pictures match, struct plx_alignment_info."""
    patches: int
    epipolar_error_px: float
    max_epipolar_error_px: float
    pitch_rad: float
    roll_rad: float
    scale: float


@dataclasses.dataclass(frozen=True)
class Drift:
    """What the newest pictures say about the calibration, struct plx_drift_info."""
    matches: int
    pitch_rad: float
    roll_rad: float
    bend_rad: float
    scale: float
    pitch_deviation_rad: float
    roll_deviation_rad: float
    bend_deviation_rad: float
    scale_deviation: float
    epipolar_error_px: float
    residual_px: float
    max_epipolar_error_px: float
    disparity_offset_px: float
    disparity_offset_deviation_px: float
    curve_px: float
    curve_deviation_px: float
    side_px: float
    side_deviation_px: float


@dataclasses.dataclass(frozen=True)
class Correction:
    """A correction of the calibration, struct plx_correction."""
    pitch_rad: float
    roll_rad: float
    bend_rad: float
    scale: float
    disparity_offset_px: float
    curve_px: float


@dataclasses.dataclass(frozen=True)
class Corrections:
    """The correction in force and the newest proposal, struct plx_correction_info; number 0: there is none."""
    number: int
    proposed_number: int
    applied: Correction
    proposed: Correction


@dataclasses.dataclass(frozen=True, eq=False)
class Pose:
    """A rigid motion: rotation (3, 3), translation (3,)."""
    rotation: NDArray[numpy.float64]
    translation: NDArray[numpy.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class Motion:
    """How the left camera moved, struct plx_motion_info; covariance is (6, 6)."""
    source: MotionSource
    corners: int
    tracked: int
    inliers: int
    breaks: int
    interval_ns: int
    motion: Pose
    covariance: NDArray[numpy.float64]
    pose: Pose


@dataclasses.dataclass(frozen=True)
class Mount:
    """Where the left camera is on the robot, struct plx_mount_info. The six numbers are those of the configuration, 0 where it has none; if
    measured, the pose has height, pitch and roll of this frame's ground instead."""
    known: bool
    measured: bool
    x_m: float
    y_m: float
    z_m: float
    roll_rad: float
    pitch_rad: float
    yaw_rad: float
    base_from_left: Pose


@dataclasses.dataclass(frozen=True, eq=False)
class Map:
    """The ground around the robot, struct plx_map_info and its plane. Cell [row, column] begins at
    ((origin_x + column) * 0.05 m, (origin_y + row) * 0.05 m) of the map's axes."""
    remembers: bool
    origin_x: int
    origin_y: int
    x_m: float
    y_m: float
    yaw_rad: float
    kind: NDArray[numpy.uint8]
    """[200, 200] of CellKind."""
    age_s: NDArray[numpy.float32]
    """Since the cell was seen; infinite: never, or longer ago than 31 s."""
    foot_m: NDArray[numpy.float32]
    """Heights of the ends of what stands there; 0 where nothing does."""
    top_m: NDArray[numpy.float32]

    def cell(self, x: float, y: float) -> tuple[int, int] | None:
        """Row and column of a place in axes of the robot's base now, metres; None: the map does not reach there."""
        c, s = math.cos(self.yaw_rad), math.sin(self.yaw_rad)
        column = math.floor((self.x_m + c * x - s * y) / _layout.MAP_CELL_M) - self.origin_x
        row = math.floor((self.y_m + s * x + c * y) / _layout.MAP_CELL_M) - self.origin_y
        rows, columns = self.kind.shape
        return (row, column) if 0 <= row < rows and 0 <= column < columns else None


@dataclasses.dataclass(frozen=True, eq=False)
class Zone:
    """struct plx_zone_info; polygon (points, 2): x and y in the robot's base."""
    name: str
    polygon: NDArray[numpy.float32]
    active: bool
    reasons: Reason
    verdict: VerdictKind
    nearest_m: float
    known: float
    depth: float


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What the robot may do: struct plx_verdict_now. zone: name of the zone that decides, None: none does."""
    verdict: VerdictKind
    reasons: Reason
    faults: Health
    zone: str | None
    distance_m: float
    speed_mps: float
    sequence: int
    capture_ns: int
    valid_ns: int

    def __bool__(self) -> bool:
        """Whether it is go."""
        return self.verdict == VerdictKind.GO


@dataclasses.dataclass(frozen=True)
class Distance:
    """A distance Z and how sure it is: struct plx_distance. The errors are those of matching; None: not known."""
    distance_m: float
    sigma_m: float | None
    """68 % of the errors are smaller,"""
    bound_m: float | None
    """and 95 % than this."""


@dataclasses.dataclass(frozen=True)
class Location:
    """Where the thing in a box is: struct plx_location. None: not known, which is everything in metres unless state is KNOWN."""
    state: LocationState
    obstacle: int | None
    """Index in Frame.obstacle_array."""
    track: int | None
    share: float
    distance_m: float | None
    sigma_m: float | None
    position_m: Vector3 | None
    base_m: Vector3 | None
    size_m: Vector2 | None
    velocity_mps: Vector3 | None

    def __bool__(self) -> bool:
        """Whether it is known."""
        return self.state == LocationState.KNOWN

    def __repr__(self) -> str:
        return f"<Location {self.distance_m:.2f} m, sigma {self.sigma_m:.2f} m>" if self else f"<Location unknown: {self.state.name.lower()}>"


@dataclasses.dataclass(frozen=True)
class Obstacle:
    """struct plx_obstacle."""
    label: int
    track: int
    status: TrackStatus
    age_frames: int
    area_px: int
    x: int
    y: int
    width: int
    height: int
    centroid_x: float
    centroid_y: float
    disparity_median: float
    disparity_near: float
    nearest_m: float
    nearest_sigma_m: float | None
    """Standard deviation of nearest_m; None: not known."""
    position_m: Vector3
    extent_m: Vector3
    height_m: float
    valid_ratio: float
    velocity_mps: Vector3
    velocity_variance: Vector3
    confidence: float
    world_velocity_mps: Vector3
    world_velocity_variance: Vector3
    moving_sigmas: float
    moving: bool
    size_m: Vector2
    size_class: SizeClass
    outline_m: NDArray[numpy.float32] = dataclasses.field(compare=False)
    """float32 [16]: distance Z, metres, of the nearest part in each 16th of the box, from left to right, up to 1.9 m above the
    ground; infinite where nothing of the obstacle stands there."""

    def __repr__(self) -> str:
        x, _, z = self.position_m
        moving = ", moving" if self.moving else ""
        return (f"<Obstacle track {self.track}, {self.status}: {self.size_class} {self.size_m[0]:.2f} x {self.size_m[1]:.2f} m "
                f"at x {x:.2f} z {z:.2f} m, from {self.nearest_m:.2f} m{moving}>")


@dataclasses.dataclass(frozen=True)
class Drop:
    """Columns side by side whose ground falls away: stairs down, the edge of a platform, a pit or a kerb."""
    x: int
    width: int
    """Pixels of the rectified left image, from x on."""
    nearest_m: float
    """Distance Z, metres, of the nearest part of the edge."""
    edge_m: NDArray[numpy.float32] = dataclasses.field(compare=False)
    """float32: distance Z of the edge in each column of the scan, 4 pixels wide, from x on."""

    def __repr__(self) -> str:
        return f"<Drop in columns {self.x} to {self.x + self.width - 1}, from {self.nearest_m:.2f} m>"


def _values(raw: Any) -> dict[str, Any]:
    """The fields of a NumPy record as Python's own numbers and tuples."""
    return {name: tuple(raw[name].tolist()) if raw[name].shape else raw[name].item() for name in raw.dtype.names}


def capture(raw: Any) -> Capture:
    values = _values(raw)
    return Capture(**{**values, "clock": Clock(values["clock"]), "memory": Memory(values["memory"])})


def calibration(raw: Any) -> Calibration:
    return Calibration(**_values(raw))


def ground(raw: Any) -> Ground | None:
    values = _values(raw)
    return Ground(**values) if values.pop("valid") else None


def alignment(raw: Any) -> Alignment | None:
    return Alignment(**_values(raw)) if raw["patches"] else None


def drift(raw: Any) -> Drift | None:
    return Drift(**_values(raw)) if raw["matches"] or raw["disparity_offset_deviation_px"] else None


def corrections(raw: Any) -> Corrections:
    return Corrections(int(raw["number"]), int(raw["proposed_number"]), Correction(**_values(raw["applied"])),
                       Correction(**_values(raw["proposed"])))


def _pose(raw: Any) -> Pose:
    return Pose(raw["rotation"].reshape(3, 3).copy(), raw["translation"].copy())


def motion(raw: Any) -> Motion | None:
    if not raw["valid"]:
        return None
    numbers = {name: int(raw[name]) for name in ("corners", "tracked", "inliers", "breaks", "interval_ns")}
    return Motion(source=MotionSource(int(raw["source"])), motion=_pose(raw["motion"]), pose=_pose(raw["pose"]),
                  covariance=raw["covariance"].reshape(6, 6).copy(), **numbers)


def mount(raw: Any) -> Mount | None:
    if not (raw["known"] or raw["measured"]):
        return None
    numbers = {name: float(raw[name]) for name in ("x_m", "y_m", "z_m", "roll_rad", "pitch_rad", "yaw_rad")}
    return Mount(known=bool(raw["known"]), measured=bool(raw["measured"]), base_from_left=_pose(raw["base_from_left"]), **numbers)


def _positive(value: float) -> float | None:
    return value if value > 0 else None


_OBSTACLE_TYPES: dict[str, Any] = {"nearest_sigma_m": _positive, "status": TrackStatus, "moving": bool, "size_class": SizeClass}


def _outlines(disparity: NDArray[numpy.uint16], depth_scale: float) -> list[NDArray[numpy.float32]]:
    with numpy.errstate(divide="ignore", invalid="ignore"):  # 0 / 0: nothing there, in a frame without a calibration
        metres = (depth_scale / disparity).astype(numpy.float32)
    metres.flags.writeable = False
    return list(metres)


def obstacles(raw: NDArray[numpy.void], depth_scale: float) -> list[Obstacle]:
    """Column by column: much faster than one record after the other. DEPTH_SCALE: metres times 1/16 px above infinity."""
    columns = []
    for name in raw.dtype.names or ():
        if name == "outline":
            columns.append(_outlines(raw[name], depth_scale))
            continue
        type_ = _OBSTACLE_TYPES.get(name, tuple if raw[name].ndim > 1 else None)
        values = raw[name].tolist()
        columns.append([type_(value) for value in values] if type_ else values)
    return [Obstacle(*row) for row in zip(*columns)]


def local_map(raw: Any, cells: NDArray[Any]) -> Map | None:
    if not raw["valid"]:
        return None
    age = cells["age"].astype(numpy.float32) * numpy.float32(_layout.CELL_AGE_S)
    age[cells["age"] == 255] = numpy.inf
    heights = [cells[name].astype(numpy.float32) * numpy.float32(_layout.CELL_HEIGHT_M) for name in ("foot", "top")]
    return Map(bool(raw["remembers"]), int(raw["origin_x"]), int(raw["origin_y"]), float(raw["x_m"]), float(raw["y_m"]),
               float(raw["yaw_rad"]), cells["kind"].copy(), age, *heights)


def zones(raw: Any) -> tuple[Zone, ...]:
    return tuple(Zone(zone["name"].decode(errors="replace"), zone["polygon"][:zone["points"]].copy(), bool(zone["active"]),
                      Reason(int(zone["reasons"])), VerdictKind(int(zone["verdict"])), float(zone["nearest_m"]), float(zone["known"]),
                      float(zone["depth"])) for zone in raw if zone["points"])


def verdict(raw: Any) -> Verdict:
    return Verdict(VerdictKind(int(raw["verdict"])), Reason(int(raw["reasons"])), Health(int(raw["faults"])),
                   raw["name"].decode(errors="replace") or None, float(raw["distance_m"]), float(raw["speed_mps"]),
                   int(raw["sequence"]), int(raw["capture_ns"]), int(raw["valid_ns"]))


def drops(scan: NDArray[numpy.void], depth_scale: float, width: int) -> tuple[Drop, ...]:
    """Of a private copy of the scan of a picture WIDTH pixels wide. DEPTH_SCALE: metres times 1/16 px above infinity."""
    is_drop = (scan["known"] & SCAN_DROP != 0) & (scan["free"] != 0) & (scan["free"] != SCAN_NOTHING_FREE)
    ends = numpy.flatnonzero(numpy.diff(is_drop.astype(numpy.int8), prepend=0, append=0)).reshape(-1, 2)
    found = []
    for begin, end in ends.tolist():
        edge = (depth_scale / scan["free"][begin:end]).astype(numpy.float32)
        edge.flags.writeable = False
        x = COLUMN_WIDTH * begin
        found.append(Drop(x, min(COLUMN_WIDTH * end, width) - x, float(edge.min()), edge))
    return tuple(found)


def _known(numbers: Any) -> Any:
    """NUMBERS of C as Python has them; None where they are NaN."""
    values = numbers.tolist()
    if isinstance(values, list):
        return None if math.isnan(values[0]) else tuple(values)
    return None if math.isnan(values) else values


def distance(row: Any) -> Distance:
    """From an element of _layout.DISTANCE."""
    return Distance(**{name: _known(row[name]) for name in ("distance_m", "sigma_m", "bound_m")})


def location(row: Any) -> Location:
    """Of an element of _layout.LOCATION."""
    index, track = int(row["obstacle"]), int(row["track"])
    metres = {name: _known(row[name]) for name in ("distance_m", "sigma_m", "position_m", "base_m", "size_m", "velocity_mps")}
    return Location(LocationState(int(row["state"])), index if index >= 0 else None, track if track > 0 else None, float(row["share"]), **metres)
