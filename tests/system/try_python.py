# SPDX-License-Identifier: Apache-2.0
"""The installed Python package with the installed library and ring_peer; started by install.sh. Its own tests are in tests/python."""
import numpy
import parallax_stereo

assert parallax_stereo.config() == "source:\n  type: v4l2\n"
with parallax_stereo.Client() as client:
    while True:
        try:
            with client.next(timeout=5) as frame:
                words = frame.left.reshape(-1).view(numpy.uint64).copy()
            break
        except parallax_stereo.Overwritten:
            continue
    assert words[0] == frame.sequence * 0x9E3779B97F4A7C15 % 2**64 and (numpy.diff(words) == 1).all()
    assert frame.fresh and frame.source == parallax_stereo.Source.V4L2 and client.state == parallax_stereo.State.RUNNING
