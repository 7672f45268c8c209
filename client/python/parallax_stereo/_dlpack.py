# SPDX-License-Identifier: Apache-2.0
"""DLPack's structures (dlpack.h, version 1.0), and capsules of them that keep their owner."""
from __future__ import annotations

import ctypes
from typing import Any

CUDA = 2  # kDLCUDA
UNSIGNED = 1  # kDLUInt
READ_ONLY, IS_COPIED = 1, 2  # flags


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("index", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", _Device), ("ndim", ctypes.c_int32), ("dtype", _DataType),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    """DLManagedTensor, of consumers that do not know version 1.0."""
    _fields_ = [("tensor", _Tensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _ManagedVersioned(ctypes.Structure):
    """DLManagedTensorVersioned."""
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


_owners: dict[int, tuple[Any, ...]] = {}  # address of each managed tensor: what lives as long as it

_NAMES = (b"dltensor", b"dltensor_versioned")  # a consumer renames the capsule, and calls the deleter itself

_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, (ctypes.c_void_p, ctypes.c_char_p)
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)


def _delete(address: int) -> None:
    _owners.pop(address, None)


def _end(unused: int) -> None:
    """The capsule ends; where no consumer has taken it, its tensor ends too."""
    for name in _NAMES:
        if _is_valid(unused, name):
            _delete(_pointer(unused, name))


_function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_deleter, _destructor = _function(_delete), _function(_end)  # as C calls them, as long as this module lives


def capsule(owner: Any, address: int, device: int, shape: tuple[int, ...], strides: tuple[int, ...], bits: int, flags: int, versioned: bool) -> Any:
    """A capsule of unsigned numbers of BITS at ADDRESS of CUDA's DEVICE, which keeps OWNER. STRIDES count elements."""
    counts = ctypes.c_int64 * len(shape)
    sizes, steps = counts(*shape), counts(*strides)
    tensor = _Tensor(address, _Device(CUDA, device), len(shape), _DataType(UNSIGNED, bits, 1), sizes, steps, 0)
    deleter = ctypes.cast(_deleter, ctypes.c_void_p)
    managed: Any = _ManagedVersioned(1, 0, None, deleter, flags, tensor) if versioned else _Managed(tensor, None, deleter)
    _owners[ctypes.addressof(managed)] = (managed, sizes, steps, owner)
    return _new(ctypes.addressof(managed), _NAMES[versioned], ctypes.cast(_destructor, ctypes.c_void_p))
