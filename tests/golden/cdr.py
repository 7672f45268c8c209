#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the CDR code, type by type, with the Python package rosbags: 1,000 random messages decoded and encoded again.

usage: cdr.py PROBE        (PROBE: the program made of cdr_probe.c)
Exit status: 0 all equal, 1 a difference, 77 skipped because rosbags is missing (./dev setup --all installs it).
"""
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

from probe import PROBE  # first: it skips the test where rosbags is missing
import numpy
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

MESSAGES = 1000
NUMPY = {"bool": "?", "byte": "u1", "octet": "u1", "uint8": "u1", "int8": "i1", "int32": "i4", "uint32": "u4", "int64": "i8", "float32": "f4", "float64": "f8"}
LETTERS = "abcdefghijklmnopqrstuvwxyz_/0123456789é☃"


def ask(*request, data=b""):
    return subprocess.run([*PROBE, *map(str, request)], input=data, capture_output=True, check=True).stdout


def stores():
    """The types as rosbags knows them; those that it lacks (vision_msgs) from the probe's definition of them."""
    store = get_typestore(Stores.ROS2_HUMBLE)
    defined = get_typestore(Stores.EMPTY)
    for name in TYPES:
        types = get_types_from_msg(ask("schema", name).decode(), name)
        defined.register({key: value for key, value in types.items() if key not in defined.fielddefs})
    store.register({name: fields for name, fields in defined.fielddefs.items() if name not in store.fielddefs})
    return store, defined


def one(store, kind, rng):
    """A random value of a field that is no sequence."""
    node, what = kind
    if node == Nodetype.NAME:
        return message(store, what, rng)
    name = what[0]
    if name == "string":
        return "".join(rng.choices(LETTERS, k=rng.choice((0, 1, 2, 3, 4, 5, 8, 31))))
    if name == "bool":
        return rng.random() < 0.5
    if name in ("float32", "float64"):
        return float(numpy.float32(rng.uniform(-1e6, 1e6))) if name == "float32" else rng.uniform(-1e9, 1e9)
    if name in ("byte", "octet"):
        return rng.randint(0, 127)  # rosbags packs it as a signed number
    bits = numpy.iinfo(NUMPY[name])
    return rng.randint(bits.min, bits.max)


def many(store, kind, count, rng):
    if kind[0] == Nodetype.BASE and kind[1][0] != "string":
        return numpy.array([one(store, kind, rng) for _ in range(count)], dtype=NUMPY[kind[1][0]])
    return [one(store, kind, rng) for _ in range(count)]


def message(store, name, rng):
    values = {}
    for field, (node, what) in store.fielddefs[name][1]:
        if node == Nodetype.ARRAY:
            values[field] = many(store, what[0], what[1], rng)
        elif node == Nodetype.SEQUENCE:
            values[field] = many(store, what[0], rng.choice((0, 1, 2, 3, 7)), rng)
        else:
            values[field] = one(store, (node, what), rng)
    return store.types[name](**values)


def lines(store, path, name, value):
    """What the probe prints for a message."""
    for field, (node, what) in store.fielddefs[name][1]:
        content = getattr(value, field)
        if node in (Nodetype.ARRAY, Nodetype.SEQUENCE):
            for i, element in enumerate(content):
                yield from element_lines(store, f"{path}.{field}[{i}]", what[0], element)
        else:
            yield from element_lines(store, f"{path}.{field}", (node, what), content)


def element_lines(store, path, kind, value):
    if kind[0] == Nodetype.NAME:
        yield from lines(store, path, kind[1], value)
    elif kind[1][0] in ("float32", "float64"):
        yield f"{path} {float(value):.17g}"
    else:
        yield f"{path} {value if isinstance(value, str) else int(value)}"


def compare(store, name, folder):
    rng = random.Random(name)
    messages = [message(store, name, rng) for _ in range(MESSAGES)]
    encoded = [bytes(store.serialize_cdr(each, name)) for each in messages]
    packed = b"".join(struct.pack("<I", len(each)) + each for each in encoded)
    output = folder / "again"
    printed = ask("recode", name, output, data=packed).decode().splitlines()
    expected = [line for each in messages for line in lines(store, "", name, each)]
    return output.read_bytes() == packed, printed == expected


TYPES = ask("types").decode().split()


def main():
    store, defined = stores()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in TYPES:
            same_fields = all(store.fielddefs[part][1] == defined.fielddefs[part][1] for part in defined.fielddefs)
            same_bytes, same_values = compare(store, name, pathlib.Path(folder))
            same_hash = ask("hash", name).decode().strip() == defined.hash_rihs01(name)
            good = same_hash and same_fields and same_bytes and same_values
            failures += not good
            print(f"{'ok    ' if good else 'WRONG '}{name}: {MESSAGES} messages, bytes {'equal' if same_bytes else 'DIFFER'}, "
                  f"values {'equal' if same_values else 'DIFFER'}, definition {'equal' if same_fields else 'DIFFERS'}, hash {'equal' if same_hash else 'DIFFERS'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
