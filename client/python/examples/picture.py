#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws one frame with Matplotlib: the left image with the obstacles in it, and the distances. Arguments: a file; perhaps a socket."""
import sys

import parallax_stereo
from matplotlib import pyplot
from matplotlib.patches import Rectangle


def main() -> None:
    with parallax_stereo.Client(sys.argv[2] if len(sys.argv) > 2 else None) as client:
        frame = client.read(timeout=5.0)
    left, depth = frame.left, frame.depth()
    if left is None or depth is None:
        sys.exit("no disparity: not calibrated, or switched off")
    figure, (picture, distances) = pyplot.subplots(1, 2, figsize=(12, 5))
    picture.imshow(left, cmap="gray")
    if frame.blind:
        picture.set_title(f"obstacles unknown: {frame.blind}")
    for obstacle in () if frame.blind else frame.obstacles:
        picture.add_patch(Rectangle((obstacle.x, obstacle.y), obstacle.width, obstacle.height, fill=False, edgecolor="red"))
        picture.text(obstacle.x, obstacle.y - 2, f"{obstacle.size_class} {obstacle.nearest_m:.1f} m", color="red")
    figure.colorbar(distances.imshow(depth, cmap="turbo_r", vmin=0, vmax=20), label="Z in metres")
    figure.savefig(sys.argv[1])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} FILE.png [SOCKET]")
    main()
