# SPDX-License-Identifier: Apache-2.0
"""An exception for each enum plx_error. Those that Python has a word for are of Python's class too: Timeout is a TimeoutError."""
from __future__ import annotations

from ._library import library


class Error(Exception):
    """A call of libparallax failed; code is the negative enum plx_error."""
    code = 0


class ArgumentError(Error, ValueError):
    """A wrong argument, a closed client, or a second view while one is open."""
    code = -1


class OutOfMemory(Error, MemoryError):
    """No memory or descriptor left."""
    code = -2


class SystemFailure(Error, OSError):
    """The operating system refused."""
    code = -3


class NotFound(Error, FileNotFoundError):
    """No service at that path."""
    code = -4


class FormatError(Error, ValueError):
    """What answers is not Parallax, or its memory is damaged."""
    code = -5


class RangeError(Error, ValueError):
    """A number or a path outside of what is allowed."""
    code = -6


class Unsupported(Error):
    """Not available here."""
    code = -7


class PermissionDenied(Error, PermissionError):
    """This user is not in the group of the socket, or may not give hints."""
    code = -8


class Busy(Error):
    """The service has no place left for this client, or takes no more hints now."""
    code = -9


class Timeout(Error, TimeoutError):
    """The service lives, and published no newer fresh frame in time."""
    code = -10


class End(Error):
    """The source has no more pairs."""
    code = -11


class Lost(Error, ConnectionError):
    """The service or its engine is gone. Call again: the library attaches again by itself."""
    code = -12


class VersionMismatch(Error):
    """Service and library have different versions."""
    code = -13


class Overwritten(Error):
    """The service overwrote the frame while it was read: discard what was read."""
    code = -14


class Blind(Error):
    """The frame cannot show obstacles, which is not the same as none; frame.blind says why."""
    code = -15


_CLASSES: dict[int, type[Error]] = {c.code: c for c in Error.__subclasses__()}


def check(code: int, where: str = "") -> int:
    """CODE, unless it is an error, which is raised; WHERE follows its sentence."""
    if code < 0:
        sentence = library.plx_strerror(code).decode()
        error = _CLASSES.get(code, Error)(f"{sentence}: {where}" if where else sentence)
        error.code = code
        raise error
    return code
