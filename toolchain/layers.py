#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a file includes what its folder may not, or if files include each other in a circle (./dev check layers).

A folder may include its own files, those of include/, and what LAYERS gives it, where a name stands for all folders below it.
Folders are named from the bottom up: each is given earlier ones only, so that there are no circles of folders. Within a folder
there is no circle of files: a .c file counts with its header as one unit.
"""
import os
import re
import subprocess
import sys

LAYERS = {
    "core/base": "",
    "core/geometry": "core/base",
    "core/ground": "core/base core/geometry/stereo.h",
    "core/motion": "core/base core/geometry",
    "core/drift": "core/base core/geometry core/motion",
    "core/tracks": "core/base core/geometry core/ground/predictions.h core/motion",
    "core/source": "core/base core/geometry",
    "core/checks": "core/base core/geometry core/source",
    "core/colour": "core/base",
    "core/verdict": "core/base core/geometry/stereo.h core/motion",
    "core/pipeline": "core",
    "cpu": "core",
    "gpu": "core",
    "oracle": "core",
    "client": "core/base",
    "config": "core gpu",
    "formats": "core/base",
    "drivers": "core",  # pair_queue, for the folders below
    "drivers/files": "core",
    "drivers/mcap": "core formats drivers/files",
    "drivers/replay": "core drivers/pair_queue.h drivers/files drivers/mcap",
    "drivers/synthetic": "core drivers/pair_queue.h",
    "drivers/v4l2": "core drivers/files",
    "bridge": "core formats",
    "app": "core cpu gpu config",  # what the programs share
    "app/blackbox": "core config",
    "app/calibrate": "core",
    "app/publish": "core",
    "app/view": "core client/schedule.h gpu drivers/files",
    "app/evaluate": "core app/view",
    "app/bag_writer": "core formats bridge",
    "app/flight_recorder": "core config app/publish app/bag_writer",
    "app/corrections": "core config/file.h config/replace.h",
    "app/engine": "core gpu config drivers app/corrections app/publish",
    "app/supervisor": "core config drivers/v4l2/v4l2.h app/blackbox app/corrections app/publish app/engine",
    "app/doctor": "core config drivers/v4l2/v4l2.h bridge app/view app/engine/setup.h",
    "app/selftest": "core cpu gpu oracle config drivers app/publish app/engine",
    "app/cli": "core gpu config drivers bridge app/blackbox app/corrections app/calibrate app/view app/evaluate app/bag_writer"
    " app/flight_recorder app/doctor app/selftest",
    "app/web": "core config formats bridge app/view app/evaluate app/flight_recorder",
    "app/ros": "core config bridge",
    "app/gpio": "core/base",
}
SHARED = {folder for folder in LAYERS if folder.startswith("app/")}  # they may include the files of app/ itself


def layer_of(path):
    """The folder of LAYERS that PATH lies in; None: there is none."""
    while path and path not in LAYERS:
        path = os.path.dirname(path)
    return path or None


def allows(layer, target):
    """Whether files of LAYER may include TARGET."""
    target_layer = layer_of(target)
    if target.startswith("include/") or target_layer == layer or layer in SHARED and os.path.dirname(target) == "app":
        return True
    return any(target == name or target.startswith(name + "/") for name in LAYERS[layer].split())


def check_order():
    seen = []
    for layer, names in LAYERS.items():
        for name in names.split():
            if not any((folder + "/").startswith(name + "/") or os.path.dirname(name) == folder for folder in seen):
                yield f"toolchain/layers.py: {layer} is given {name}, which does not stand before it"
        seen.append(layer)


def read_includes():
    """Every include of one file of the tree by another: (path, line number, included path)."""
    files = subprocess.run(["git", "ls-files", "*.[ch]", "*.cu", "*.cuh"], check=True, capture_output=True, text=True).stdout.split()
    known = set(files)
    for path in files:
        if path.startswith(("tests/", "toolchain/", "docs/")):
            continue
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            include = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
            targets = [name for name in (include[1], f"include/{include[1]}") if name in known] if include else []
            if targets:
                yield path, number, targets[0]


def check_includes(includes):
    for path, number, target in includes:
        layer = layer_of(os.path.dirname(path))
        if path.startswith("include/"):
            continue
        if not layer:
            yield f"{path}: its folder has no layer; add it to toolchain/layers.py"
        elif not allows(layer, target):
            yield f"{path}:{number}: {layer}/ may not include {target} (toolchain/layers.py)"


def unit_of(path):
    return os.path.splitext(path)[0]


def check_circles(includes):
    """Removes units that include no other one until none is left; what stays is in a circle, or includes one."""
    places = {}
    for path, number, target in includes:
        if unit_of(path) != unit_of(target):
            places.setdefault(unit_of(path), {}).setdefault(unit_of(target), f"{path}:{number}")
    while ends := {unit for targets in places.values() for unit in targets if unit not in places}:
        places = {unit: {target: place for target, place in targets.items() if target not in ends} for unit, targets in places.items()}
        places = {unit: targets for unit, targets in places.items() if targets}
    if places:
        way = [next(iter(places))]
        while way[-1] not in way[:-1]:
            way.append(next(iter(places[way[-1]])))
        circle = way[way.index(way[-1]):]
        steps = [f"{places[unit][target]} includes {target}" for unit, target in zip(circle, circle[1:])]
        yield f"a circle of includes: {'; '.join(steps)}"


all_includes = list(read_includes())
faults = [*check_order(), *check_includes(all_includes), *check_circles(all_includes)]
print("\n".join(faults) or "every include stays within its layers, and there is no circle")
sys.exit(bool(faults))
