# SPDX-License-Identifier: Apache-2.0
"""Parallax for Python: obstacles, motion, and NumPy views of the stereo vision service, through libparallax.

    import parallax_stereo
    with parallax_stereo.Client(wait=None) as client:    # the service may start later
        while True:
            try:
                with client.next(timeout=1.0) as frame:  # in place, without a copy
                    obstacles, depth = frame.obstacles, frame.depth()
            except parallax_stereo.Overwritten:          # too slow: what was read does not count
                continue
            except (TimeoutError, ConnectionError, parallax_stereo.Blind) as error:
                print(f"blind: {error}")                 # no fresh picture, or one that cannot show obstacles
                continue
            if frame.fresh:                              # still, after the work with it
                print(frame.sequence, [obstacle.nearest_m for obstacle in obstacles])

client.read() gives private copies instead, and `async for frame in client` too.
"""
from .client import Client, config
from .cuda import Cuda, CudaDevice, CudaMode, CudaPlane, cuda_device
from .errors import (ArgumentError, Blind, Busy, End, Error, FormatError, Lost, NotFound, OutOfMemory, Overwritten, PermissionDenied,
                     RangeError, SystemFailure, Timeout, Unsupported, VersionMismatch)
from .flags import Blindness, CellKind, Clock, Health, LocationState, Memory, MotionSource, Plane, Reason, SizeClass, Source, Stage, State, TrackStatus, VerdictKind
from .frame import Frame
from .header import Header
from .records import Alignment, Calibration, Capture, Correction, Corrections, Distance, Drift, Drop, Ground, Location, Map, Motion, Mount, Obstacle, Pose, Verdict, Zone

__version__ = "0.1.0"
__all__ = [
    "Alignment", "ArgumentError", "Blind", "Blindness", "Busy", "Calibration", "Capture", "CellKind", "Client", "Clock", "Correction", "Corrections", "Cuda", "CudaDevice", "CudaMode", "CudaPlane", "Drift", "Drop", "End", "Error", "FormatError",
    "Frame", "Ground", "Header", "Health", "Location", "LocationState", "Lost", "Map", "Memory", "Motion", "MotionSource", "Mount", "NotFound", "Obstacle", "OutOfMemory",
    "Overwritten", "PermissionDenied", "Plane", "Pose", "RangeError", "Reason", "SizeClass", "Source", "Stage", "State", "SystemFailure",
    "Timeout", "TrackStatus", "Unsupported", "Verdict", "VerdictKind", "VersionMismatch", "Zone", "config", "cuda_device",
]
