# SPDX-License-Identifier: Apache-2.0
"""A frame with its planes: in the service's memory while its `with` lasts, or a private copy."""
from __future__ import annotations

import types
from collections.abc import Mapping as AbstractMapping, Sequence
from typing import Any, Optional

import numpy
from numpy.typing import NDArray

from . import _layout, geometry, records
from ._library import library
from ._mapping import Mapping
from .errors import Blind, NotFound, check
from .flags import Blindness, Plane
from .header import Bytes, Header

Image8 = NDArray[numpy.uint8]
Image16 = NDArray[numpy.uint16]
Image32 = NDArray[numpy.uint32]
ImageFloat = NDArray[numpy.float32]
Records = NDArray[numpy.void]
Layout = list[tuple[int, ...]]  # the fields of struct plx_plane, for every plane


def _size(layout: Layout) -> int:
    """Bytes of a frame, up to the end of the last plane in LAYOUT."""
    ends = [offset + (height - 1) * pitch + width * element for offset, pitch, width, height, element, _ in layout if width]
    return max([_layout.FRAME.itemsize, *ends])


class Frame(Header):
    """What Parallax knows about one pair. Arrays are read-only; a plane that the configuration switches off is None.

    Planes and obstacles of a frame of Client.next lie in the service's memory, which the service overwrites. They can be taken from
    the frame only inside its `with`; arrays that were taken stay readable, whatever is in them by then."""

    def __init__(self, memory: Bytes, layout: Layout, obstacle_count: int, missed: int, mapping: Optional[Mapping] = None) -> None:
        super().__init__(memory, obstacle_count)
        self._layout = layout
        self._mapping = mapping
        self._planes: Optional[AbstractMapping[Plane, NDArray[Any]]] = None
        self.missed = missed
        """Frames between the last one that this client read and this one."""

    @classmethod
    def _of_view(cls, view: Any, mapping: Mapping) -> Frame:
        layout: Layout = view["layout"].tolist()  # checked by libparallax; the one in the frame may change
        memory = mapping.array(int(view["frame"]), _size(layout))
        return cls(memory, layout, int(view["obstacle_count"]), int(view["missed"]), mapping)

    @classmethod
    def _of_copy(cls, memory: Bytes, missed: int) -> Frame:
        memory.flags.writeable = False
        head = memory[:_layout.HEAD.itemsize].view(_layout.HEAD)[0]
        return cls(memory, head["plane"].tolist(), int(head["obstacle_count"]), missed)

    def _release(self) -> None:
        self._memory = self._planes = self._mapping = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as a private copy."""
        return _unpickled, (self._open_memory().tobytes(), self._layout, self._obstacle_count, self.missed)

    def copy(self) -> Frame:
        """A private copy, to keep after the `with`; it is whole if the `with` then ends without Overwritten."""
        memory = self._open_memory().copy()
        memory.flags.writeable = False
        copy = Frame(memory, self._layout, self._obstacle_count, self.missed)
        copy._head = self._head
        return copy

    # --- planes ---

    def _plane(self, plane: Plane) -> NDArray[Any]:
        offset, pitch, width, height, element, _ = self._layout[plane]
        if _layout.ELEMENT[plane] == _layout.RGB:
            return numpy.ndarray((height, width, 3), numpy.uint8, self._open_memory(), offset, (pitch, element, 1))
        image: NDArray[Any] = numpy.ndarray((height, width), _layout.ELEMENT[plane], self._open_memory(), offset, (pitch, element))
        return image

    @property
    def planes(self) -> AbstractMapping[Plane, NDArray[Any]]:
        """The planes that are switched on."""
        self._open_memory()
        if self._planes is None:
            self._planes = types.MappingProxyType({plane: self._plane(plane) for plane in Plane if self._layout[plane][2]})
        return self._planes

    @property
    def left(self) -> Optional[Image8]:
        """The rectified left image."""
        return self.planes.get(Plane.LEFT)

    @property
    def right(self) -> Optional[Image8]:
        """The rectified right image; publish.right switches it on."""
        return self.planes.get(Plane.RIGHT)

    @property
    def colour(self) -> Optional[Image8]:
        """The rectified left image in colour, (height, width, 3): red, green, blue of sRGB; colour.enabled switches it on."""
        return self.planes.get(Plane.COLOUR)

    @property
    def disparity(self) -> Optional[Image16]:
        """Strict disparity in 1/16 px above min_disparity; 65535 where it is unknown."""
        return self.planes.get(Plane.DISPARITY)

    @property
    def dense(self) -> Optional[Image16]:
        """Dense disparity: occlusions are filled along the row."""
        return self.planes.get(Plane.DENSE)

    @property
    def filled(self) -> Optional[Image8]:
        """1 where dense holds a filled value."""
        return self.planes.get(Plane.FILLED)

    @property
    def confidence(self) -> Optional[Image8]:
        """255 times the probability that the dense disparity is within 1 px of the truth; 0: no statement."""
        return self.planes.get(Plane.CONFIDENCE)

    @property
    def labels(self) -> Optional[Image16]:
        """The label of the obstacle at each pixel; 0: none, 65535: a region that is not published."""
        return self.planes.get(Plane.LABELS)

    @property
    def histogram(self) -> Optional[Image32]:
        """Raw luma: left whole, 64 zones of left, right whole, 64 zones of right; 256 bins each."""
        return self.planes.get(Plane.HISTOGRAM)

    @property
    def scan(self) -> Optional[Records]:
        """What stands in each column, and how far its ground is free: one row of structures."""
        return self.planes.get(Plane.SCAN)

    @property
    def stixels(self) -> Optional[Records]:
        """The things in each column, nearest first: (columns, 8) structures."""
        return self.planes.get(Plane.STIXELS)

    @property
    def map(self) -> Optional[Records]:
        """The cells of the ground around the robot: (200, 200) structures; see local_map."""
        return self.planes.get(Plane.MAP)

    @property
    def local_map(self) -> Optional[records.Map]:
        """The map with its place and units, as a private copy. None: it is switched off, or neither mount nor ground are known."""
        return None if self.map is None else records.local_map(self._head["map"][0], self.map)

    @property
    def drops(self) -> Optional[tuple[records.Drop, ...]]:
        """Where the ground falls away, from left to right, one for each run of columns; None where the scan is switched off. Raises
        Blind where the frame cannot show any, so that an empty tuple says that no drop is seen."""
        cannot = self.blind & ~Blindness.OBSTACLES_OFF  # the scan does not need these
        if cannot:
            raise Blind(f"{library.plx_strerror(Blind.code).decode()}: {cannot}")
        scan, c = self.scan, self.calibration
        return None if scan is None else records.drops(scan[0].copy(), _layout.DISPARITY_ONE * c.fx * c.baseline_m, self.width)

    # --- metres ---

    def disparity_px(self, dense: bool = False) -> Optional[ImageFloat]:
        """Disparity in pixels, NaN where it is unknown. None where it is switched off or not calibrated, as below."""
        plane = self.dense if dense else self.disparity
        return None if plane is None else geometry.disparity_px(plane, self.min_disparity)

    def depth(self, dense: bool = False) -> Optional[ImageFloat]:
        """The distance Z of each pixel in metres, NaN where it is unknown."""
        plane = self.dense if dense else self.disparity
        return None if plane is None else geometry.depth(plane, self.min_disparity, self.calibration)

    def points(self, dense: bool = False) -> Optional[ImageFloat]:
        """The point of each pixel in metres, (height, width, 3): x right, y down, z forward; NaN where it is unknown."""
        plane = self.dense if dense else self.disparity
        return None if plane is None else geometry.points(plane, self.min_disparity, self.calibration)

    def depth_sigma(self) -> Optional[ImageFloat]:
        """The standard deviation of depth() in metres, by the confidence of each pixel; NaN where it is unknown."""
        depth, confidence = self.depth(), self.confidence
        if depth is None or confidence is None:
            return None
        errors: NDArray[numpy.void] = numpy.ndarray((), _layout.ERRORS, self._open_memory(), _layout.ERRORS_OFFSET)
        return geometry.depth_sigma(depth, confidence, errors["sigma_px"], self.calibration)

    # --- distances ---

    def _distance(self, function: Any, *place: int) -> Optional[records.Distance]:
        found = numpy.zeros(1, _layout.DISTANCE)
        if any(not 0 <= number < 2**32 for number in place):
            return None
        code = function(self._view().ctypes.data, *place, found.ctypes.data)
        if code == NotFound.code:
            return None
        check(code)
        return records.distance(found[0])

    def pixel_distance(self, x: int, y: int) -> Optional[records.Distance]:
        """The distance of a pixel of the strict disparity, and how sure it is; None: no disparity."""
        return self._distance(library.plx_pixel_distance, x, y)

    def stixel_distance(self, column: int, number: int) -> Optional[records.Distance]:
        """The same for a stixel, by the pixels that show it; None: there is none."""
        return self._distance(library.plx_stixel_distance, column, number)

    def scan_distance(self, column: int) -> Optional[records.Distance]:
        """The same for the nearest thing of a column of the scan; None: there is none."""
        return self._distance(library.plx_scan_distance, column)

    # --- boxes ---

    def _view(self) -> NDArray[Any]:
        """The struct plx_view of this frame."""
        view = numpy.zeros(1, _layout.VIEW)
        memory = self._open_memory().ctypes.data
        view["frame"], view["obstacle_count"], view["min_disparity"] = memory, self._obstacle_count, self.min_disparity
        view["layout"] = [tuple(plane) for plane in self._layout]
        view["plane"] = [memory + plane[0] if plane[2] else 0 for plane in self._layout]
        return view

    def locate(self, boxes: Any, masks: Optional[Sequence[Optional[NDArray[Any]]]] = None) -> tuple[records.Location, ...]:
        """Where the thing in each box of a detector is. BOXES: (N, 4), x, y, width and height in pixels of the rectified left image.
        MASKS: for each box None, or an array of its height and width whose pixels count where they are not 0. As all that is read
        from a frame of Client.next, the answer counts when its `with` ends without Overwritten."""
        view, numbers = self._view(), numpy.rint(numpy.asarray(boxes, numpy.float64)).reshape(-1, 4)
        if masks is not None and len(masks) != len(numbers):
            raise ValueError(f"{len(masks)} masks for {len(numbers)} boxes")
        limits = numpy.iinfo(numpy.int32)
        if not numpy.isfinite(numbers).all() or (numpy.abs(numbers) > limits.max).any():
            raise ValueError("a box has numbers that are no pixels")
        box, found = numpy.zeros(len(numbers), _layout.BOX), numpy.zeros(len(numbers), _layout.LOCATION)
        for name, column in zip(("x", "y", "width", "height"), numbers.T):
            box[name] = column
        kept = [None if mask is None else _mask_bytes(mask, each) for mask, each in zip(masks or (), box)]
        for each, mask in zip(box, kept):
            if mask is not None:
                each["mask"], each["mask_pitch"] = mask.ctypes.data, mask.strides[0]
        check(library.plx_locate(view.ctypes.data, box.ctypes.data, len(box), found.ctypes.data))
        return tuple(records.location(row) for row in found)


def _mask_bytes(mask: NDArray[Any], box: Any) -> Image8:
    """MASK as C reads it; its size must be that of BOX."""
    if numpy.shape(mask) != (box["height"], box["width"]):
        raise ValueError(f"a mask of {numpy.shape(mask)} for a box of height {box['height']} and width {box['width']}")
    return numpy.ascontiguousarray(numpy.asarray(mask) != 0).view(numpy.uint8)


def _unpickled(data: bytes, layout: Layout, obstacle_count: int, missed: int) -> Frame:
    memory = numpy.frombuffer(bytearray(data), numpy.uint8)
    memory.flags.writeable = False
    return Frame(memory, layout, obstacle_count, missed)
