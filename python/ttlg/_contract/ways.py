"""Contractions of pairs as calls of a library, worked out once."""

import math
from collections.abc import Callable, Iterator, Sequence
from string import ascii_letters
from typing import Any, NamedTuple, TypeAlias

from ttlg._contract.costs import STEP_SECONDS, Costs
from ttlg._contract.cuts import Cut
from ttlg._contract.libraries import Order, Products
from ttlg._contract.operands import Extents, Operand, contiguous, in_memory_order
from ttlg._contract.outputs import deliver
from ttlg._contract.pairs import MatrixForm, Pair

# Of two operands, and of where to write or None.
Call: TypeAlias = Callable[[Any, Any, Any], Any]

# Up to so many bytes an operand is multiplied by as it lies.
_MAX_UNMOVED_BYTES = 1 << 15


class Preparation(NamedTuple):
    """What brings an operand into the form of a factor; None where nothing has to be done."""

    moved: tuple[int, ...] | None
    axes: tuple[int, ...] | None
    shape: tuple[int, ...] | None


class Way(NamedTuple):
    """A way to contract two arrays.

    Attributes
    ----------
    order : tuple of int
        Which operand is the first factor, and which the second.
    factors : tuple of Preparation
        What is done to each, in this order.
    is_matmul : bool
        Whether matrices are multiplied, or elements.
    inner : int
        How many products each element of the product is the sum of.
    product_shape : tuple of int
        Shape of the product.
    summed : tuple of int or None
        Axes of the product that are summed.
    labels : str
        Labels of the result as it lies in memory, slowest first.
    shape : tuple of int
        One extent for each of them.
    axes : tuple of int or None
        Their order in the result.
    moving, product : float
        Seconds of the transpositions, and of the rest.
    loop : tuple of str or None
        Where elements are multiplied and summed at once by the library's own function: the equation,
        and the order of its loops.
    workspace : int
        Bytes that are allocated beside the result.
    cut : Cut or None
        Where it is done in parts; all else says how each part is done, but `labels` and `shape`.
    """

    order: tuple[int, int]
    factors: tuple[Preparation, Preparation]
    is_matmul: bool
    inner: int
    product_shape: tuple[int, ...]
    summed: tuple[int, ...] | None
    labels: str
    shape: tuple[int, ...]
    axes: tuple[int, ...] | None
    moving: float
    product: float
    loop: tuple[str, Order] | None = None
    workspace: int = 0
    cut: Cut | None = None

    @property
    def seconds(self) -> float:
        """Predicted time in seconds."""
        return self.moving + self.product

    def compiled(self, costs: Costs) -> Call:
        """Return what contracts two arrays, with all decided that does not depend on them."""
        products, dtype = costs.products, costs.dtype
        first, second = (_compiled(factor, products, costs.threads) for factor in self.factors)
        if self.loop is None:
            multiply = products.multiplier(self.is_matmul, self.product_shape, costs.itemsize)
        else:
            multiply = products.adder(*self.loop)
        in_memory = self.axes_in_memory()
        is_direct = self._is_direct()
        swapped, summed, axes = self.order == (1, 0), self.summed, self.axes
        product_shape = self.product_shape
        shape = None if self.shape == product_shape else self.shape
        permute = products.permute

        def contract(x: Any, y: Any, out: Any) -> Any:
            if swapped:
                x, y = y, x
            if first is not None:
                x = first(x)
            if second is not None:
                y = second(y)
            view = None
            if out is not None and is_direct:
                view = products.view_for_product(out, dtype, in_memory, product_shape)
            product = multiply(x, y, view)
            if view is not None:
                return out
            if summed is not None:
                product = product.sum(summed)
            if shape is not None:
                product = product.reshape(shape)
            return deliver(product if axes is None else permute(product, axes), out)

        return contract

    def _is_direct(self) -> bool:
        """Whether what multiplies writes the result."""
        return self.summed is None and self.loop is None and self.cut is None

    def axes_in_memory(self) -> tuple[int, ...]:
        """Return the axes of the result, the slowest first."""
        axes = self.axes or range(len(self.shape))
        return tuple(sorted(range(len(self.shape)), key=axes.__getitem__))

    def delivered(self, term: str, strides: tuple[int, ...], costs: Costs) -> "Way":
        """Add the time of a copy to an array of these strides where products cannot write to it."""
        extents = dict(zip(self.labels, self.shape, strict=True))
        product = contiguous(self.labels, extents, costs.itemsize)
        target = in_memory_order(term, strides, extents)
        if target == product and self._is_direct():
            return self
        return self._replace(moving=self.moving + costs.move(product, target.labels, extents))

    def ordered(self, term: str) -> "Way":
        """Give the axes of the result the order `term`, which may have axes of one index more."""
        ones = "".join(label for label in term if label not in self.labels)
        labels = ones + self.labels
        return self._replace(
            labels=labels,
            shape=(1,) * len(ones) + self.shape,
            axes=None if labels == term else tuple(labels.index(label) for label in term),
        )


def _compiled(
    factor: Preparation, products: Products, threads: int | None
) -> Callable[[Any], Any] | None:
    moved, axes, shape = factor
    if moved is None and axes is None:
        return None if shape is None else lambda x: x.reshape(shape)
    permute = products.permute

    def bring(x: Any) -> Any:
        if moved is not None:
            x = products.transpose(x, moved, threads)
        if axes is not None:
            x = permute(x, axes)
        return x if shape is None else x.reshape(shape)

    return bring


def _size(labels: Sequence[str], extents: Extents) -> int:
    return math.prod(extents[label] for label in "".join(labels))


def _factor(
    term: str,
    moved: Sequence[str] | None,
    groups: Sequence[Sequence[str]],
    extents: Extents,
) -> Preparation:
    """Bring the axes `term` into groups, each of which becomes one axis.

    Of axes of one index, which are in no group, nothing is left.
    """
    ones = "".join(label for label in term if extents[label] == 1)
    axes = None
    if moved is not None:
        before, term = term, ones + "".join(moved)
        axes = tuple(before.index(label) for label in term)
    wanted = ones + "".join(label for group in groups for label in group)
    order = tuple(term.index(label) for label in wanted)
    shape = tuple(_size(group, extents) for group in groups)
    return Preparation(
        axes,
        None if order == tuple(range(len(order))) else order,
        None if shape == tuple(extents[label] for label in wanted) else shape,
    )


def matrix_way(form: MatrixForm, terms: tuple[str, str], extents: Extents) -> Way:
    """Turn a form of a pair into calls."""
    order = (1, 0) if form.swapped else (0, 1)
    factors = []
    for place, number in enumerate(order):
        factor = form.factors[number]
        stack = [[label] if label in factor.labels else [] for label in form.loops]
        matrix = [form.free[number], form.summed]
        groups = [*stack, *(matrix if place == 0 else matrix[::-1])]
        factors.append(_factor(terms[number], factor.moved, groups, extents))
    labels = "".join(form.result)
    return Way(
        order,
        (factors[0], factors[1]),
        True,
        _size(form.summed, extents),
        (
            *(_size([label], extents) for label in form.loops),
            *(_size(form.free[number], extents) for number in order),
        ),
        tuple(axis for axis, label in enumerate(form.loops) if label in form.summed_loops) or None,
        labels,
        tuple(extents[label] for label in labels),
        None,
        form.moving,
        form.product,
        workspace=form.workspace,
    )


def elementwise_way(
    operands: tuple[Operand, Operand], terms: tuple[str, str], extents: Extents, costs: Costs
) -> Way:
    """Multiply element by element: nothing is summed.

    The result lies as its larger operand does, or has the free indices of that one last, so that
    long runs of the memory of each are read.
    """
    sizes = [_size(operand.labels, extents) for operand in operands]
    large, small = (0, 1) if sizes[0] >= sizes[1] else (1, 0)
    shared = frozenset(operands[0].labels) & frozenset(operands[1].labels)
    free = [[label for label in each.labels if label not in shared] for each in operands]
    if free[large] and free[small]:
        stacked = [label for label in operands[large].labels if label in shared]
        labels = "".join([*stacked, *free[small], *free[large]])
    else:
        labels = "".join(operands[small if free[small] else large].labels)
    moving, workspace, factors = 0.0, 0, []
    for operand, term, size in zip(operands, terms, sizes, strict=True):
        wanted = tuple(label for label in labels if label in operand.labels)
        is_moved = wanted != operand.labels and size * costs.itemsize > _MAX_UNMOVED_BYTES
        if is_moved:
            moving += costs.move(operand, wanted, extents)
            workspace += size * costs.itemsize
        groups = [[label] if label in wanted else [] for label in labels]
        factors.append(_factor(term, wanted if is_moved else None, groups, extents))
    shape = tuple(extents[label] for label in labels)
    product = costs.pass_over(sum(sizes) + math.prod(shape)) + STEP_SECONDS
    return Way(
        (0, 1),
        (factors[0], factors[1]),
        False,
        1,
        shape,
        None,
        labels,
        shape,
        None,
        moving,
        product,
        workspace=workspace,
    )


def sum_ways(pair: Pair, terms: tuple[str, str], extents: Extents) -> Iterator[Way]:
    """Multiply and sum element by element, in one pass over operands as they lie.

    A matrix product needs the summed labels of both in one order, without shared elements. The
    library's own function takes any.
    """
    first, second = (operand.labels for operand in pair.operands)
    both = tuple(dict.fromkeys(first + second))
    if len(both) > len(ascii_letters):
        return
    kept = tuple(label for label in both if label in pair.kept)
    letters = dict(zip(both, ascii_letters, strict=False))
    elements = sum(pair.distinct_elements(number) for number in (0, 1))
    one, other, result = ("".join(map(letters.__getitem__, each)) for each in (first, second, kept))
    sizes = {letter: pair.size((label,)) for label, letter in letters.items()}
    factors = [
        _factor(term, None, [[label] for label in labels], extents)
        for term, labels in zip(terms, (first, second), strict=True)
    ]
    labels = "".join(kept)
    for order in pair.costs.products.orders:
        loop = f"{one},{other}->{result}", order
        yield Way(
            (0, 1),
            (factors[0], factors[1]),
            False,
            pair.size(both) // pair.size(kept),
            tuple(pair.size((label,)) for label in kept),
            None,
            labels,
            tuple(extents[label] for label in labels),
            None,
            0.0,
            pair.costs.sum_of_products(*loop, sizes, elements) + STEP_SECONDS,
            loop,
        )
