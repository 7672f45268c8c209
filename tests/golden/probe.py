# SPDX-License-Identifier: Apache-2.0
"""For tests that compare a program of ours, their first argument, with the Python package rosbags; skipped without it."""
import os
import shlex
import sys

try:
    import numpy  # noqa: F401
    import rosbags  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}; ./dev setup --all installs it")
    sys.exit(77)

PROBE = [*shlex.split(os.environ.get("PLX_EMULATOR", "")), sys.argv[1]]
