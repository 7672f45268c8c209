# SPDX-License-Identifier: Apache-2.0
"""The structures of <parallax/frame.h> and <parallax/client.h> as NumPy types: the same fields with the same names and offsets."""
from __future__ import annotations

from typing import Any

import numpy

from .flags import PLANE_ELEMENTS, Plane, Stage

MAX_OBSTACLES = 256
MAX_ZONES = 16
MAP_CELL_M = 0.05
CELL_AGE_S = 0.125
CELL_HEIGHT_M = 0.02
DISPARITY_ONE = 16
DISPARITY_INVALID = 0xFFFF
COLUMN_WIDTH = 4
SCAN_DROP = 2
SCAN_NOTHING_FREE = 0xFFFF
UNKNOWN_AGE_NS = 2**63 - 1


def _struct(*fields: tuple[Any, ...]) -> numpy.dtype[numpy.void]:
    """A C structure; each field is (names, type[, shape])."""
    return numpy.dtype([(name, *rest) for names, *rest in fields for name in names.split()], align=True)


PLANE = _struct(("offset pitch width height element reserved", "u4"))
CAPTURE = _struct(("capture_ns clock_offset_ns", "i8"), ("clock sequence", "u4"), ("dropped", "u8"), ("exposure_us", "u4"),
                  ("gain", "f4"), ("masked memory", "u4"))
CALIBRATION = _struct(("fx fy cx cy cx_right baseline_m", "f8"))
GROUND = _struct(("valid", "u4"), ("camera_height_m pitch_rad roll_rad", "f4"), ("normal", "f4", 3), ("inlier_ratio", "f4"))
DRIFT = _struct(("matches", "u4"), ("pitch_rad roll_rad bend_rad scale", "f4"),
                ("pitch_deviation_rad roll_deviation_rad bend_deviation_rad scale_deviation", "f4"),
                ("epipolar_error_px residual_px max_epipolar_error_px", "f4"), ("disparity_offset_px disparity_offset_deviation_px", "f4"),
                ("curve_px curve_deviation_px side_px side_deviation_px", "f4"))
CORRECTION = _struct(("pitch_rad roll_rad bend_rad scale disparity_offset_px curve_px", "f4"))
CORRECTIONS = _struct(("number proposed_number", "u4"), ("applied proposed", CORRECTION))
ALIGNMENT = _struct(("patches", "u4"), ("epipolar_error_px max_epipolar_error_px pitch_rad roll_rad scale", "f4"))
POSE = _struct(("rotation", "f8", 9), ("translation", "f8", 3))
MOTION = _struct(("valid source corners tracked inliers breaks", "u4"), ("interval_ns", "i8"), ("motion", POSE),
                 ("covariance", "f8", 36), ("pose", POSE))
MOUNT = _struct(("known measured", "u4"), ("x_m y_m z_m roll_rad pitch_rad yaw_rad", "f4"), ("base_from_left", POSE))
MAP = _struct(("valid remembers", "u4"), ("origin_x origin_y", "i4"), ("x_m y_m yaw_rad", "f8"))
ZONE = _struct(("name", "S24"), ("points", "u4"), ("polygon", "f4", (16, 2)), ("active reasons verdict", "u4"), ("nearest_m known depth", "f4"))
VERDICT = _struct(("verdict reasons faults", "u4"), ("zone", "i4"), ("distance_m speed_mps", "f4"), ("valid_ns", "i8"))
VERDICT_NOW = _struct(("sequence", "u8"), ("capture_ns suspended_ns valid_ns", "i8"), ("verdict reasons faults", "u4"), ("zone", "i4"),
                      ("distance_m speed_mps", "f4"), ("name", "S24"))
MOTION_HINT = _struct(("from_ns to_ns", "i8"), ("motion", POSE))
OBSTACLE = _struct(("label track status age_frames area_px", "u4"), ("x y width height", "i4"),
                   ("centroid_x centroid_y disparity_median disparity_near nearest_m nearest_sigma_m", "f4"), ("position_m extent_m", "f4", 3),
                   ("height_m valid_ratio", "f4"), ("velocity_mps velocity_variance", "f4", 3), ("confidence", "f4"),
                   ("world_velocity_mps world_velocity_variance", "f4", 3), ("moving_sigmas", "f4"), ("moving", "u4"),
                   ("size_m", "f4", 2), ("size_class", "u4"), ("outline", "u2", 16))
ERRORS = _struct(("known reserved", "u4"), ("sigma_px bound_px", "f4", 256))
DISTANCE = _struct(("distance_m sigma_m bound_m", "f4"))
CELL = _struct(("kind age foot top", "u1"))
SCAN = _struct(("nearest free known stixels", "u2"))
RGB = _struct(("r g b", "u1"))
COLOUR = _struct(("gain", "f4", 3), ("known", "u4"))
STIXEL = _struct(("y0 y1 disparity near_disparity", "u2"), ("top_mm foot_mm", "i2"), ("support label", "u2"))

_HEAD: tuple[tuple[Any, ...], ...] = (
    ("sequence epoch", "u8"), ("published_ns suspended_ns fresh_ns skew_ns", "i8"), ("state health source blind", "u4"),
    ("pairs_skipped", "u8"), ("capture", CAPTURE, 2), ("calibration", CALIBRATION), ("width height", "u4"),
    ("min_disparity", "i4"), ("disparities", "u4"), ("stage_us", "u4", len(Stage)), ("bytes", "u4"), ("ground", GROUND),
    ("alignment", ALIGNMENT), ("drift", DRIFT), ("correction", CORRECTIONS), ("cpu_us", "u4"), ("blind_within_m", "f4"), ("motion", MOTION), ("mount", MOUNT),
    ("map", MAP), ("verdict", VERDICT), ("zone", ZONE, MAX_ZONES), ("colour", COLOUR),
    ("plane", PLANE, len(Plane)),
    ("region_count obstacle_count", "u4"))
HEAD = _struct(*_HEAD)  # of a frame: what comes before its obstacles
FRAME = _struct(*_HEAD, ("obstacle", OBSTACLE, MAX_OBSTACLES), ("errors", ERRORS))
OBSTACLES_OFFSET, ERRORS_OFFSET = (int(FRAME.fields[name][1]) if FRAME.fields else 0 for name in ("obstacle", "errors"))

VIEW = _struct(("frame", numpy.uintp), ("plane", numpy.uintp, len(Plane)), ("layout", PLANE, len(Plane)), ("obstacle_count", "u4"),
               ("min_disparity", "i4"), ("sequence missed token", "u8"))
BOX = _struct(("x y width height", "i4"), ("mask", numpy.uintp), ("mask_pitch", "u8"))
LOCATION = _struct(("state", "u4"), ("obstacle", "i4"), ("track", "u4"), ("share distance_m sigma_m", "f4"), ("position_m base_m", "f4", 3),
                   ("size_m", "f4", 2), ("velocity_mps", "f4", 3))
MAPPING = _struct(("memory bytes", numpy.uintp))
CUDA_DEVICE = _struct(("name", "S128"), ("integrated host_register read_only_register ipc_events", "i4"))

STRUCTURES = {
    "plx_plane": PLANE, "plx_capture_info": CAPTURE, "plx_calibration_info": CALIBRATION, "plx_ground_info": GROUND,
    "plx_alignment_info": ALIGNMENT, "plx_drift_info": DRIFT, "plx_correction": CORRECTION,
    "plx_correction_info": CORRECTIONS, "plx_pose": POSE, "plx_motion_info": MOTION, "plx_mount_info": MOUNT, "plx_motion_hint": MOTION_HINT,
    "plx_map_info": MAP, "plx_zone_info": ZONE, "plx_verdict_info": VERDICT, "plx_verdict_now": VERDICT_NOW, "plx_cell": CELL,
    "plx_obstacle": OBSTACLE, "plx_scan": SCAN, "plx_stixel": STIXEL, "plx_frame": FRAME, "plx_view": VIEW,
    "plx_mapping": MAPPING, "plx_box": BOX, "plx_location": LOCATION, "plx_colour_info": COLOUR, "plx_rgb": RGB,
    "plx_cuda_device": CUDA_DEVICE, "plx_error_info": ERRORS, "plx_distance": DISTANCE,
}

# The elements of the planes.
ELEMENT: dict[Plane, Any] = {plane: STRUCTURES[name] if name in STRUCTURES else numpy.dtype(name) for plane, name in PLANE_ELEMENTS.items()}
