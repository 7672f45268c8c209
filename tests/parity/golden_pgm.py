#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""golden_pgm.py DATA OUT: the pairs and stored disparities of DATA (see ../shared/data) as PGM files, for parity/test_golden on
a machine without libpng."""
import pathlib
import sys

import cv2


def main():
    data, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    for pattern in ("stereo/*/left.png", "stereo/*/right.png", "golden/*.png", "golden_depth/*.png"):
        for source in sorted(data.glob(pattern)):
            target = out / source.relative_to(data).with_suffix(".pgm")
            target.parent.mkdir(parents=True, exist_ok=True)
            if not cv2.imwrite(str(target), cv2.imread(str(source), cv2.IMREAD_UNCHANGED)):
                sys.exit(f"cannot write {target}")


main()
