#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a cloud of points each second, as cloud-SEQUENCE.ply for CloudCompare, MeshLab or Open3D. Arguments: how many; perhaps a socket."""
import asyncio
import sys

import numpy
import parallax_stereo


def write_ply(name: str, frame: parallax_stereo.Frame) -> None:
    points, left = frame.points(), frame.left
    if points is None or left is None:
        print(f"frame {frame.sequence} has no disparity")
        return
    known = numpy.isfinite(points[..., 2])
    vertices = numpy.zeros(int(known.sum()), [("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("intensity", "u1")])
    for axis in range(3):
        vertices["xyz"[axis]] = points[known][:, axis]
    vertices["intensity"] = left[known]
    with open(name, "wb") as file:
        file.write(f"ply\nformat binary_little_endian 1.0\nelement vertex {len(vertices)}\nproperty float x\nproperty float y\n"
                   "property float z\nproperty uchar intensity\nend_header\n".encode())
        file.write(vertices.tobytes())
    print(f"{name}: {len(vertices)} points")


async def main() -> None:
    wanted = int(sys.argv[1])
    with parallax_stereo.Client(sys.argv[2] if len(sys.argv) > 2 else None) as client:
        due = 0
        async for frame in client:  # private copies
            if frame.published_ns < due:
                continue
            due = frame.published_ns + 10**9
            write_ply(f"cloud-{frame.sequence}.ply", frame)
            wanted -= 1
            if not wanted:
                return


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} COUNT [SOCKET]")
    asyncio.run(main())
