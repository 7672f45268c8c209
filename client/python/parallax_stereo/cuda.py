# SPDX-License-Identifier: Apache-2.0
"""Planes for a GPU of this machine, as PyTorch, CuPy and Numba take them; see <parallax/cuda.h>."""
from __future__ import annotations

import ctypes
import enum
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional

import numpy

from . import _dlpack, _layout
from ._library import library
from ._mapping import Mapping
from .errors import check
from .flags import Plane
from .frame import Frame

if TYPE_CHECKING:
    from .client import Client

_DEFAULT_STREAM = 1  # as DLPack and __cuda_array_interface__ name it; CUDA takes the number as a handle too


class CudaMode(enum.IntEnum):
    """How a GPU reaches a plane, enum plx_cuda_mode."""
    AUTO = 0
    IN_PLACE = 1
    COPIED = 2


class CudaDevice(NamedTuple):
    """What a device says of itself, struct plx_cuda_device."""
    name: str
    integrated: bool
    host_register: bool
    read_only_register: bool
    ipc_events: bool


def cuda_device(index: int = 0) -> CudaDevice:
    """Asks CUDA's device INDEX; raises NotFound where there is no driver, or no such device."""
    found = numpy.zeros(1, _layout.CUDA_DEVICE)
    check(library.plx_cuda_device(index, found.ctypes.data))
    name, *attributes = found[0].tolist()
    return CudaDevice(name.decode(errors="replace"), *map(bool, attributes))


class _Map:
    """A struct plx_cuda, which lives as long as anything that the GPU may read through it."""

    def __init__(self, client: Client, device: int, mode: CudaMode) -> None:
        self._cuda = ctypes.c_void_p()
        check(client._call(library.plx_cuda_map, device, mode, ctypes.byref(self._cuda)))
        with client._lock:
            self.mapping = Mapping(client._client)
        self.device = device
        self.mode = CudaMode(library.plx_cuda_mode(self._cuda))
        self.reason = str(library.plx_cuda_reason(self._cuda).decode(errors="replace"))

    def address(self, frame: Frame, plane: Plane, stream: int) -> int:
        """Where kernels in STREAM find PLANE of FRAME."""
        view, found = frame._view(), ctypes.c_void_p()
        check(library.plx_cuda_plane(self._cuda, view.ctypes.data, plane, stream, ctypes.byref(found)))
        return found.value or 0

    def __del__(self, unmap: Callable[[ctypes.c_void_p], None] = library.plx_cuda_unmap) -> None:
        unmap(self._cuda)


class CudaPlane:
    """A plane on the GPU, for torch.from_dlpack, cupy.from_dlpack, cupy.asarray, numba.cuda.as_cuda_array and the like.

    It can be taken inside the frame's `with`; each taking of a COPIED one copies it. What was taken keeps its memory, IN_PLACE as a view of
    the frame has it: the GPU must have read it before the `with` ends, and the service overwrites it later."""

    def __init__(self, through: _Map, frame: Frame, plane: Plane) -> None:
        self._map, self._frame, self._plane = through, frame, plane
        array = frame.planes[plane]
        self.shape, self.dtype, self._strides = array.shape, array.dtype, array.strides

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        address = self._map.address(self._frame, self._plane, _DEFAULT_STREAM)
        return {"version": 3, "shape": self.shape, "typestr": self.dtype.str, "strides": self._strides, "stream": _DEFAULT_STREAM,
                "data": (address, self._map.mode == CudaMode.IN_PLACE)}

    def __dlpack_device__(self) -> tuple[int, int]:
        return _dlpack.CUDA, self._map.device

    def __dlpack__(self, *, stream: Optional[int] = None, max_version: Optional[tuple[int, int]] = None,
                   dl_device: Optional[tuple[int, int]] = None, copy: Optional[bool] = None) -> Any:
        in_place, versioned = self._map.mode == CudaMode.IN_PLACE, max_version is not None and max_version[0] >= 1
        if self.dtype.kind != "u":
            raise BufferError(f"DLPack has no elements as those of {self._plane}; take frame.planes to the GPU by NumPy")
        if dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"this plane is on CUDA's device {self._map.device}")
        if copy is not None and copy == in_place:
            raise BufferError(f"this plane is {self._map.mode.name}; Cuda(client, mode=...) chooses")
        if in_place and not versioned:
            raise BufferError("this plane is read-only, which DLPack says from its version 1.0 on; take a newer version of what reads it, or "
                              "Cuda(client, mode=CudaMode.COPIED)")
        order_after = _DEFAULT_STREAM if stream is None or stream < 0 else stream
        address = self._map.address(self._frame, self._plane, order_after)
        steps = tuple(stride // self.dtype.itemsize for stride in self._strides)
        flags = _dlpack.READ_ONLY if in_place else _dlpack.IS_COPIED
        return _dlpack.capsule(self._map, address, self._map.device, self.shape, steps, 8 * self.dtype.itemsize, flags, versioned)


class Cuda:
    """Access of CUDA's device to frames of CLIENT.next, also after the service came back:

        gpu = parallax_stereo.Cuda(client)
        with client.next() as frame:
            colour = torch.from_dlpack(gpu.plane(frame, Plane.COLOUR))
            ...
            torch.cuda.current_stream().synchronize()  # the GPU has read the frame before the `with` ends

    MODE as in enum plx_cuda_mode: AUTO reads the service's memory in place where the device can. Raises NotFound where there is no driver or
    no such device, Unsupported where IN_PLACE is asked and not possible, Lost while the service is away."""

    def __init__(self, client: Client, device: int = 0, mode: CudaMode = CudaMode.AUTO) -> None:
        self._client, self._device, self._wanted = client, device, mode
        self._map = _Map(client, device, mode)

    @property
    def mode(self) -> CudaMode:
        """IN_PLACE or COPIED."""
        return self._map.mode

    @property
    def reason(self) -> str:
        """Why it is that mode."""
        return self._map.reason

    def plane(self, frame: Frame, plane: Plane) -> CudaPlane:
        """PLANE of FRAME, which is an open one of Client.next; KeyError if the frame has no such plane."""
        if frame.planes[plane].ctypes.data not in self._map.mapping:
            self._map = _Map(self._client, self._device, self._wanted)  # the service came back, in another memory
        return CudaPlane(self._map, frame, plane)
