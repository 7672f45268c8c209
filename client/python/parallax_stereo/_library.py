# SPDX-License-Identifier: Apache-2.0
"""libparallax, with the types of its functions: that of $PARALLAX_LIBRARY, else the one that pip put into this package, else the system's."""
from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p

_FUNCTIONS = (
    ("plx_connect_wait", c_int, c_char_p, c_int, POINTER(c_void_p)),
    ("plx_socket_path", c_char_p, c_char_p),
    ("plx_disconnect", None, c_void_p),
    ("plx_next", c_int, c_void_p, c_int, c_void_p),
    ("plx_release", c_int, c_void_p, c_void_p),
    ("plx_copy", c_int, c_void_p, c_int, c_void_p, c_size_t, POINTER(c_size_t)),
    ("plx_last_header", c_int, c_void_p, c_void_p),
    ("plx_fd", c_int, c_void_p),
    ("plx_state", c_int, c_void_p),
    ("plx_health", c_uint32, c_void_p),
    ("plx_restarts", c_uint32, c_void_p),
    ("plx_reason", c_int, c_void_p, c_char_p, c_size_t),
    ("plx_verdict", c_int, c_void_p, c_void_p),
    ("plx_config", c_int, c_char_p, c_char_p, c_size_t, POINTER(c_size_t)),
    ("plx_motion_hint", c_int, c_void_p, c_void_p),
    ("plx_mapping_ref", c_int, c_void_p, POINTER(c_void_p)),
    ("plx_mapping_unref", None, c_void_p),
    ("plx_age_ns", c_int64, c_void_p),
    ("plx_is_fresh", c_int, c_void_p),
    ("plx_pixel_distance", c_int, c_void_p, c_uint32, c_uint32, c_void_p),
    ("plx_stixel_distance", c_int, c_void_p, c_uint32, c_uint32, c_void_p),
    ("plx_scan_distance", c_int, c_void_p, c_uint32, c_void_p),
    ("plx_locate", c_int, c_void_p, c_void_p, c_uint32, c_void_p),
    ("plx_cuda_device", c_int, c_int, c_void_p),
    ("plx_cuda_map", c_int, c_void_p, c_int, c_int, POINTER(c_void_p)),
    ("plx_cuda_mode", c_int, c_void_p),
    ("plx_cuda_reason", c_char_p, c_void_p),
    ("plx_cuda_plane", c_int, c_void_p, c_void_p, c_int, c_void_p, POINTER(c_void_p)),
    ("plx_cuda_unmap", None, c_void_p),
    ("plx_realtime_ns", c_int, c_void_p, POINTER(c_int64)),
    ("plx_strerror", c_char_p, c_int),
)


def _load() -> ctypes.CDLL:
    packaged = pathlib.Path(__file__).with_name("libparallax.so.0")
    name = os.environ.get("PARALLAX_LIBRARY") or (str(packaged) if packaged.exists() else "libparallax.so.0")
    try:
        library = ctypes.CDLL(name)
        for function, result, *arguments in _FUNCTIONS:
            getattr(library, function).restype = result
            getattr(library, function).argtypes = arguments
    except (OSError, AttributeError) as error:
        raise ImportError(f"{error}; parallax_stereo needs libparallax: install the package libparallax0, or install parallax_stereo "
                          "by pip, which compiles the library, or name the library in PARALLAX_LIBRARY") from error
    return library


library = _load()
