# SPDX-License-Identifier: Apache-2.0
"""pip's way: the wheel compiles and carries libparallax, and reads frames without $PARALLAX_LIBRARY and without an installed library."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from programs import SKIPPED
from service import Service

SOURCE = pathlib.Path(os.environ["PLX_SOURCE_DIR"])
# The distribution's setuptools is too old at times: that of toolchain/python.txt then makes the wheel.
PYTHON = next((each for each in (pathlib.Path(os.environ["PLX_PYTHON_PACKAGES"], "bin/python3"), pathlib.Path(sys.executable))
               if each.exists() and subprocess.run([each, "-c", "import setuptools.command.bdist_wheel; import pip"], capture_output=True).returncode == 0), None)
if not PYTHON:
    print("skipped: no pip, or no setuptools 77 or later; ./dev setup --all installs both")
    sys.exit(SKIPPED)

READ = """
import sys
import numpy, parallax_stereo
from parallax_stereo._library import library
print(library._name)
with parallax_stereo.Client(sys.argv[1], wait=None) as client:
    frame = client.read(timeout=60)
words = frame.left.reshape(-1).view(numpy.uint64)
assert words[0] == frame.sequence * 0x9E3779B97F4A7C15 % 2**64 and (numpy.diff(words) == 1).all()
"""


class Wheel(Service):
    def setUp(self):
        super().setUp()
        self.checkout = pathlib.Path(self.directory, "checkout")  # setuptools writes beside its sources
        for folder in ("client", "core", "include"):
            shutil.copytree(SOURCE / folder, self.checkout / folder, ignore=shutil.ignore_patterns("build", "*.egg-info", "*.so.*"))

    def pip(self, *words, **variables):
        environment = {name: value for name, value in os.environ.items() if name not in ("PARALLAX_LIBRARY", "PYTHONPATH")}
        return subprocess.run([PYTHON, "-m", "pip", *words, "--no-deps", "--disable-pip-version-check", "--no-index"],
                              env={**environment, **variables}, capture_output=True, text=True)

    def make(self, **variables):
        return self.pip("wheel", "--no-build-isolation", "--wheel-dir", f"{self.directory}/wheels", self.checkout / "client/python", **variables)

    def test_frames_are_read_by_what_pip_installs(self):
        made = self.make()
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        wheel, = pathlib.Path(self.directory, "wheels").iterdir()
        self.assertRegex(wheel.name, f"^parallax_stereo-{os.environ['PLX_VERSION']}-py3-none-linux_")
        installed = self.pip("install", "--target", f"{self.directory}/site", wheel)
        self.assertEqual(installed.returncode, 0, installed.stdout + installed.stderr)
        self.assertIn("Apache License", next(pathlib.Path(self.directory, "site").glob("*.dist-info/**/LICENSE")).read_text())

        self.start_peer(epoch=5)
        reader = subprocess.Popen([sys.executable, "-c", READ, self.socket], stdout=subprocess.PIPE, text=True,
                                  env={**{name: value for name, value in os.environ.items() if name != "PARALLAX_LIBRARY"},
                                       "PYTHONPATH": f"{self.directory}/site"})
        self.addCleanup(self.end, reader)
        loaded = reader.stdout.readline().strip()
        self.ask("go 1000 10000")
        self.assertEqual(reader.wait(60), 0)
        self.assertEqual(loaded, f"{self.directory}/site/parallax_stereo/libparallax.so.0")

    def test_without_a_compiler_it_says_what_is_missing(self):
        made = self.make(CC="/no/compiler")
        self.assertNotEqual(made.returncode, 0)
        self.assertIn("there is no C compiler '/no/compiler'", made.stdout + made.stderr)

    def test_outside_a_checkout_it_says_what_is_missing(self):
        (self.checkout / "client/parallax.map").unlink()
        made = self.make()
        self.assertNotEqual(made.returncode, 0)
        self.assertIn("install from a whole checkout of Parallax", made.stdout + made.stderr)


if __name__ == "__main__":
    unittest.main()
