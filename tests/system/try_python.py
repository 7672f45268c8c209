# SPDX-License-Identifier: Apache-2.0
"""The Python binding against ring_peer, whose frames hold a known pattern; started by install.sh."""
import ctypes
import select
import subprocess
import tempfile

import numpy
import parallax

# The structures are where C has them.
FIELDS = [name for name, _ in parallax.Header._fields_]
OBSTACLE = [name for name, _ in parallax.Obstacle._fields_]
PROGRAM = "#include <parallax/frame.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{\n"
PROGRAM += "".join(f'printf("%zu\\n", offsetof(struct plx_frame, {name}));\n' for name in FIELDS)
PROGRAM += "".join(f'printf("%zu\\n", offsetof(struct plx_obstacle, {name}));\n' for name in OBSTACLE)
PROGRAM += 'printf("%zu\\n%d\\n", sizeof(struct plx_frame), PLX_PLANE_COUNT);\n}\n'
with tempfile.TemporaryDirectory() as work:
    flags = subprocess.check_output(["pkg-config", "--cflags", "parallax"], text=True).split()
    subprocess.run(["cc", *flags, "-xc", "-o", f"{work}/offsets", "-"], input=PROGRAM, text=True, check=True)
    offsets = [int(line) for line in subprocess.check_output(f"{work}/offsets").split()]
mine = [getattr(parallax.Header, name).offset for name in FIELDS]
mine += [getattr(parallax.Obstacle, name).offset for name in OBSTACLE]
mine += [ctypes.sizeof(parallax.Header), len(parallax.PLANES)]
assert mine == offsets, list(zip(FIELDS + OBSTACLE, mine, offsets))

with parallax.Client() as eyes:
    assert eyes.state == "running" and eyes.health == 0 and eyes.reason == ""
    last = 0
    for _ in range(20):
        assert select.select([eyes], [], [], 5)[0]
        frame = eyes.read(timeout=0)
        if frame is None:
            continue
        assert frame.sequence > last
        last = frame.sequence
        words = frame.left.reshape(-1).view(numpy.uint64)
        assert (numpy.diff(words) == 1).all() and words[0] == last * 0x9E3779B97F4A7C15 % 2**64
        assert not frame.left.flags.writeable and frame.dense is None and frame.disparity_px() is None
        assert len(frame.header.obstacle[:frame.header.obstacle_count]) == 256
    assert last
try:
    parallax.Client("/no/such/socket")
    raise SystemExit("no error without a service")
except parallax.Error as error:
    assert error.code == -4 and str(error) == "not found"
