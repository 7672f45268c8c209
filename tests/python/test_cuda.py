# SPDX-License-Identifier: Apache-2.0
"""What the package says to CUDA, with a runtime that the test plays: no GPU is needed."""
import ctypes
import types
import unittest
from unittest import mock

import numpy

import service
from parallax_stereo import Plane, cuda

DEVICE = 1 << 40


class Runtime(types.SimpleNamespace):
    def __init__(self, code=0):
        super().__init__(calls=[], code=code)

    def cudaHostRegister(self, address, size, flags):
        self.calls.append(("register", address, size, flags))
        return self.code

    def cudaHostGetDevicePointer(self, result, address, flags):
        result._obj.value = DEVICE
        return 0

    def cudaHostUnregister(self, address):
        self.calls.append(("unregister", address))


class Cuda(service.Service):
    def setUp(self):
        super().setUp()
        self.start_peer(epoch=5)
        self.publish()
        self.client = self.connect()

    def test_without_cuda_there_is_no_interface(self):
        with mock.patch.object(cuda, "_runtime", lambda: None), self.client.next(timeout=service.WAIT_S) as frame:
            self.assertFalse(hasattr(frame.cuda(Plane.LEFT), "__cuda_array_interface__"))

    def test_failing_cuda_gives_no_interface(self):
        with mock.patch.object(cuda, "_runtime", lambda: Runtime(100)), self.client.next(timeout=service.WAIT_S) as frame:
            self.assertFalse(hasattr(frame.cuda(Plane.LEFT), "__cuda_array_interface__"))

    def test_copies_have_none(self):
        with mock.patch.object(cuda, "_runtime", Runtime):
            frame = self.client.read(timeout=service.WAIT_S)
            self.assertFalse(hasattr(frame.cuda(Plane.LEFT), "__cuda_array_interface__"))

    def test_a_mapping_is_registered_once(self):
        runtime = Runtime()
        with mock.patch.object(cuda, "_runtime", lambda: runtime):
            for _ in range(3):
                with self.client.next(timeout=service.WAIT_S) as frame:
                    plane, mapping = frame.cuda(Plane.LEFT), self.client._mapping
                    said, left, inside = plane.__cuda_array_interface__, frame.left, frame.left.ctypes.data - mapping.address
                    address, size = mapping.address, mapping.bytes
                self.assertEqual(said, {"version": 3, "shape": left.shape, "typestr": "|u1", "strides": left.strides,
                                        "data": (DEVICE + inside, True)})
                self.publish()
        self.assertEqual(runtime.calls, [("register", address, size, 2 | 8)])
        del frame, plane, mapping, left
        self.client.close()
        self.assertEqual(runtime.calls[1:], [("unregister", address)])


class Gpu(service.Service):
    """With the GPU of this machine, if there is one: it copies a plane by the pointer that it was given."""

    def setUp(self):
        super().setUp()
        self.runtime = cuda._runtime()
        count = ctypes.c_int(0)
        if not self.runtime or self.runtime.cudaGetDeviceCount(ctypes.byref(count)) != 0 or count.value == 0:
            self.skipTest("no GPU")
        self.start_peer(epoch=5)
        self.publish()
        self.client = self.connect()

    def call(self, name, *arguments):
        self.assertEqual(getattr(self.runtime, name)(*arguments), 0, name)

    def test_it_reads_what_the_service_wrote(self):
        with self.client.next(timeout=service.WAIT_S) as frame:
            said, left = frame.cuda(Plane.LEFT).__cuda_array_interface__, frame.left
            rows, columns = said["shape"]
            self.assertEqual(said["strides"], left.strides)
            on_gpu, back = ctypes.c_void_p(), numpy.zeros((rows, columns), numpy.uint8)
            pitch = ctypes.c_size_t(left.strides[0])
            width, height, packed = ctypes.c_size_t(columns), ctypes.c_size_t(rows), ctypes.c_size_t(columns)
            self.call("cudaMalloc", ctypes.byref(on_gpu), ctypes.c_size_t(rows * columns))
            self.call("cudaMemcpy2D", on_gpu, packed, ctypes.c_void_p(said["data"][0]), pitch, width, height, 3)  # device to device
            self.call("cudaMemcpy2D", ctypes.c_void_p(back.ctypes.data), packed, on_gpu, packed, width, height, 2)
            self.call("cudaFree", on_gpu)
            self.assertTrue((back == left).all())
            self.assertTrue(back.any())


if __name__ == "__main__":
    unittest.main()
