#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the Python package's flags.py from the tables of include/parallax/vocabulary.h; with --check, fails if it differs."""
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
TABLES = SOURCE / "include/parallax/vocabulary.h"
FLAGS = SOURCE / "client/python/parallax_stereo/flags.py"

# Table, class, what the class is, and what it prints where no flag is set.
NUMBERS = [
    ("PLANE", "Plane", "The planes of a frame, enum plx_plane_id."),
    ("STATE", "State", "What the service does, enum plx_state."),
    ("SOURCE", "Source", "Where the pictures come from, enum plx_source_type. Only V4L2 shows the world as it is now."),
    ("CLOCK", "Clock", "The clock of a source, enum plx_clock."),
    ("MEMORY", "Memory", "How a camera's pictures come into memory, enum plx_memory."),
    ("STAGE", "Stage", "The stages whose time is published, enum plx_stage."),
    ("MOTION", "MotionSource", "Where ego-motion comes from, enum plx_motion_source."),
    ("TRACK", "TrackStatus", "What is known of a track in this frame, enum plx_track_status."),
    ("CELL", "CellKind", "What the map knows of a cell, enum plx_cell_kind."),
    ("VERDICT", "VerdictKind", "What a robot may do, enum plx_verdict_kind; GO is the largest."),
    ("LOCATION", "LocationState", "What Frame.locate says of a box, enum plx_location_state; only KNOWN has a position."),
    ("SIZE", "SizeClass", "Class of an obstacle's measured width and height, not of what it is: enum plx_size_class."),
]
BITS = [
    ("BLIND", "Blindness", "Why a frame cannot show obstacles, enum plx_blind; Blindness(0): it can.", "it can"),
    ("REASON", "Reason", "Why a verdict is not go, enum plx_reason_bit; Reason(0): it is.", "none"),
    ("HEALTH", "Health", "Faults, enum plx_health; Health(0) is fine.", "fine"),
]

BEGIN = '''# SPDX-License-Identifier: Apache-2.0
"""The enumerations of <parallax/vocabulary.h>, from which toolchain/vocabulary.py writes this file."""
from __future__ import annotations

from ._enums import Flags, Number


'''


def rows(table):
    """The arguments of each row, as they are written."""
    text = re.sub(r"/\*.*?\*/", "", TABLES.read_text(), flags=re.S)
    body = re.search(rf"#define PLX_{table}_TABLE\(ROW\)((?:.*\\\n)*.*)", text)[1].replace("\\\n", " ")
    found = re.findall(r'ROW\(((?:"[^"]*"|[^")])*)\)', body)
    if not found:
        sys.exit(f"{TABLES}: PLX_{table}_TABLE has no rows")
    return [[cell.strip() for cell in row.split(",")] for row in found]


def members(table):
    """Number and name of each row; where the table has no numbers, they count from 0."""
    return [(int(row[0]), row[1]) if row[0].isdigit() else (place, row[0]) for place, row in enumerate(rows(table))]


def class_text(name, base, about, lines):
    return f'class {name}({base}):\n    """{about}"""\n' + "".join(f"    {line}\n" for line in lines) + "\n\n"


def flags_text():
    text = BEGIN
    for table, name, about in NUMBERS:
        text += class_text(name, "Number", about, [f"{member} = {number}" for number, member in members(table)])
    text += "# The type of an element of each plane: of NumPy, or a structure.\n"
    elements = [(name, re.sub("^struct |_t$", "", kind)) for name, kind in rows("PLANE")]
    text += "PLANE_ELEMENTS = {\n" + "".join(f'    Plane.{name}: "{kind}",\n' for name, kind in elements) + "}\n\n\n"
    for table, name, about, nothing in BITS:
        lines = [f"{member} = 1 << {bit}" for bit, member in members(table)]
        text += class_text(name, "Flags", about, [*lines, "", "def _nothing(self) -> str:", f'    return "{nothing}"'])
    return re.sub(r"(?m)^ +$", "", text).rstrip("\n") + "\n"


if sys.argv[1:] == ["--check"]:
    if FLAGS.read_text() != flags_text():
        sys.exit(f"{FLAGS.name} is not what {TABLES.name} says: run toolchain/vocabulary.py")
else:
    FLAGS.write_text(flags_text())
