# SPDX-License-Identifier: Apache-2.0
"""The Python package on raw frames of the service that $PARALLAX_SOCKET names; started by test_raw.c."""
import parallax_stereo

with parallax_stereo.Client() as client:
    frame = client.read(timeout=10)
    assert not frame.is_calibrated
    assert frame.left.shape == frame.right.shape == (240, 320)
    assert frame.left.any() and (frame.left != frame.right).any()
    assert frame.histogram[0].sum() == frame.left.size
    assert frame.disparity is None and frame.disparity_px() is None and frame.disparity_px(dense=True) is None
    assert frame.depth() is None and frame.points() is None
    assert frame.blind == parallax_stereo.Blindness.NOT_CALIBRATED and frame.motion is None and frame.calibration.baseline_m == 0
    assert client.health & parallax_stereo.Health.NOT_CALIBRATED and client.state == parallax_stereo.State.DEGRADED
    assert "name a calibration" in client.reason
