# SPDX-License-Identifier: Apache-2.0
"""Planes for a GPU of this machine, without a copy: the service's memory is registered with CUDA once a mapping. Needs libcudart."""
from __future__ import annotations

import ctypes
import functools
from typing import Any, Optional

from numpy.typing import NDArray

from ._mapping import Mapping

_NAMES = ("libcudart.so", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0")
_MAPPED, _READ_ONLY = 2, 8  # cudaHostRegisterMapped, cudaHostRegisterReadOnly


@functools.lru_cache(maxsize=1)
def _runtime() -> Optional[ctypes.CDLL]:
    for name in _NAMES:
        try:
            runtime = ctypes.CDLL(name)
        except OSError:
            continue
        runtime.cudaHostRegister.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint)
        runtime.cudaHostGetDevicePointer.argtypes = (ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_uint)
        runtime.cudaHostUnregister.argtypes = (ctypes.c_void_p,)
        return runtime
    return None


def _device_address(mapping: Mapping) -> int:
    """Where the GPU sees MAPPING, which is registered until it ends."""
    runtime, address = _runtime(), ctypes.c_void_p()
    if runtime is None:
        raise AttributeError("no __cuda_array_interface__: there is no libcudart")
    if mapping.before_end is None:
        code = runtime.cudaHostRegister(mapping.address, mapping.bytes, _MAPPED | _READ_ONLY)
        if code:
            raise AttributeError(f"no __cuda_array_interface__: cudaHostRegister fails with error {code}")
        mapping.before_end = functools.partial(runtime.cudaHostUnregister, mapping.address)
    code = runtime.cudaHostGetDevicePointer(ctypes.byref(address), mapping.address, 0)
    if code:
        raise AttributeError(f"no __cuda_array_interface__: cudaHostGetDevicePointer fails with error {code}")
    return address.value or 0


class CudaPlane:
    """A plane of a frame of Client.next, with __cuda_array_interface__ where there is a GPU; else that attribute is missing.

    The GPU must have finished with it before the frame's `with` ends. The plane is read-only, which CUDA cannot enforce."""

    def __init__(self, plane: NDArray[Any], mapping: Optional[Mapping]) -> None:
        self._plane, self._mapping = plane, mapping

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._mapping is None:
            raise AttributeError("no __cuda_array_interface__: a private copy is not in the service's memory")
        at = _device_address(self._mapping) + self._plane.ctypes.data - self._mapping.address
        return {"version": 3, "shape": self._plane.shape, "typestr": self._plane.dtype.str, "strides": self._plane.strides,
                "data": (at, True)}
