"""Seconds of what contractions consist of: transpositions and matrix products.

Those of products are measured, each kind once: where an extent is small, products of as many
multiplications differ by factors that no formula of a few terms gives. A kind is measured on
matrices of at most some megabytes, which takes about a millisecond.
"""

import functools
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ttlg._contract.libraries import Order, Products
from ttlg._contract.operands import Extents, Operand, contiguous
from ttlg._contract.product_threads import limit_of
from ttlg._planning.predict import predict_time
from ttlg._typing import Device

# A measured product has no more multiplications, and no larger factor or result.
_MAX_WORK = 2**25
_MAX_ELEMENTS = 2**21
# Products that a sum is measured with.
_MAX_SUMMED = 2**17
# The fastest of this many calls counts; after this time, in seconds, three are enough.
_CALLS = 6
_LONGEST = 3e-3
# The first products of a process wait for threads to wake, and are sampled this many times longer.
_WARMING = 5
# What was measured was in a cache, mostly in the last one. What is more than these bytes takes longer
# to come from memory, by this share of a pass over it.
_IN_CACHES = 2**23
_FROM_MEMORY = 0.5
# Bytes that are copied to learn how fast memory is.
_COPIED = 2**25
# Between the calls of a contraction: views, and the call itself.
STEP_SECONDS = 2e-6
# Floating-point operations of a GPU for each byte that it moves, where no one says how many.
_NOMINAL_INTENSITY = 10


class Costs:
    """What takes how long, for one library, dtype, device and number of threads.

    Parameters
    ----------
    products : Products
        What multiplies.
    dtype : dtype or str
        As `predict_time` takes it.
    itemsize : int
        Bytes of an element.
    threads : int or None
        Of transpositions and, where a number is chosen, of products.
    device : str
        As for `predict_time`. Products are measured on the host alone.
    flops : float, optional
        Floating-point operations of a matrix product a second, instead of measurements.
    """

    def __init__(
        self,
        products: Products,
        dtype: Any,
        itemsize: int,
        threads: int | None,
        device: Device = "cpu",
        flops: float | None = None,
    ) -> None:
        self.products = products
        self.dtype = dtype
        self.itemsize = itemsize
        self.threads = threads
        self.device = device
        self._limit = limit_of(threads)
        self._measured: dict[tuple[tuple[int, int, int, int], str, str], float] = {}
        self._is_measured = flops is None and device == "cpu"
        operations = 8 if "complex" in str(dtype) else 2
        if flops is None and device != "cpu":
            flops = _NOMINAL_INTENSITY / self._byte
        self._step = 0.0 if flops is None else operations / flops

    def takes(
        self, free_stride: int | None, summed_stride: int | None, free: int, summed: int
    ) -> bool:
        """Whether BLAS takes matrices of these strides, of which None stands for one index."""
        itemsize = self.itemsize
        if free_stride is None or summed_stride is None:
            only = free_stride if summed_stride is None else summed_stride
            return only is None or (only > 0 and only % itemsize == 0)
        for fast, slow, extent in (
            (free_stride, summed_stride, free),
            (summed_stride, free_stride, summed),
        ):
            if fast == itemsize and slow % itemsize == 0 and slow >= extent * itemsize:
                return True
        return False

    def move(self, operand: Operand, order: tuple[str, ...], extents: Extents) -> float:
        """Return the seconds that it takes to transpose an operand to this order of its labels."""
        in_order = contiguous(operand.labels, extents, self.itemsize) == operand
        return predict_time(
            [extents[label] for label in operand.labels],
            [operand.labels.index(label) for label in order],
            self.dtype,
            strides=None if in_order else operand.strides,
            device=self.device,
            threads=self.threads,
            output="warm",
        )

    @functools.cached_property
    def _byte(self) -> float:
        """Seconds that it takes to read or write a byte."""
        return self._copied() if self._is_measured else self._copy_predicted()

    def _copy_predicted(self) -> float:
        """Return the seconds that it takes to read or write a byte, by the model."""
        seconds = predict_time(
            (_COPIED,), (0,), "uint8", device=self.device, threads=self.threads, output="warm"
        )
        return seconds / (2 * _COPIED)

    def _copied(self) -> float:
        """Return the same as measured, on one thread as most of a library's functions."""
        x = np.ones(_COPIED, np.uint8)
        y = x.copy()
        return _fastest(lambda: np.copyto(y, x)) / (2 * _COPIED)

    def pass_over(self, elements: float) -> float:
        """Return the seconds that it takes to read or write so many elements."""
        return elements * self.itemsize * self._byte

    def least_product(self, multiplications: float) -> float:
        """Return seconds that no matrix product falls far below."""
        if self._is_measured and not self._step:
            side = 256
            self._step = self._measure((1, side, side, side), "fs", "sf", _WARMING) / side**3
        return multiplications * self._step / 1.3

    def product(self, count: int, m: int, n: int, k: int, first: str, second: str) -> float:
        """Return the seconds of so many products of m x k and k x n matrices.

        `first` and `second` give the order in memory of the stack (l), the free indices (f) and
        the summed ones (s) of each factor.
        """
        work = count * m * n * k
        if not self._is_measured:
            return work * self._step + self.pass_over(count * (m * k + k * n + m * n))
        kind = _measured_kind(count, m, n, k)
        key = (kind, first, second)
        if key not in self._measured:
            self._measured[key] = self._measure(kind, first, second)
        seconds = self._measured[key] * (work / math.prod(kind))
        return seconds + self._from_memory(_elements(count, m, n, k))

    def _measure(
        self, kind: tuple[int, int, int, int], first: str, second: str, times: int = 1
    ) -> float:
        count, m, n, k = kind
        one = self._factor({"l": count, "f": m, "s": k}, first, "lfs")
        other = self._factor({"l": count, "f": n, "s": k}, second, "lsf")
        multiply = self.products.multiplier(True, (count, m, n), self.itemsize)
        with self.products.limiter.at_most(self._limit):
            product = multiply(one, other, None)
            return _fastest(lambda: multiply(one, other, product), times)

    def sum_of_products(
        self, equation: str, order: Order, sizes: dict[str, int], elements: int
    ) -> float:
        """Return the seconds of a sum of products of arrays that lie as the equation says.

        `sizes` begins with the label of the first array that is slowest in memory; `elements` are
        those that both arrays take in memory.
        """
        multiplications = math.prod(sizes.values())
        if not self._is_measured:
            return self.pass_over(4 * multiplications)
        part = dict(sizes)
        for label in sizes:
            while part[label] > 1 and math.prod(part.values()) > _MAX_SUMMED:
                part[label] = (part[label] + 1) // 2
        x, y = (
            self.products.ones(term, part, self.dtype)
            for term in equation.partition("->")[0].split(",")
        )
        add = self.products.adder(equation, order)
        seconds = _fastest(lambda: add(x, y, None)) / math.prod(part.values())
        return seconds * multiplications + self._from_memory(elements)

    def _from_memory(self, elements: float) -> float:
        """Return the seconds that elements take beyond a measurement in the caches, if they do not fit."""
        return _FROM_MEMORY * self.pass_over(max(elements - _IN_CACHES // self.itemsize, 0))

    def _factor(self, sizes: dict[str, int], memory: str, order: str) -> Any:
        """Make an array of the axes `order` that lies in memory in the order `memory`."""
        missing = "".join(name for name in order if name not in memory)
        names = missing + memory
        x = self.products.ones(names, sizes | dict.fromkeys(missing, 1), self.dtype)
        return self.products.permute(x, tuple(names.index(name) for name in order))


def _fastest(call: Callable[[], object], times: int = 1) -> float:
    """Return the seconds of the fastest of a few calls, `times` as many as usual."""
    best = math.inf
    begin = end = time.perf_counter()
    for number in range(times * _CALLS):
        if end - begin > times * _LONGEST and number > 2:
            break
        start = time.perf_counter()
        call()
        end = time.perf_counter()
        best = min(best, end - start)
    return best


def _measured_kind(count: int, m: int, n: int, k: int) -> tuple[int, int, int, int]:
    """Round extents, and halve the largest until they are quickly multiplied."""
    kind = [_rounded(each) for each in (count, m, n, k)]
    while math.prod(kind) > _MAX_WORK or _elements(*kind) > _MAX_ELEMENTS:
        kind[kind.index(max(kind))] //= 2
    return kind[0], kind[1], kind[2], kind[3]


def _rounded(extent: int) -> int:
    """Round to a number of two binary digits, from 16 on.

    To one less where that is a multiple of 64 and the extent is none: the elements of a column of such
    a matrix share few sets of a cache.
    """
    if extent <= 16:
        return extent
    unit = 1 << (extent.bit_length() - 2)
    rounded = (extent + unit // 2) // unit * unit
    return rounded - (rounded % 64 == 0 and extent % 64 != 0)


def _elements(count: int, m: int, n: int, k: int) -> int:
    return count * (m * k + k * n + m * n)
