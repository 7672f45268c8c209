# SPDX-License-Identifier: Apache-2.0
"""Structures, enumerations and errors of the package are those of the C headers: a C program prints the latter."""
import inspect
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import service  # noqa: F401: skips without NumPy
import parallax_stereo
from parallax_stereo import _layout, errors, flags

SOURCE = pathlib.Path(os.environ["PLX_SOURCE_DIR"])
ENUMS = {"PLANE": flags.Plane, "STATE": flags.State, "HEALTH": flags.Health, "BLIND": flags.Blindness, "SOURCE": flags.Source,
         "CLOCK": flags.Clock, "MEMORY": flags.Memory, "STAGE": flags.Stage, "MOTION": flags.MotionSource,
         "TRACK": flags.TrackStatus, "SIZE": flags.SizeClass, "CELL": flags.CellKind, "VERDICT": flags.VerdictKind,
         "REASON": flags.Reason, "LOCATION": flags.LocationState}
CONSTANTS = {"PLX_MAX_ZONES": _layout.MAX_ZONES, "(int)(1000 * PLX_MAP_CELL_M)": round(1000 * _layout.MAP_CELL_M),
             "(int)(1000 * PLX_CELL_AGE_S)": round(1000 * _layout.CELL_AGE_S),
             "(int)(1000 * PLX_CELL_HEIGHT_M)": round(1000 * _layout.CELL_HEIGHT_M), "PLX_MAX_OBSTACLES": _layout.MAX_OBSTACLES, "PLX_DISPARITY_ONE": _layout.DISPARITY_ONE,
             "PLX_DISPARITY_INVALID": _layout.DISPARITY_INVALID, "PLX_PLANE_COUNT": len(flags.Plane),
             "PLX_COLUMN_WIDTH": _layout.COLUMN_WIDTH, "PLX_SCAN_DROP": _layout.SCAN_DROP, "PLX_SCAN_NOTHING_FREE": _layout.SCAN_NOTHING_FREE,
             "PLX_STAGE_COUNT": len(flags.Stage), "offsetof(struct plx_frame, obstacle)": _layout.OBSTACLES_OFFSET}


def header(name):
    return (SOURCE / "include/parallax" / name).read_text()


def evaluate(expressions):
    """The numbers that C has for EXPRESSIONS."""
    program = "#include <parallax/cuda.h>\n#include <stdio.h>\nint main(void)\n{\n"
    program += "".join(f'printf("%lld\\n", (long long)({expression}));\n' for expression in expressions) + "}\n"
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([os.environ.get("CC", "cc"), f"-I{SOURCE}/include", "-xc", "-o", f"{work}/print", "-"], input=program, text=True,
                       check=True)
        return [int(line) for line in subprocess.check_output(f"{work}/print").split()]


class Layout(unittest.TestCase):
    def assert_equals_c(self, numbers):
        theirs = dict(zip(numbers, evaluate(numbers)))
        self.assertEqual({name: theirs[name] for name in numbers if theirs[name] != numbers[name]}, {})

    def test_structures_have_every_field_where_c_has_it(self):
        numbers = {}
        for name, structure in _layout.STRUCTURES.items():
            end = 0
            for field in structure.names:
                element, offset = structure.fields[field][:2]
                self.assertEqual(offset, end, f"{name}: bytes before {field}")
                end = offset + element.itemsize
                numbers[f"offsetof(struct {name}, {field})"] = offset
                numbers[f"sizeof ((struct {name} *)0)->{field}"] = element.itemsize
            numbers[f"sizeof(struct {name})"] = end
            self.assertEqual(structure.itemsize, end, name)
        self.assert_equals_c(numbers)

    def test_every_structure_of_the_record_is_there(self):
        self.assertEqual(set(re.findall(r"^struct (\w+) {", header("frame.h"), re.M)) - set(_layout.STRUCTURES), set())

    def test_planes_have_the_elements_of_c(self):
        self.assertEqual(set(_layout.ELEMENT), set(flags.Plane))
        self.assert_equals_c({f"plx_plane_element(PLX_PLANE_{plane.name})": element.itemsize
                              for plane, element in _layout.ELEMENT.items()})

    def test_enumerations_are_those_of_c(self):
        subprocess.run([sys.executable, SOURCE / "toolchain/vocabulary.py", "--check"], check=True)
        for prefix, enumeration in ENUMS.items():
            self.assert_equals_c({f"PLX_{prefix}_{member.name}": int(member) for member in enumeration})

    def test_constants_are_those_of_c(self):
        self.assert_equals_c(CONSTANTS)

    def test_every_error_has_its_exception(self):
        codes = re.findall(r"\b(PLX_ERR_\w+)", header("error.h"))
        classes = [c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, errors.Error) and c.code]
        self.assertEqual(sorted(evaluate(codes)), sorted(c.code for c in classes))
        for error in classes:
            self.assertRaises(error, errors.check, error.code)
            self.assertIs(getattr(parallax_stereo, error.__name__), error)
        self.assertRaises(errors.Error, errors.check, -99)

    def test_unknown_numbers_are_no_errors(self):
        self.assertEqual((str(flags.State(77)), int(flags.State(77))), ("unknown_77", 77))
        self.assertEqual(int(flags.Health(1 << 30)), 1 << 30)
        self.assertEqual(f"{flags.State.RUNNING} {flags.Health(3)} {flags.Health(0)}",
                         "running camera_lost_left|camera_lost_right fine")

    def test_version_is_that_of_the_project(self):
        self.assertEqual(parallax_stereo.__version__, os.environ["PLX_VERSION"])


if __name__ == "__main__":
    unittest.main()
