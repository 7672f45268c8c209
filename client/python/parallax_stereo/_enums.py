# SPDX-License-Identifier: Apache-2.0
"""What the enumerations of flags.py have in common."""
from __future__ import annotations

import enum


class Number(enum.IntEnum):
    """A number that this version does not know becomes a member UNKNOWN_n, never an error."""

    @classmethod
    def _missing_(cls, value: object) -> Number | None:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_ = f"UNKNOWN_{value}"
        member._value_ = value
        return member

    def __str__(self) -> str:
        return self.name.lower()

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


class Flags(enum.IntFlag):
    """Flags whose text is their names in small letters."""

    def _nothing(self) -> str:
        """The text where no flag is set."""
        return "none"

    def __str__(self) -> str:
        return "|".join((flag.name or "").lower() for flag in type(self) if flag & self) or self._nothing()

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)
