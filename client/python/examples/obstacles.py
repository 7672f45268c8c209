#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the nearest obstacle of every frame, without a copy of the pictures. Argument: perhaps a socket."""
import sys

import parallax_stereo


def main() -> None:
    with parallax_stereo.Client(sys.argv[1] if len(sys.argv) > 1 else None, wait=None) as client:
        while True:
            try:
                with client.next(timeout=1.0) as frame:
                    obstacles = frame.obstacles
            except parallax_stereo.Overwritten:  # this program was stopped meanwhile
                continue
            except (TimeoutError, ConnectionError) as error:
                print(f"blind: {error}; the service is {client.state} ({client.health})", flush=True)
                continue
            except parallax_stereo.Blind as error:
                print(f"blind: {error}", flush=True)
                continue
            if frame.fresh:  # still, after the work with it
                nearest = min(obstacles, key=lambda obstacle: obstacle.nearest_m, default="nothing in view")
                print(f"{frame.sequence} ({frame.source}): {nearest}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
