# SPDX-License-Identifier: Apache-2.0
"""The way of planes to a GPU, with the driver that cuda_peer.c plays: its device is the CPU, so that what it would read can be read."""
import ctypes
import gc
import unittest
from unittest import mock

import numpy

import service
from parallax_stereo import Cuda, CudaMode, Lost, NotFound, OutOfMemory, Plane, Unsupported, _dlpack, cuda_device

driver = ctypes.CDLL("libcuda.so.1")


def number(name):
    return ctypes.c_int.in_dll(driver, f"peer_{name}")


def read(address, array):
    """The bytes at ADDRESS as an array like ARRAY."""
    size = sum((n - 1) * stride for n, stride in zip(array.shape, array.strides)) + array.itemsize
    return numpy.ndarray(array.shape, array.dtype, ctypes.string_at(address, size), 0, array.strides)


def open_capsule(capsule, versioned=True):
    """The managed tensor in CAPSULE; the capsule is a used one then, and the caller ends the tensor."""
    address = _dlpack._pointer(id(capsule), _dlpack._NAMES[versioned])
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = ctypes.py_object, ctypes.c_char_p
    rename(capsule, USED)
    return (_dlpack._ManagedVersioned if versioned else _dlpack._Managed).from_address(address)


USED = b"used"  # a capsule keeps the pointer


def end(managed):
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(ctypes.addressof(managed))


class Gpu(service.Service):
    def setUp(self):
        super().setUp()
        for name, value in (("devices", 1), ("host_register", 1), ("read_only", 1), ("register_fails", 0), ("alloc_fails", 0), ("copies", 0)):
            number(name).value = value
        self.start_peer(epoch=5)
        self.publish()
        self.client = self.connect()

    def assert_all_is_given_back(self):
        gc.collect()
        self.assertEqual([number(name).value for name in ("registered", "allocated", "retained", "pushed")], [0, 0, 0, 0])


class Mode(Gpu):
    def test_what_a_device_says(self):
        number("read_only").value = 0
        self.assertEqual(cuda_device(), ("the CPU, as device 0", False, True, False, False))
        self.assertEqual(cuda_device(0).name, "the CPU, as device 0")
        for index in (1, -1):
            with self.assertRaises(NotFound):
                cuda_device(index)

    def test_a_memory_is_registered_read_only_and_once(self):
        gpu = Cuda(self.client)
        self.assertEqual((gpu.mode, gpu.reason), (CudaMode.IN_PLACE, "the CPU, as device 0 reads the service's memory in place, across the bus"))
        for _ in range(3):
            with self.client.next(timeout=service.WAIT_S) as frame:
                said = gpu.plane(frame, Plane.LEFT).__cuda_array_interface__
                self.assertEqual(said, {"version": 3, "shape": frame.left.shape, "typestr": "|u1", "strides": frame.left.strides, "stream": 1,
                                        "data": (frame.left.ctypes.data, True)})
            self.publish()
        self.assertEqual((number("registered").value, ctypes.c_uint.in_dll(driver, "peer_flags").value), (1, 1 | 2 | 8))
        del gpu
        self.assert_all_is_given_back()

    def test_a_device_that_cannot_gets_copies_and_says_why(self):
        for name, value, why in (("read_only", 0, "its CUDA attribute 113 is 0"), ("host_register", 0, "its CUDA attribute 99 is 0"),
                                 ("register_fails", 1, "CUDA cannot register the service's memory: CUDA_ERROR_NOT_SUPPORTED")):
            number(name).value = value
            gpu = Cuda(self.client)
            self.assertEqual(gpu.mode, CudaMode.COPIED)
            self.assertIn(why, gpu.reason)
            with self.assertRaises(Unsupported):
                Cuda(self.client, mode=CudaMode.IN_PLACE)
            number(name).value = 1 - value
        del gpu
        self.assert_all_is_given_back()

    def test_no_such_device(self):
        number("devices").value = 0
        with self.assertRaises(NotFound):
            Cuda(self.client)
        self.assert_all_is_given_back()

    def test_the_service_comes_back_in_another_memory(self):
        gpu = Cuda(self.client)
        with self.client.next(timeout=service.WAIT_S) as frame:
            kept = gpu.plane(frame, Plane.LEFT).__dlpack__(max_version=(1, 0))
        self.end_peer()
        with self.assertRaises(Lost), self.client.next(timeout=0):
            pass
        self.start_peer(epoch=6)
        self.publish()
        with self.client.next(timeout=service.WAIT_S) as frame:
            address, _ = gpu.plane(frame, Plane.LEFT).__cuda_array_interface__["data"]
            self.assertEqual(address, frame.left.ctypes.data)
            self.assertEqual(number("registered").value, 2)  # a network may still hold what it took of the old one
        del kept
        gc.collect()
        self.assertEqual(number("registered").value, 1)
        self.client.close()
        del gpu, frame
        self.assert_all_is_given_back()


class Copies(Gpu):
    def setUp(self):
        super().setUp()
        self.gpu = Cuda(self.client, mode=CudaMode.COPIED)

    def tearDown(self):
        del self.gpu
        self.assert_all_is_given_back()
        super().tearDown()

    def test_each_plane_arrives_in_the_stream_that_asks(self):
        self.assertEqual((self.gpu.mode, self.gpu.reason), (CudaMode.COPIED, "as the program asks"))
        with self.client.next(timeout=service.WAIT_S) as frame:
            for plane in frame.planes:
                address, read_only = self.gpu.plane(frame, plane).__cuda_array_interface__["data"]
                self.assertFalse(read_only)
                self.assertNotEqual(address, frame.planes[plane].ctypes.data)
                self.assertEqual(read(address, frame.planes[plane]).tobytes(), frame.planes[plane].tobytes())
            planes = len(frame.planes)
            self.gpu.plane(frame, Plane.LEFT).__dlpack__(stream=77)
            self.assertEqual(ctypes.c_void_p.in_dll(driver, "peer_stream").value, 77)
        self.assertEqual(number("copies").value, planes + 1)

    def test_the_next_frame_goes_to_the_same_memory(self):
        addresses, kept = set(), 0
        for _ in range(3):
            with self.client.next(timeout=service.WAIT_S) as frame:
                addresses.add(self.gpu.plane(frame, Plane.LEFT).__cuda_array_interface__["data"][0])
                self.assertEqual(read(*addresses, frame.left).tobytes(), frame.left.tobytes())
                kept = kept or number("allocated").value
            self.publish()
        self.assertEqual(len(addresses), 1)
        self.assertEqual((kept, number("allocated").value), (3, 3))  # pinned, on the device, and an event

    def test_no_memory_is_an_error(self):
        number("alloc_fails").value = 1
        with self.client.next(timeout=service.WAIT_S) as frame, self.assertRaises(OutOfMemory):
            self.gpu.plane(frame, Plane.LEFT).__dlpack__()

    def test_a_private_copy_is_refused(self):
        frame = self.client.read(timeout=service.WAIT_S)
        with self.assertRaises(ConnectionError):
            self.gpu.plane(frame, Plane.LEFT).__dlpack__()

    def test_a_plane_of_a_released_frame_is_refused(self):
        with self.client.next(timeout=service.WAIT_S) as frame:
            plane = self.gpu.plane(frame, Plane.LEFT)
        with self.assertRaises(ValueError):
            plane.__dlpack__()


class DlPack(Gpu):
    def test_a_tensor_has_the_shape_of_its_plane(self):
        for mode in (CudaMode.IN_PLACE, CudaMode.COPIED):
            gpu = Cuda(self.client, mode=mode)
            with self.client.next(timeout=service.WAIT_S) as frame:
                for plane, array in frame.planes.items():
                    if array.dtype.kind != "u":
                        with self.assertRaises(BufferError):
                            gpu.plane(frame, plane).__dlpack__(max_version=(1, 1))
                        continue
                    self.assertEqual(gpu.plane(frame, plane).__dlpack_device__(), (2, 0))
                    managed = open_capsule(gpu.plane(frame, plane).__dlpack__(stream=None, max_version=(1, 1)))
                    tensor = managed.tensor
                    self.assertEqual((managed.major, managed.flags), (1, 1 if mode == CudaMode.IN_PLACE else 2))
                    self.assertEqual((tensor.device.type, tensor.device.index, tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes),
                                     (2, 0, 1, 8 * array.itemsize, 1))
                    self.assertEqual(tuple(tensor.shape[:tensor.ndim]), array.shape)
                    self.assertEqual(tuple(step * array.itemsize for step in tensor.strides[:tensor.ndim]), array.strides)
                    self.assertEqual(read(tensor.data, array).tobytes(), array.tobytes())
                    end(managed)
            self.publish()
        del gpu
        self.assertEqual(_dlpack._owners, {})
        self.assert_all_is_given_back()

    def test_numpy_reads_a_tensor(self):
        """A consumer that is not ours, which takes the device for what it is here: the CPU."""
        knows_read_only = numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0"
        with mock.patch.object(_dlpack, "CUDA", 1):
            for mode in (CudaMode.IN_PLACE, CudaMode.COPIED) if knows_read_only else (CudaMode.COPIED,):
                gpu = Cuda(self.client, mode=mode)
                with self.client.next(timeout=service.WAIT_S) as frame:
                    for plane in (Plane.LEFT, Plane.DISPARITY, Plane.HISTOGRAM, Plane.COLOUR):
                        if plane in frame.planes:
                            taken = numpy.from_dlpack(gpu.plane(frame, plane))
                            self.assertEqual((taken.shape, taken.dtype), (frame.planes[plane].shape, frame.planes[plane].dtype))
                            self.assertTrue((taken == frame.planes[plane]).all())
                            self.assertFalse(mode == CudaMode.IN_PLACE and taken.flags.writeable)
                            del taken
                self.publish()
        self.assertEqual(_dlpack._owners, {})

    def test_a_capsule_that_nobody_takes_ends_its_tensor(self):
        gpu = Cuda(self.client, mode=CudaMode.COPIED)
        with self.client.next(timeout=service.WAIT_S) as frame:
            for versioned in (True, False):
                capsule = gpu.plane(frame, Plane.LEFT).__dlpack__(max_version=(1, 0) if versioned else None)
                self.assertEqual(len(_dlpack._owners), 1)
                del capsule
                self.assertEqual(_dlpack._owners, {})

    def test_a_consumer_that_knows_no_read_only_gets_none(self):
        gpu = Cuda(self.client)
        with self.client.next(timeout=service.WAIT_S) as frame:
            with self.assertRaisesRegex(BufferError, "COPIED"):
                gpu.plane(frame, Plane.LEFT).__dlpack__()
            copied = Cuda(self.client, mode=CudaMode.COPIED)
            end(open_capsule(copied.plane(frame, Plane.LEFT).__dlpack__(), versioned=False))

    def test_what_cannot_be_is_refused(self):
        for mode, arguments in ((CudaMode.IN_PLACE, {"copy": True}), (CudaMode.COPIED, {"copy": False}),
                                (CudaMode.COPIED, {"dl_device": (1, 0)}), (CudaMode.COPIED, {"dl_device": (2, 1)})):
            gpu = Cuda(self.client, mode=mode)
            with self.client.next(timeout=service.WAIT_S) as frame, self.assertRaises(BufferError):
                gpu.plane(frame, Plane.LEFT).__dlpack__(max_version=(1, 0), **arguments)
            self.publish()


if __name__ == "__main__":
    unittest.main()
