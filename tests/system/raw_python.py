# SPDX-License-Identifier: Apache-2.0
"""The Python binding on raw frames of the service that $PARALLAX_SOCKET names; started by test_raw.c."""
import parallax

with parallax.Client() as eyes:
    frame = eyes.read(timeout=10)
    assert frame is not None and not frame.is_calibrated
    assert frame.left.shape == frame.right.shape == (240, 320)
    assert frame.left.any() and (frame.left != frame.right).any()
    assert frame.histogram[0].sum() == frame.left.size
    assert frame.disparity is None and frame.disparity_px() is None and frame.disparity_px(dense=True) is None
    assert frame.obstacles == [] and frame.motion is None and frame.header.calibration.baseline_m == 0
    assert eyes.health & parallax.HEALTH_NOT_CALIBRATED and eyes.state == "degraded"
    assert "name a calibration" in eyes.reason
