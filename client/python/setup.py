# SPDX-License-Identifier: Apache-2.0
"""Compiles libparallax into the package, from the sources beside it in a checkout. Everything else is in pyproject.toml."""
import os
import pathlib
import shlex
import subprocess

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLIENT = ROOT / "client"
SOURCES = [*sorted(CLIENT.glob("*.c")), ROOT / "core/base/error.c", ROOT / "core/base/words.c"]  # as client/CMakeLists.txt has them
COMPILE = ["-std=gnu11", "-O2", "-fPIC", "-D_GNU_SOURCE", "-fno-math-errno", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-fstack-protector-strong",
           f"-I{ROOT}", f"-I{ROOT / 'include'}"]
LINK = ["-shared", f"-Wl,--version-script={CLIENT / 'parallax.map'}", "-Wl,--no-undefined", "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack"]


class BuildLibrary(build_ext):
    """A plain shared library, which ctypes loads: Python's headers and flags have no part in it."""

    def get_ext_filename(self, fullname):
        return os.path.join(*fullname.split(".")[:-1], "libparallax.so.0")

    def build_extension(self, ext):
        if not (CLIENT / "parallax.map").exists():
            raise SystemExit(f"parallax-stereo: the C sources of libparallax are not in {CLIENT}; install from a whole checkout of Parallax "
                             "(pip install ./client/python), or install the Debian packages python3-parallax and libparallax0")
        library = pathlib.Path(self.get_ext_fullpath(ext.name))
        library.parent.mkdir(parents=True, exist_ok=True)
        compiler = shlex.split(os.environ.get("CC") or "cc")
        try:
            subprocess.run([*compiler, *COMPILE, *LINK, "-o", library, *SOURCES, "-ldl"], check=True)
        except FileNotFoundError:
            raise SystemExit(f"parallax-stereo: there is no C compiler {compiler[0]!r}, and libparallax must be compiled; install gcc or clang "
                             "(Debian, Ubuntu: sudo apt install gcc libc6-dev), or name a compiler in $CC") from None
        except subprocess.CalledProcessError as error:
            raise SystemExit(f"parallax-stereo: {compiler[0]} cannot compile libparallax (exit code {error.returncode}); its messages are above. "
                             "It needs C11 and the headers of the C library (Debian, Ubuntu: sudo apt install libc6-dev)") from None


class BuildWheel(bdist_wheel):
    """The library belongs to a machine, but to no version of Python."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(ext_modules=[Extension("parallax_stereo.libparallax", [])], cmdclass={"build_ext": BuildLibrary, "bdist_wheel": BuildWheel})
