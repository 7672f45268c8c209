# SPDX-License-Identifier: Apache-2.0
"""Planes of a real service on a real GPU, as PyTorch and CuPy read them. Skipped without a GPU, or without either of them."""
import sys
import time
import unittest

import numpy

import service
from parallax_stereo import Cuda, CudaMode, NotFound, Overwritten, Plane, cuda_device

FRAMES = 1000
PLANES = (Plane.COLOUR, Plane.LEFT, Plane.DISPARITY)


def of_torch():
    import torch
    stream = torch.cuda.Stream()

    def read(plane):
        """What a kernel reads, and when it had."""
        with torch.cuda.stream(stream):
            taken = torch.from_dlpack(plane).clone(memory_format=torch.contiguous_format)
        stream.synchronize()
        return taken, time.monotonic_ns()

    return read, lambda taken: taken.cpu().numpy()


def of_cupy():
    import cupy

    def read(plane):
        taken = cupy.array(cupy.asarray(plane))
        cupy.cuda.get_current_stream().synchronize()
        return taken, time.monotonic_ns()

    return read, cupy.asnumpy


class Gpu(service.Service):
    def setUp(self):
        super().setUp()
        self.start_daemon("backend=auto", "source.width=640", "source.height=480", "source.rate_hz=60", "colour.enabled=true")
        self.client = self.connect()

    def compare(self, library, mode):
        try:
            read, to_numpy = library()
        except ImportError as error:
            self.skipTest(str(error))
        gpu = Cuda(self.client, mode=mode)
        self.assertEqual(gpu.mode, mode, gpu.reason)
        delays, frames, differing = [], 0, 0
        while frames < FRAMES:
            try:
                with self.client.next(timeout=service.WAIT_S) as frame:
                    taken, at = zip(*(read(gpu.plane(frame, plane)) for plane in PLANES))
                    differ = sum(numpy.count_nonzero(to_numpy(each) != frame.planes[plane]) for each, plane in zip(taken, PLANES))
                    delay = at[0] - frame.published_ns
            except Overwritten:
                continue
            frames, differing = frames + 1, differing + differ
            delays.append(delay)
        self.assertEqual(differing, 0)
        median, late = numpy.percentile(delays, (50, 99)) / 1e3
        print(f"{library.__name__[3:]}, {gpu.mode.name}, service {self.client.reason or 'on the GPU'}: {frames} frames, {differing} differing pixels; from publication to a kernel that has "
              f"read the colour plane: {median:.0f} us (median), {late:.0f} us (99 of 100)")

    def test_torch_in_place(self):
        self.compare(of_torch, CudaMode.IN_PLACE)

    def test_torch_copied(self):
        self.compare(of_torch, CudaMode.COPIED)

    def test_cupy_in_place(self):
        self.compare(of_cupy, CudaMode.IN_PLACE)

    def test_cupy_copied(self):
        self.compare(of_cupy, CudaMode.COPIED)


if __name__ == "__main__":
    try:
        print(cuda_device())
    except NotFound:
        print("skipped: no GPU")
        sys.exit(service.SKIPPED)
    unittest.main()
