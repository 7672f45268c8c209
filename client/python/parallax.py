# SPDX-License-Identifier: Apache-2.0
"""Parallax for Python: obstacles, motion and NumPy images of the stereo vision service, through libparallax.

    import parallax
    with parallax.Client() as eyes:
        while True:
            frame = eyes.read(timeout=1.0)          # a private copy, always whole and fresh
            if frame:
                print(frame.sequence, [o.nearest_m for o in frame.obstacles])
                depth = frame.disparity_px()        # float32, NaN where unknown

The structures are those of <parallax/frame.h>, with the same names.
"""
import ctypes
import os
from ctypes import c_double, c_float, c_int32, c_int64, c_uint32, c_uint64

import numpy

PLANES = ("left", "disparity", "dense", "filled", "confidence", "labels", "histogram", "right", "scan", "stixels")
STATES = ("starting", "running", "degraded", "recovering", "failed", "stopped")
STAGES = ("convert", "histogram", "rectify", "prefilter", "census", "sgm", "check", "refine", "ground", "columns",
          "obstacles", "motion", "tracks")
MAX_OBSTACLES = 256
DISPARITY_INVALID = 0xFFFF
HEALTH_NOT_CALIBRATED = 1 << 16
TRACK_LOST = 3
ELEMENTS = {  # of planes whose elements are structures
    "scan": numpy.dtype([(name, "<u2") for name in ("nearest", "free", "known", "stixels")]),
    "stixels": numpy.dtype([("y0", "<u2"), ("y1", "<u2"), ("disparity", "<u2"), ("near_disparity", "<u2"), ("top_mm", "<i2"),
                            ("foot_mm", "<i2"), ("support", "<u2"), ("reserved", "<u2")]),
}
UNKNOWN_AGE = 2**63 - 1
SOURCES = ("synthetic", "replay", "v4l2")
ERR_NOT_FOUND, ERR_RANGE, ERR_TIMEOUT, ERR_LOST = -4, -6, -10, -12


class Plane(ctypes.Structure):
    _fields_ = [(name, c_uint32) for name in ("offset", "pitch", "width", "height", "element", "reserved")]


class CaptureInfo(ctypes.Structure):
    _fields_ = [("capture_ns", c_int64), ("clock_offset_ns", c_int64), ("clock", c_uint32), ("sequence", c_uint32),
                ("dropped", c_uint64), ("exposure_us", c_uint32), ("gain", c_float), ("masked", c_uint32),
                ("memory", c_uint32)]


class CalibrationInfo(ctypes.Structure):
    _fields_ = [(name, c_double) for name in ("fx", "fy", "cx", "cy", "cx_right", "baseline_m")]


class GroundInfo(ctypes.Structure):
    _fields_ = [("valid", c_uint32), ("camera_height_m", c_float), ("pitch_rad", c_float), ("roll_rad", c_float),
                ("normal", c_float * 3), ("inlier_ratio", c_float)]


class AlignmentInfo(ctypes.Structure):
    _fields_ = [("patches", c_uint32), ("rows", c_float), ("worst_rows", c_float), ("pitch_rad", c_float),
                ("roll_rad", c_float), ("scale", c_float)]


class Obstacle(ctypes.Structure):
    _fields_ = [("label", c_uint32), ("track", c_uint32), ("status", c_uint32), ("age", c_uint32), ("area_px", c_uint32),
                ("x", c_int32), ("y", c_int32), ("width", c_int32), ("height", c_int32), ("centroid_x", c_float),
                ("centroid_y", c_float), ("disparity_median", c_float), ("disparity_near", c_float), ("nearest_m", c_float),
                ("position_m", c_float * 3), ("extent_m", c_float * 3), ("height_m", c_float), ("valid_ratio", c_float),
                ("velocity_mps", c_float * 3), ("velocity_variance", c_float * 3), ("confidence", c_float),
                ("world_velocity_mps", c_float * 3), ("world_velocity_variance", c_float * 3), ("moving_sigmas", c_float),
                ("moving", c_uint32), ("size_m", c_float * 2), ("size_class", c_uint32)]


class Pose(ctypes.Structure):
    _fields_ = [("rotation", c_double * 9), ("translation", c_double * 3)]


class MotionHint(ctypes.Structure):
    _fields_ = [("from_ns", c_int64), ("to_ns", c_int64), ("motion", Pose)]


class MotionInfo(ctypes.Structure):
    _fields_ = [("valid", c_uint32), ("source", c_uint32), ("corners", c_uint32), ("tracked", c_uint32),
                ("inliers", c_uint32), ("breaks", c_uint32), ("interval_ns", c_int64), ("motion", Pose),
                ("covariance", c_double * 36), ("pose", Pose)]


class Header(ctypes.Structure):
    _fields_ = [("sequence", c_uint64), ("epoch", c_uint64), ("published_ns", c_int64), ("suspended_ns", c_int64),
                ("fresh_ns", c_int64), ("skew_ns", c_int64), ("state", c_uint32), ("health", c_uint32),
                ("source", c_uint32), ("reserved", c_uint32), ("pairs_skipped", c_uint64), ("capture", CaptureInfo * 2),
                ("calibration", CalibrationInfo), ("width", c_uint32), ("height", c_uint32), ("min_disparity", c_int32),
                ("disparities", c_uint32), ("stage_us", c_uint32 * len(STAGES)), ("bytes", c_uint32),
                ("ground", GroundInfo), ("alignment", AlignmentInfo), ("motion", MotionInfo),
                ("plane", Plane * len(PLANES)), ("region_count", c_uint32),
                ("obstacle_count", c_uint32), ("obstacle", Obstacle * MAX_OBSTACLES)]


class Error(Exception):
    """A libparallax error; code is the negative enum plx_error."""

    def __init__(self, code):
        super().__init__(_library.plx_strerror(code).decode())
        self.code = code


class Frame:
    """One published frame. Its images are read-only NumPy views of its own memory; None where switched off."""

    def __init__(self, memory, images=True):
        self._memory = memory  # uint8, owned
        self.header = Header.from_buffer(memory)
        for index, name in enumerate(PLANES):
            setattr(self, name, self._plane(name, self.header.plane[index]) if images else None)

    def _plane(self, name, plane):
        if not plane.width:
            return None
        element = ELEMENTS.get(name, f"u{plane.element}")
        image = numpy.ndarray((plane.height, plane.width), element, self._memory, plane.offset, (plane.pitch, plane.element))
        image.flags.writeable = False
        return image

    @property
    def sequence(self):
        return self.header.sequence

    @property
    def is_calibrated(self):
        """False: left and right are as captured, and there is neither disparity nor obstacles."""
        return not self.header.health & HEALTH_NOT_CALIBRATED

    @property
    def age(self):
        """Seconds since the left picture was taken, time in suspend included; infinite where that is unknown."""
        nanoseconds = _library.plx_age_ns(ctypes.byref(self.header))
        return nanoseconds / 1e9 if nanoseconds != UNKNOWN_AGE else float("inf")

    @property
    def fresh(self):
        """Whether the frame is news; it no longer is when the service should have given another one long ago."""
        return bool(_library.plx_is_fresh(ctypes.byref(self.header)))

    @property
    def source(self):
        """Where the pictures come from, of SOURCES; only "v4l2" shows the world as it is now."""
        return SOURCES[self.header.source] if self.header.source < len(SOURCES) else "unknown"

    @property
    def simulated(self):
        """True where the service made the pictures itself."""
        return self.source == "synthetic"

    @property
    def alignment(self):
        """How well the rows match, an AlignmentInfo; None where it was not measured."""
        return self.header.alignment if self.header.alignment.patches else None

    @property
    def motion(self):
        """How the left camera moved since the last frame whose motion was known, a MotionInfo; None where it is unknown."""
        return self.header.motion if self.header.motion.valid else None

    @property
    def obstacles(self):
        """Obstacles that are in view now, largest first. Empty without a calibration too: see is_calibrated."""
        return [o for o in self.header.obstacle[:self.header.obstacle_count] if o.status != TRACK_LOST]

    def disparity_px(self, dense=False):
        """Disparity in pixels as float32 (height, width), NaN where unknown; None where it is switched off or not calibrated."""
        raw = self.dense if dense else self.disparity
        if raw is None:
            return None
        pixels = raw / numpy.float32(16) + numpy.float32(self.header.min_disparity)
        pixels[raw == DISPARITY_INVALID] = numpy.nan
        return pixels


class Client:
    """A connection to the service; use it from one thread at a time."""

    def __init__(self, socket_path=None):
        self._client = ctypes.c_void_p()
        self._capacity = 0
        _check(_library.plx_connect(os.fsencode(socket_path) if socket_path else None, ctypes.byref(self._client)))

    def close(self):
        _library.plx_disconnect(self._client)
        self._client = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def fileno(self):
        """Readable when read(0) has something to say; for select, asyncio and the like."""
        return _check(_library.plx_fd(self._client))

    def read(self, timeout=None):
        """The newest frame that was not yet read and is fresh, waiting TIMEOUT seconds (None: for ever). None if there is none in
        time, or while the service is away; it is found again by itself. Other failures raise Error."""
        milliseconds = -1 if timeout is None else int(timeout * 1000)
        needed = ctypes.c_size_t()
        while True:
            memory = numpy.empty(self._capacity + 7 & ~7, numpy.uint8)
            code = _library.plx_copy(self._client, milliseconds, memory.ctypes.data_as(ctypes.c_void_p), self._capacity,
                                     ctypes.byref(needed))
            if code != ERR_RANGE:
                break
            self._capacity = needed.value
        if code in (ERR_TIMEOUT, ERR_LOST):
            return None
        _check(code)
        return Frame(memory)

    def last_header(self):
        """The header of the newest frame, however old, as a Frame without images; None where there is none."""
        memory = numpy.empty(ctypes.sizeof(Header), numpy.uint8)
        code = _library.plx_last_header(self._client, memory.ctypes.data_as(ctypes.POINTER(Header)))
        if code in (ERR_NOT_FOUND, ERR_LOST):
            return None
        _check(code)
        return Frame(memory, images=False)

    def motion_hint(self, hint):
        """Gives odometry of the robot, a MotionHint, to the service, as plx_motion_hint; raises Error where the service refuses."""
        _check(_library.plx_motion_hint(self._client, ctypes.byref(hint)))

    @property
    def state(self):
        return STATES[_check(_library.plx_state(self._client))]

    @property
    def health(self):
        """Flags of enum plx_health; 0 is fine."""
        return _library.plx_health(self._client)

    @property
    def restarts(self):
        """Engines of the service that died or hung and were replaced."""
        return _library.plx_restarts(self._client)

    @property
    def reason(self):
        """Why the service is in its state, or works on the CPU, in words; "" when there is nothing to say."""
        text = ctypes.create_string_buffer(256)
        _check(_library.plx_reason(self._client, text, len(text)))
        return text.value.decode(errors="replace")

    @property
    def gpu_schedule(self):
        """The GPU schedule, as plx_gpu_schedule; 0 on the CPU."""
        return _library.plx_gpu_schedule(self._client)


def config(socket_path=None):
    """The configuration that the service has in force, as YAML text."""
    path, needed, size = os.fsencode(socket_path) if socket_path else None, ctypes.c_size_t(), 16384
    while True:
        text = ctypes.create_string_buffer(size)
        code = _library.plx_config(path, text, size, ctypes.byref(needed))
        if code != ERR_RANGE or needed.value <= size:
            break
        size = needed.value
    _check(code)
    return text.value.decode(errors="replace")


def _load():
    library = ctypes.CDLL(os.environ.get("PARALLAX_LIBRARY", "libparallax.so.0"))
    client, pointer = ctypes.c_void_p, ctypes.POINTER
    for name, result, *arguments in (
            ("plx_connect", ctypes.c_int, ctypes.c_char_p, pointer(client)),
            ("plx_disconnect", None, client),
            ("plx_copy", ctypes.c_int, client, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, pointer(ctypes.c_size_t)),
            ("plx_last_header", ctypes.c_int, client, pointer(Header)),
            ("plx_config", ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, pointer(ctypes.c_size_t)),
            ("plx_motion_hint", ctypes.c_int, client, pointer(MotionHint)),
            ("plx_age_ns", c_int64, pointer(Header)),
            ("plx_is_fresh", ctypes.c_int, pointer(Header)),
            ("plx_fd", ctypes.c_int, client),
            ("plx_state", ctypes.c_int, client),
            ("plx_health", c_uint32, client),
            ("plx_restarts", c_uint32, client),
            ("plx_reason", ctypes.c_int, client, ctypes.c_char_p, ctypes.c_size_t),
            ("plx_gpu_schedule", c_uint32, client),
            ("plx_strerror", ctypes.c_char_p, ctypes.c_int)):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def _check(code):
    if code < 0:
        raise Error(code)
    return code


_library = _load()
