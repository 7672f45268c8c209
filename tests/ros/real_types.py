# SPDX-License-Identifier: Apache-2.0
"""Makes message types, which PyPI has no wheel of, for a real ROS 2 by its own generators; runs with its Python.

usage: real_types.py PROBE OUTPUT PACKAGE/TYPE...    (PROBE: tests/golden/cdr_probe.c, which prints the definitions)
OUTPUT, a folder for PYTHONPATH and LD_LIBRARY_PATH, then has the packages of these types, as far as this ROS lacks them: one extension module
each, with C structures, conversion, serialization by Fast CDR, and the hash, which ROS computes. Needs a compiler of C and C++, and
Python's headers."""
import pathlib
import re
import subprocess
import sys
import sysconfig

import numpy
from rosidl_adapter.msg import convert_msg_to_idl
from rosidl_generator_c.cli import GenerateC
from rosidl_generator_py.cli import GeneratePython
from rosidl_typesupport_c.cli import GenerateCTypesupport
from rosidl_typesupport_fastrtps_c.cli import GenerateFastRTPSCTypesupport
from rosidl_typesupport_introspection_c.cli import GenerateIntrospectionCTypesupport

PREFIX = pathlib.Path(sys.prefix)
SUPPORTS = ("rosidl_typesupport_fastrtps_c", "rosidl_typesupport_introspection_c")  # Jazzy describes types to DDS by the second
GENERATORS = [GenerateC("generator_c"), GenerateFastRTPSCTypesupport("fastrtps_c"), GenerateIntrospectionCTypesupport("introspection_c"),
              GenerateCTypesupport("typesupport_c", typesupport_implementations=SUPPORTS),
              GeneratePython("py", typesupport_implementations=["rosidl_typesupport_c"])]


def definitions(probe, name):
    """The messages that NAME, PACKAGE/TYPE, consists of: {PACKAGE/TYPE: definition}."""
    text = subprocess.run([probe, "schema", name.replace("/", "/msg/")], capture_output=True, check=True, text=True).stdout
    first, *others = re.split(r"^=+\nMSG: (\S+)\n", text, flags=re.MULTILINE)
    return {name: first} | dict(zip(others[::2], others[1::2]))


def make(package, messages, output):
    work = output / "work"
    folders = {each: (output if each.name == "py" else work / each.name) / package for each in GENERATORS}
    definition = work / "idl" / package
    (definition / "msg").mkdir(parents=True)
    for name, text in messages.items():
        (definition / f"msg/{name}.msg").write_text(text)
        convert_msg_to_idl(definition, package, pathlib.Path(f"msg/{name}.msg"), definition / "msg")
    for generator, folder in folders.items():
        generator.generate(package, [f"{definition}:msg/{name}.idl" for name in messages], [str(PREFIX / "share"), str(work / "idl")],
                           output_path=folder)
    (output / package / "__init__.py").touch()

    includes = [*(each.parent for each in folders.values()), numpy.get_include(), sysconfig.get_paths()["include"], PREFIX / "include",
                *(PREFIX / "include").iterdir()]
    options = ["-O0", "-fPIC", "-w", *(f"-I{each}" for each in includes)]
    together = work / f"{package}.cpp"  # the headers are most of the work; files in C have names in common
    together.write_text("".join(f'#include "{each}"\n' for folder in folders.values() for each in sorted(folder.rglob("*.cpp"))))
    sources = [together, *(each for folder in folders.values() for each in folder.rglob("*.c"))]
    for source in sources:
        subprocess.run(["c++" if source == together else "cc", "-c", *options, source, "-o", f"{source}.o"], check=True)
    kinds = "generator_c|generator_py|typesupport_c|typesupport_fastrtps_c|typesupport_introspection_c"
    libraries = [each for each in (PREFIX / "lib").glob("lib*.so") if re.search(f"(__|lib)rosidl_({kinds})[.]so", each.name)]
    libraries += [PREFIX / f"lib/lib{name}.so" for name in ("rosidl_runtime_c", "rosidl_typesupport_fastrtps_cpp", "fastcdr", "rmw", "rcutils")]
    module = output / package / f"{package}_s__rosidl_typesupport_c{sysconfig.get_config_var('EXT_SUFFIX')}"
    subprocess.run(["c++", "-shared", *(f"{each}.o" for each in sources), "-Wl,--as-needed", *libraries, "-o", module], check=True)
    for support in SUPPORTS:  # by these names rosidl_typesupport_c looks for them
        (output / f"lib{package}__{support}.so").symlink_to(module)


def main():
    _, probe, output, *names = sys.argv
    packages = {}
    for name in names:
        for part, text in definitions(probe, name).items():
            package, short = part.split("/")
            if not (PREFIX / "share" / package).exists():
                packages.setdefault(package, {})[short] = text
    for package, messages in packages.items():
        make(package, messages, pathlib.Path(output).absolute())


main()
