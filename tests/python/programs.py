# SPDX-License-Identifier: Apache-2.0
"""Fixture of the tests in Python: a directory for each test, and programs of the build, which end with their test."""
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

BINARIES = pathlib.Path(os.environ["PLX_BINARY_DIR"]) / "bin"
WAIT_S = float(os.environ.get("PLX_TEST_PATIENCE_S", 120))  # until it is clear that what is expected never happens
SKIPPED = 77  # what CTest takes for a skipped test

_libc = ctypes.CDLL(None)


def _end_with_test():
    _libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def setting_options(settings):
    """The words of a command line that set SETTINGS, each KEY=VALUE."""
    return [word for setting in settings for word in ("--set", setting)]


class Programs(unittest.TestCase):
    """Gives each test a directory, and a socket in it."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="plx-test-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.socket = f"{self.directory}/s"

    def start(self, program, *words, **options):
        process = subprocess.Popen([BINARIES / program, *map(str, words)], preexec_fn=_end_with_test, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                pipe.close()
