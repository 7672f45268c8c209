#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an OpenCV FileStorage in XML as YAML.

usage: opencv_xml.py stereo.xml stereo.yml
"""
import sys

import cv2

if len(sys.argv) != 3:
    sys.exit("usage: opencv_xml.py stereo.xml stereo.yml")
source, out = cv2.FileStorage(sys.argv[1], cv2.FILE_STORAGE_READ), cv2.FileStorage(sys.argv[2], cv2.FILE_STORAGE_WRITE)
if not source.isOpened():
    sys.exit(f"opencv_xml.py: cannot read {sys.argv[1]}")
for key in source.root().keys():
    node = source.getNode(key)
    if node.isMap():
        out.write(key, node.mat())
    elif node.isInt() or node.isReal():
        out.write(key, node.real())
out.release()
