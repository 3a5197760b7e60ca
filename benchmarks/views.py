"""Views: parts of an array, and arrays in reverse, which move once on their way into another order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from typing_extensions import Self

import ttlg
from ttlg.benchmarks.case import Case, shape_text
from ttlg.benchmarks.contenders import Array, Contender, optional

SUITE = "views"
# ttlg on a contiguous array of the view's shape, and a peer for images.
STRAIGHT, OPENCV = "ttlg-straight", "opencv"

_TO_PLANES, _TO_PIXELS, _AS_IT_LIES = (0, 3, 1, 2), (0, 2, 3, 1), (0, 1, 2, 3)
_TYPES = ("uint8", "int16", "float32", "float64")


@dataclass(frozen=True)
class View(Case):
    """One transposition of a view: `slices` of a C-contiguous array of shape `base`.

    Axes of which that leaves one index are repeated as often as `shape` says.
    """

    base: tuple[int, ...]
    slices: tuple[tuple[int | None, int | None, int | None], ...]

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> Self:
        """Rebuild a case from what `dataclasses.asdict` and JSON have made of it."""
        slices = tuple(map(tuple, entry["slices"]))
        return super().from_entry({**entry, "base": tuple(entry["base"]), "slices": slices})

    def of(self, base: Array) -> Array:
        """Return the view of an array of shape `base`."""
        view = base[tuple(slice(*each) for each in self.slices)]
        strides = tuple(
            step if extent == taken else 0
            for step, extent, taken in zip(view.strides, self.shape, view.shape, strict=True)
        )
        return np.lib.stride_tricks.as_strided(view, self.shape, strides)

    def cut(self, limit: int) -> Case:
        """Return the case itself: none is large."""
        return self


def _view(
    name: str, base: Sequence[int], index: Sequence[slice], axes: Sequence[int], dtype: str
) -> View:
    shape = tuple(len(range(*each.indices(n))) for each, n in zip(index, base, strict=True))
    slices = tuple((each.start, each.stop, each.step) for each in index)
    return View(SUITE, name, shape, tuple(axes), dtype, tuple(base), slices)


def _repeated(
    name: str, base: Sequence[int], shape: Sequence[int], axes: Sequence[int], dtype: str
) -> View:
    slices = ((None, None, None),) * len(base)
    return View(SUITE, name, tuple(shape), tuple(axes), dtype, tuple(base), slices)


def _images(count: int, dtype: str) -> Iterator[View]:
    """Yield crops, flips and channels of images of 224 x 224, to planes and as they lie."""
    all_, back = slice(None), slice(None, None, -1)
    crop = slice(40, 264)
    rgb, rgba, large = ((count, *each) for each in ((224, 224, 3), (224, 224, 4), (300, 320, 3)))
    bgr, some, some_back = (all_, all_, all_, back), slice(3), slice(2, None, -1)
    for name, base, index in (
        ("crop", large, (all_, crop, crop, all_)),
        ("crop, BGR to RGB", large, (all_, crop, crop, back)),
        ("BGR to RGB", rgb, bgr),
        ("RGBA to RGB", rgba, (all_, all_, all_, some)),
        ("RGBA to BGR", rgba, (all_, all_, all_, some_back)),
        ("flipped", rgb, (all_, all_, back, all_)),
        ("upside down", rgb, (all_, back, all_, all_)),
    ):
        yield _view(f"{count} to planes: {name}", base, index, _TO_PLANES, dtype)
        yield _view(f"{count}: {name}", base, index, _AS_IT_LIES, dtype)
    for channels, base in ((3, rgb), (4, rgba)):
        one = (all_, all_, all_, slice(1, 2))
        yield _view(f"{count}: one of {channels}", base, one, _AS_IT_LIES, dtype)
    gray = (*rgb[:-1], 1)
    yield _repeated(f"{count} to planes: gray to RGB", gray, rgb, _TO_PLANES, dtype)
    yield _repeated(f"{count}: gray to RGB", gray, rgb, _AS_IT_LIES, dtype)
    planes = (count, 3, 224, 224)
    yield _view(f"{count} to pixels: flipped", planes, (all_, all_, all_, back), _TO_PIXELS, dtype)


def _matrices(dtype: str) -> Iterator[View]:
    """Yield rotations of a matrix of 16 MB, every second row and column, and repeated ones."""
    side = round((16e6 / np.dtype(dtype).itemsize) ** 0.5)
    all_, back, second = slice(None), slice(None, None, -1), slice(None, None, 2)
    for name, index, axes in (
        ("rot90", (all_, back), (1, 0)),
        ("rot180", (back, back), (0, 1)),
        ("rot270", (back, all_), (1, 0)),
        ("mirrored", (all_, back), (0, 1)),
        ("every second column", (all_, second), (0, 1)),
        ("every second row", (second, all_), (1, 0)),
        ("every second column, transposed", (all_, second), (1, 0)),
    ):
        yield _view(f"{side}^2 {name}", (side, side), index, axes, dtype)
    for name, base in (("row", (1, side)), ("column", (side, 1))):
        yield _repeated(f"{side}^2 repeated {name}", base, (side, side), (0, 1), dtype)


def _tensors(dtype: str) -> Iterator[View]:
    """Yield tensors of rank 4 and 6 with one axis mirrored, or all, in reversed order."""
    all_, back = slice(None), slice(None, None, -1)
    for shape in ((24, 20, 28, 32), (8, 10, 6, 9, 7, 12)):
        axes = tuple(range(len(shape)))[::-1]
        for axis in (0, 1, len(shape) - 1):
            index = tuple(back if each == axis else all_ for each in range(len(shape)))
            yield _view(f"{shape_text(shape)} mirrored {axis}", shape, index, axes, dtype)
        yield _view(f"{shape_text(shape)} mirrored", shape, (back,) * len(shape), axes, dtype)


def views() -> Iterator[View]:
    """Crops, flips, rotations, some channels or columns, repeated ones, mirrored tensors."""
    for dtype in _TYPES:
        for count in (1, 32) if dtype != "float64" else (1,):
            yield from _images(count, dtype)
        yield from _matrices(dtype)
        yield from _tensors(dtype)
    # x, y or z of points, and a channel of sound in reverse.
    yield _view("a field of 12 bytes", (10**5, 3), (slice(None), slice(1, 2)), (0, 1), "float32")
    stereo = (slice(None, None, -1), slice(None))
    yield _view("stereo in reverse", (10**5, 2), stereo, (1, 0), "int16")


def _opencv_call(case: View, x: Array, out: Array) -> Callable[[], Any] | None:
    """Return OpenCV's call for a view of one image or matrix, where it has one."""
    cv2 = optional("cv2")
    if cv2 is None or case.dtype == "float64":
        return None
    cv2.setNumThreads(1)
    kind = case.name.partition(": ")[2] or case.name.partition(" ")[2]
    base = x.base if x.base is not None else x
    while base.base is not None:
        base = base.base
    rotations = {"rot90": 2, "rot180": 1, "rot270": 0}  # cv2.ROTATE_...
    if kind in rotations and x.ndim == 2:
        return lambda: cv2.rotate(base, rotations[kind], dst=out)
    if kind == "mirrored" and x.ndim == 2:
        return lambda: cv2.flip(base, 1, dst=out)
    if not case.name.startswith("1"):
        return None
    if case.name.startswith("1 to planes"):
        channels = {"crop": (0, 1, 2), "crop, BGR to RGB": (2, 1, 0), "BGR to RGB": (2, 1, 0)}
        if kind not in channels:
            return None
        planes = [out[0, channel] for channel in channels[kind]]
        image = x[0] if x.strides[-1] > 0 else x[0, :, :, ::-1]
        return lambda: cv2.split(image, planes)
    if kind.startswith("one of"):
        return lambda: cv2.extractChannel(base[0], 1, dst=out[0, :, :, 0])
    codes = {
        "BGR to RGB": cv2.COLOR_BGR2RGB,
        "RGBA to RGB": cv2.COLOR_RGBA2RGB,
        "RGBA to BGR": cv2.COLOR_RGBA2BGR,
        "gray to RGB": cv2.COLOR_GRAY2RGB,
    }
    if kind in codes and out.shape[-1] == 3:
        # Of 16 bits it takes unsigned numbers alone.
        unsigned = (each.view("u2") if each.itemsize == 2 else each for each in (base[0], out[0]))
        image, target = unsigned
        return lambda: cv2.cvtColor(image, codes[kind], dst=target)
    if kind in ("flipped", "upside down") and case.axes == _AS_IT_LIES:
        return lambda: cv2.flip(base[0], int(kind == "flipped"), dst=out[0])
    return None


def others(case: View, x: Array, out: Array, threads: int) -> Iterator[Contender]:
    """Ttlg without the view, from a contiguous copy of it, and OpenCV on one thread."""
    straight = np.ascontiguousarray(x)
    yield Contender(STRAIGHT, lambda: ttlg.transpose(straight, case.axes, out=out, threads=threads))
    call = _opencv_call(case, x, out)
    if call is not None:
        yield Contender(OPENCV, call)
