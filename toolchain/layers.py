#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a file includes what its folder may not (./dev check layers).

A folder may include its own files, those of include/, and what LAYERS gives it, where a name stands for all folders below it.
Folders are named from the bottom up: each is given earlier ones only, so that there are no circles.
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
    "app/selftest": "core cpu gpu oracle config drivers app/publish app/engine",
    "app/cli": "core gpu config drivers bridge app/blackbox app/corrections app/calibrate app/view app/evaluate app/bag_writer"
    " app/flight_recorder app/selftest",
    "app/web": "core config formats bridge app/view app/flight_recorder",
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


def check_includes():
    files = subprocess.run(["git", "ls-files", "*.[ch]", "*.cu", "*.cuh"], check=True, capture_output=True, text=True).stdout.split()
    known = set(files)
    for path in files:
        if path.startswith(("include/", "tests/", "toolchain/", "docs/")):
            continue
        layer = layer_of(os.path.dirname(path))
        if not layer:
            yield f"{path}: its folder has no layer; add it to toolchain/layers.py"
            continue
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            include = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
            targets = [name for name in (include[1], f"include/{include[1]}") if name in known] if include else []
            if targets and not allows(layer, targets[0]):
                yield f"{path}:{number}: {layer}/ may not include {targets[0]} (toolchain/layers.py)"


faults = [*check_order(), *check_includes()]
print("\n".join(faults) or "every include stays within its layers")
sys.exit(bool(faults))
