# SPDX-License-Identifier: Apache-2.0
"""The service's memory as arrays, which keep it mapped as long as any of them, or a slice of one, lives."""
from __future__ import annotations

import ctypes
from typing import Any, Callable

import numpy
from numpy.typing import NDArray

from . import _layout
from ._library import library
from .errors import check


class Mapping:
    """A reference to the present mapping of a client (plx_mapping_ref), for its own life."""

    def __init__(self, client: ctypes.c_void_p) -> None:
        self._reference = ctypes.c_void_p()
        check(library.plx_mapping_ref(client, ctypes.byref(self._reference)))
        fields = numpy.frombuffer(ctypes.string_at(self._reference, _layout.MAPPING.itemsize), _layout.MAPPING)[0]
        self.address, self.bytes = int(fields["memory"]), int(fields["bytes"])

    def __contains__(self, address: int) -> bool:
        return self.address <= address < self.address + self.bytes

    def array(self, address: int, size: int) -> NDArray[numpy.uint8]:
        """SIZE bytes at ADDRESS, read-only."""
        return numpy.asarray(_Owner(self, address, size))

    def __del__(self, unref: Callable[[ctypes.c_void_p], None] = library.plx_mapping_unref) -> None:
        unref(self._reference)


class _Owner:
    """The base of arrays; NumPy keeps it while it keeps one of them."""

    def __init__(self, mapping: Mapping, address: int, size: int) -> None:
        self._mapping = mapping
        self.__array_interface__: dict[str, Any] = {"version": 3, "typestr": "|u1", "shape": (size,), "data": (address, True)}
