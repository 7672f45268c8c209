# SPDX-License-Identifier: Apache-2.0
"""The Python binding against ring_peer, whose frames hold a known pattern; started by install.sh."""
import ctypes
import select
import subprocess
import tempfile

import numpy
import parallax

# Every structure is where C has it: each field of Python at its offset in C and with its size, the first at 0, each where the one
# before ends, up to the end of the struct, so that no field of C lies between two; and the enumerations have the same numbers.
STRUCTS = {"plx_plane": parallax.Plane, "plx_capture_info": parallax.CaptureInfo, "plx_calibration_info": parallax.CalibrationInfo,
           "plx_ground_info": parallax.GroundInfo, "plx_alignment_info": parallax.AlignmentInfo, "plx_obstacle": parallax.Obstacle,
           "plx_pose": parallax.Pose, "plx_motion_hint": parallax.MotionHint,
           "plx_motion_info": parallax.MotionInfo, "plx_frame": parallax.Header}
ENUMS = {"PLX_PLANE": parallax.PLANES, "PLX_STATE": parallax.STATES, "PLX_STAGE": parallax.STAGES, "PLX_SOURCE": parallax.SOURCES}
CONSTANTS = {"PLX_MAX_OBSTACLES": parallax.MAX_OBSTACLES, "PLX_DISPARITY_INVALID": parallax.DISPARITY_INVALID,
             "PLX_TRACK_LOST": parallax.TRACK_LOST, "PLX_ERR_NOT_FOUND": parallax.ERR_NOT_FOUND,
             "PLX_ERR_RANGE": parallax.ERR_RANGE, "PLX_ERR_TIMEOUT": parallax.ERR_TIMEOUT, "PLX_ERR_LOST": parallax.ERR_LOST,
             "PLX_PLANE_COUNT": len(parallax.PLANES), "PLX_STAGE_COUNT": len(parallax.STAGES)}
CONSTANTS |= {f"{prefix}_{word.upper()}": number for prefix, words in ENUMS.items() for number, word in enumerate(words)}

expressions, mine = [], []
for name, structure in STRUCTS.items():
    end = 0
    for field, _ in structure._fields_:
        place = getattr(structure, field)
        assert place.offset == end, f"{name}: {end - place.offset} bytes lie before {field}"
        end = place.offset + place.size
        expressions += [f"offsetof(struct {name}, {field})", f"sizeof ((struct {name} *)0)->{field}"]
        mine += [place.offset, place.size]
    expressions.append(f"sizeof(struct {name})")
    mine.append(end)
for name, element in {"plx_scan": parallax.ELEMENTS["scan"], "plx_stixel": parallax.ELEMENTS["stixels"]}.items():
    expressions += [f"offsetof(struct {name}, {field})" for field in element.names] + [f"sizeof(struct {name})"]
    mine += [element.fields[field][1] for field in element.names] + [element.itemsize]
expressions += CONSTANTS
mine += CONSTANTS.values()
program = "#include <parallax/error.h>\n#include <parallax/frame.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{\n"
program += "".join(f'printf("%ld\\n", (long)({expression}));\n' for expression in expressions) + "}\n"
with tempfile.TemporaryDirectory() as work:
    flags = subprocess.check_output(["pkg-config", "--cflags", "parallax"], text=True).split()
    subprocess.run(["cc", *flags, "-xc", "-o", f"{work}/offsets", "-"], input=program, text=True, check=True)
    theirs = [int(line) for line in subprocess.check_output(f"{work}/offsets").split()]
wrong = [(what, a, b) for what, a, b in zip(expressions, mine, theirs) if a != b]
assert not wrong and len(mine) == len(theirs), wrong

assert parallax.config() == "source:\n  type: v4l2\n"
with parallax.Client() as eyes:
    assert eyes.state == "running" and eyes.health == 0 and eyes.reason == ""
    last = 0
    for _ in range(20):
        assert select.select([eyes], [], [], 5)[0]
        frame = eyes.read(timeout=0)
        if frame is None:
            continue
        assert frame.sequence > last
        assert frame.fresh and frame.source == "v4l2" and not frame.simulated
        assert frame.age == float("inf") and frame.alignment is None  # the peer dates no capture and measures no rows
        assert frame.motion is None  # nor motion
        frame.header.motion.valid, frame.header.motion.pose.translation[2] = 1, 4.5
        assert frame.motion.pose.translation[2] == 4.5
        header = eyes.last_header()
        assert header.sequence >= frame.sequence and header.fresh and header.left is None
        header.header.published_ns -= header.header.fresh_ns + 1  # as old as it may not be
        assert not header.fresh
        header.header.capture[0].capture_ns = header.header.published_ns
        assert 60 < header.age < 120
        last = frame.sequence
        words = frame.left.reshape(-1).view(numpy.uint64)
        assert (numpy.diff(words) == 1).all() and words[0] == last * 0x9E3779B97F4A7C15 % 2**64
        assert not frame.left.flags.writeable and frame.dense is None and frame.disparity_px() is None
        assert len(frame.header.obstacle[:frame.header.obstacle_count]) == 256
    assert last
    try:
        eyes.motion_hint(parallax.MotionHint(1, 2))
        raise SystemExit("no error for a hint that nobody may give")
    except parallax.Error as error:
        assert error.code == -8
try:
    parallax.Client("/no/such/socket")
    raise SystemExit("no error without a service")
except parallax.Error as error:
    assert error.code == -4 and str(error) == "not found"
