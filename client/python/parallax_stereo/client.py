# SPDX-License-Identifier: Apache-2.0
"""The connection to the service."""
from __future__ import annotations

import asyncio
import contextlib
import ctypes
import math
import os
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

import numpy

from . import _layout, records
from ._library import library
from ._mapping import Mapping
from .errors import ArgumentError, Lost, NotFound, RangeError, Timeout, check
from .flags import Health, State
from .frame import Frame
from .header import Header

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_SLICE_S = 0.1  # longest wait in C: between two, Python's own signal handlers run, as that of Ctrl-C
_REASON_BYTES = 256
_CONFIG_BYTES = 16384

SocketPath = Union[str, "os.PathLike[str]", None]


def _path(socket_path: SocketPath) -> Optional[bytes]:
    return None if socket_path is None else os.fsencode(socket_path)


class Client:
    """A connection to the service at SOCKET_PATH (None: $PARALLAX_SOCKET, else the default); for one thread at a time, but any thread may
    close it: a call that waits in another one then ends with ArgumentError.

    Waits up to WAIT seconds (None: for ever) for a service that starts later; raises NotFound, with the path, where none came. It
    attaches again by itself when the service was restarted."""

    def __init__(self, socket_path: SocketPath = None, wait: Optional[float] = 0.0) -> None:
        self._client = ctypes.c_void_p()
        self._lock = threading.Lock()  # held in each call of libparallax, so that no client is closed under one
        self._closed = False
        self._mapping: Optional[Mapping] = None  # of the last view
        self._capacity = _layout.FRAME.itemsize
        self._last: Optional[tuple[int, int]] = None  # epoch and sequence
        self._lost = False
        path = _path(socket_path)
        deadline = math.inf if wait is None else time.monotonic() + wait
        while True:
            left = min(max(deadline - time.monotonic(), 0), _SLICE_S)
            code = library.plx_connect_wait(path, math.ceil(left * 1000), ctypes.byref(self._client))
            if code not in (NotFound.code, Timeout.code) or time.monotonic() >= deadline:
                break
        self._path = os.fsdecode(library.plx_socket_path(path))
        check(code, self._path)

    def _call(self, function: Callable[..., Any], *arguments: Any) -> int:
        with self._lock:
            return int(function(self._client, *arguments))

    def close(self) -> None:
        """Disconnects. Arrays of frames stay readable."""
        self._closed = True  # a thread that waits asks before each slice of its wait
        with self._lock:
            client, self._client, self._mapping = self._client, ctypes.c_void_p(), None
        library.plx_disconnect(client)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self, disconnect: Callable[[ctypes.c_void_p], None] = library.plx_disconnect) -> None:
        disconnect(self._client)

    def __repr__(self) -> str:
        return f"<Client: {self.state}, {self.health}>" if self._client else "<Client: closed>"

    def fileno(self) -> int:
        """Readable when next(0) or read(0) should be called; for select, asyncio and the like."""
        return check(self._call(library.plx_fd))

    # --- frames ---

    def _wait(self, timeout: Optional[float], attempt: Callable[[int], int]) -> None:
        """Calls ATTEMPT with milliseconds until it succeeds; raises Timeout, or Lost: at once when that is news, else at the end."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            left = min(max(deadline - time.monotonic(), 0), _SLICE_S)
            code = ArgumentError.code if self._closed else attempt(math.ceil(left * 1000))
            was_lost, self._lost = self._lost, code == Lost.code
            if self._lost:
                self._mapping = None
            if code not in (Timeout.code, Lost.code) or (self._lost and not was_lost) or time.monotonic() >= deadline:
                check(code)
                return

    def _missed(self, epoch: int, sequence: int) -> int:
        last, self._last = self._last, (epoch, sequence)
        return max(sequence - (last[1] if last[0] == epoch else 0) - 1, 0) if last else 0

    @contextlib.contextmanager
    def next(self, timeout: Optional[float] = None) -> Iterator[Frame]:
        """The newest fresh frame that was not read yet, in place:

            with client.next(timeout=1.0) as frame:
                ...

        Waits TIMEOUT seconds (None: for ever) and then raises Timeout, or Lost while the service is away. The end of the `with` raises
        Overwritten if the service overwrote the frame meanwhile: what was read must then be discarded. An exception from inside the
        `with` is not replaced. One frame can be open at a time."""
        view = numpy.zeros(1, _layout.VIEW)
        frame = None
        try:
            self._wait(timeout, lambda ms: self._call(library.plx_next, ms, view.ctypes.data))
            frame = self._frame_of(view[0])
            yield frame
        except BaseException:
            self._call(library.plx_release, view.ctypes.data)  # refused, without harm, where the view is still empty
            raise
        else:
            check(self._call(library.plx_release, view.ctypes.data))
        finally:
            if frame:
                frame._release()

    def _frame_of(self, view: Any) -> Frame:
        # The address tells, for a mapping that is still held has its addresses for itself.
        if self._mapping is None or int(view["frame"]) not in self._mapping:
            with self._lock:
                self._mapping = Mapping(self._client)
        frame = Frame._of_view(view, self._mapping)
        self._last = frame.epoch, frame.sequence
        return frame

    def read(self, timeout: Optional[float] = None) -> Frame:
        """A private copy of the newest fresh frame that was not read yet, always whole. Waits and raises as next does."""
        memory = numpy.empty(0, numpy.uint8)
        needed = ctypes.c_size_t()

        def attempt(milliseconds: int) -> int:
            nonlocal memory
            while True:
                memory = numpy.empty(self._capacity + 7 & ~7, numpy.uint8)
                code = self._call(library.plx_copy, milliseconds, memory.ctypes.data, self._capacity, ctypes.byref(needed))
                if code != RangeError.code:
                    return code
                self._capacity = needed.value

        self._wait(timeout, attempt)
        frame = Frame._of_copy(memory, 0)
        frame.missed = self._missed(frame.epoch, frame.sequence)
        return frame

    def last_header(self) -> Optional[Header]:
        """The header of the newest frame, however old: to show what was last known, never to act on. None where there is none."""
        memory = numpy.empty(_layout.FRAME.itemsize, numpy.uint8)
        code = self._call(library.plx_last_header, memory.ctypes.data)
        if code in (NotFound.code, Lost.code):
            return None
        check(code)
        return Header._of_memory(memory)

    # --- asyncio ---

    async def _readable(self, timeout: Optional[float]) -> None:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        fd = self.fileno()

        def wake() -> None:
            if not ready.done():
                ready.set_result(None)

        loop.add_reader(fd, wake)
        try:
            await asyncio.wait([ready], timeout=timeout)
        finally:
            loop.remove_reader(fd)

    async def read_async(self, timeout: Optional[float] = None) -> Frame:
        """As read, without blocking the event loop."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            was_lost = self._lost
            try:
                return self.read(timeout=0)
            except (Timeout, Lost) as error:
                left = deadline - time.monotonic()
                if left <= 0 or (isinstance(error, Lost) and not was_lost):
                    raise
            await self._readable(None if left == math.inf else left)

    def __aiter__(self) -> Client:
        return self

    async def __anext__(self) -> Frame:
        """The next frame, as a private copy; waits also while the service is away."""
        while True:
            with contextlib.suppress(Lost):
                return await self.read_async()

    # --- the service ---

    def motion_hint(self, from_ns: int, to_ns: int, rotation: ArrayLike, translation: ArrayLike) -> None:
        """Gives odometry of the robot to the service (plx_motion_hint): ROTATION (3, 3) and TRANSLATION (3,) of the left camera now in
        axes of the camera then, between two times of CLOCK_MONOTONIC."""
        hint = numpy.zeros(1, _layout.MOTION_HINT)
        hint["from_ns"], hint["to_ns"] = from_ns, to_ns
        hint["motion"]["rotation"] = numpy.asarray(rotation, numpy.float64).reshape(9)
        hint["motion"]["translation"] = numpy.asarray(translation, numpy.float64).reshape(3)
        check(self._call(library.plx_motion_hint, hint.ctypes.data))

    @property
    def state(self) -> State:
        return State(check(self._call(library.plx_state)))

    @property
    def health(self) -> Health:
        return Health(self._call(library.plx_health))

    def verdict(self) -> records.Verdict:
        """Whether the robot may go (plx_verdict); never raises: it is STOP wherever it is not known, also on a closed client."""
        now = numpy.zeros(1, _layout.VERDICT_NOW)
        self._call(library.plx_verdict, now.ctypes.data)
        return records.verdict(now[0])

    @property
    def restarts(self) -> int:
        """Engines of the service that died or hung and were replaced."""
        return self._call(library.plx_restarts)

    @property
    def reason(self) -> str:
        """Why the service is in its state, or works on the CPU, in words; "" where there is nothing to say."""
        text = ctypes.create_string_buffer(_REASON_BYTES)
        code = self._call(library.plx_reason, text, len(text))
        if code == Lost.code:
            return f"no service answers at {self._path}"
        check(code)
        return text.value.decode(errors="replace")


def config(socket_path: SocketPath = None) -> str:
    """The configuration that the service has in force, as YAML text."""
    needed, size = ctypes.c_size_t(), _CONFIG_BYTES
    while True:
        text: Any = ctypes.create_string_buffer(size)
        code = library.plx_config(_path(socket_path), text, size, ctypes.byref(needed))
        if code != RangeError.code or needed.value <= size:
            break
        size = needed.value
    check(code)
    return str(text.value.decode(errors="replace"))
