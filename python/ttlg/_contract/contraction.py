"""Contractions as plans."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ttlg._arguments.words import count_of
from ttlg._contract.costs import STEP_SECONDS, Costs
from ttlg._contract.cuts import Part
from ttlg._contract.equation import Equation, extents_of
from ttlg._contract.operands import distinct_elements
from ttlg._contract.outputs import add_to, check_out, check_shape, deliver, out_strides
from ttlg._contract.product_threads import limit_of
from ttlg._contract.steps import Pairing, Tensor


class Estimate(NamedTuple):
    """The predicted time of a contraction.

    Attributes
    ----------
    seconds : float
        Of the whole, in seconds.
    transposing : float
        Of the transpositions of operands and intermediate results, in seconds.
    multiplying : float
        Of the matrix products, and of what is multiplied or summed element by element, in seconds.
    layouts : tuple of str
        What each step does.
    alternatives : tuple of tuple of float
        For each step the seconds of the ways that were compared, the chosen one first.
    """

    seconds: float
    transposing: float
    multiplying: float
    layouts: tuple[str, ...]
    alternatives: tuple[tuple[float, ...], ...]


class Contraction:
    """A planned contraction, which `ttlg.contraction` makes.

    Attributes
    ----------
    equation : str
        The whole equation, without ellipses.
    shapes : tuple of tuple of int
        Shapes of the operands.
    dtype : str
        Dtype of all operands.
    path : tuple of tuple of int
        The operands of each step, as opt_einsum counts them.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> contraction = ttlg.contraction("ijk,kl->ijl", (4, 5, 6), (6, 7))
    >>> contraction(np.ones((4, 5, 6)), np.ones((6, 7))).shape
    (4, 5, 7)
    """

    def __init__(
        self,
        equation: Equation,
        tensors: Sequence[Tensor],
        costs: Costs,
        optimize: Any,
        out: Any = None,
    ) -> None:
        self._equation = equation
        self.equation = str(equation)
        self.shapes = tuple(tensor.shape for tensor in tensors)
        self._tensors, self._optimize = tuple(tensors), optimize
        # For operands whose elements share more memory than those that were planned for.
        self._denser: Contraction | None = None
        self.dtype = str(costs.dtype)
        self._costs = costs
        extents = extents_of(equation, self.shapes)
        self._elements = math.prod(extents.values())
        self._shape = tuple(extents[label] for label in equation.output)
        if out is not None:
            check_shape(out, self._shape)
        self.path: tuple[tuple[int, ...], ...] = ()
        self._steps: list[tuple[int, int, Pairing]] = []
        # Views, sums of one operand, and dtypes without BLAS are the library's own, whose equations
        # have no more labels than there are letters.
        if len(tensors) > 1 and (costs.products.multiplies(costs.dtype) or len(extents) > 52):
            self.path = tuple(_pairs(_path(self.equation, self.shapes, optimize), len(tensors)))
            self._steps = list(
                _steps(self.path, tensors, equation.output, extents, costs, out_strides(out))
            )

    def __call__(self, *operands: Any, out: Any = None, accumulate: bool = False) -> Any:
        """Contract arrays of the planned shapes.

        Parameters
        ----------
        *operands : array
            One for each term of the equation, of the library, dtype and shape that was planned for.
            Other strides than planned for are slower; operands whose elements share memory that was
            not planned to be shared, such as sliding windows, are planned for when they come.
        out, accumulate : optional
            Where to write, and whether to add, as for `ttlg.einsum`.

        Returns
        -------
        array
            As of `ttlg.einsum`.

        Raises
        ------
        ValueError
            Number or shapes of the operands are not those planned for.
        """
        shapes = tuple(tuple(x.shape) for x in operands)
        if shapes != self.shapes:
            raise ValueError(
                f"{self.equation} was planned for operands of shapes {self.shapes}, not {shapes}; "
                "call ttlg.einsum, or plan for these"
            )
        return self._for(operands).run(operands, out, accumulate)

    def _for(self, operands: Sequence[Any]) -> "Contraction":
        """Return this, or a contraction that does not lay out what shares memory in the operands."""
        strides = [tuple(x.strides) for x in operands]
        if strides == [tuple(tensor.strides) for tensor in self._tensors]:
            return self
        planned = sum(distinct_elements(tensor.shape, tensor.strides) for tensor in self._tensors)
        if sum(map(distinct_elements, self.shapes, strides)) >= planned:
            return self
        denser = self._denser
        if denser is None or strides != [tuple(tensor.strides) for tensor in denser._tensors]:
            tensors = [
                tensor._replace(strides=own)
                for tensor, own in zip(self._tensors, strides, strict=True)
            ]
            denser = Contraction(self._equation, tensors, self._costs, self._optimize)
            self._denser = denser
        return denser

    def run(self, operands: Sequence[Any], out: Any, accumulate: bool = False) -> Any:
        """Contract, without a look at the operands."""
        if out is not None:
            check_out(self._costs.products, operands, out, self._shape)
        elif accumulate:
            raise ValueError("accumulate=True adds to what out has: pass out=, or leave it out")
        if accumulate:
            return add_to(out, self.run(operands, None), self._costs.threads)
        limit = limit_of(self._costs.threads)
        if not limit:
            return self._contract(operands, out)
        with self._costs.products.limiter.at_most(limit):
            return self._contract(operands, out)

    def _contract(self, operands: Sequence[Any], out: Any) -> Any:
        if not self._steps:
            return deliver(self._costs.products.einsum(self.equation, *operands), out)
        if len(operands) == 2:
            x, y = operands
            return self._steps[0][2].call(x, y, out)
        left = list(operands)
        for first, second, pairing in self._steps:
            # The larger position first, so that the other stays what it is.
            y, x = left.pop(second), left.pop(first)
            left.append(pairing.call(x, y, None if left else out))
        return left[0]

    def estimate(self) -> Estimate:
        """Return the predicted time of the ways that are chosen now.

        Returns
        -------
        Estimate
            Seconds, and what they consist of.
        """
        if not self._steps:
            seconds = self._costs.pass_over(self._elements) + STEP_SECONDS
            return Estimate(seconds, 0.0, seconds, ("the library's own einsum",), ((seconds,),))
        pairings = [pairing for _, _, pairing in self._steps]
        transposing = sum(pairing.chosen.moving for pairing in pairings)
        multiplying = sum(pairing.chosen.product for pairing in pairings)
        return Estimate(
            transposing + multiplying,
            transposing,
            multiplying,
            tuple(_describe(pairing) for pairing in pairings),
            tuple(_alternatives(pairing) for pairing in pairings),
        )

    def explain(self) -> str:
        """Say what each step does and how long it is predicted to take.

        Returns
        -------
        str
            A table with a line for each step: its equation, what is a view and what is transposed,
            and milliseconds.
        """
        estimate = self.estimate()
        whole, transposing = map(_milliseconds, (estimate.seconds, estimate.transposing))
        lines = [f"{self.equation}, {self.dtype}: {whole} predicted, {transposing} to transpose"]
        for number, (layout, seconds) in enumerate(
            zip(estimate.layouts, estimate.alternatives, strict=True)
        ):
            step = self._steps[number][2].equation if self._steps else self.equation
            lines.append(f"  {step}: {_milliseconds(seconds[0])}, {layout}")
            if len(seconds) > 1:
                others = count_of(len(seconds) - 1, "other way")
                lines.append(f"    {others} from {_milliseconds(min(seconds[1:]))}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Return one line."""
        return f"<ttlg.Contraction {self.equation} {self.dtype}, {self.estimate().seconds:.3g} s predicted>"


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"


def _describe(pairing: Part) -> str:
    """Say what becomes of both operands, and what multiplies them."""
    way = pairing.chosen
    if way.cut is not None:
        return f"in {way.cut.number} parts of {way.cut.label}: {_describe(way.cut.parts[0])}"
    parts = []
    for number, factor in zip(way.order, way.factors, strict=True):
        term = pairing.terms[number]
        if factor.moved is None:
            parts.append(f"{term} as it lies")
        else:
            parts.append(f"{term} moved to " + "".join(term[axis] for axis in factor.moved))
    if way.loop is not None:
        return ", ".join(parts) + ", elements multiplied and summed by the library's own einsum"
    if not way.is_matmul:
        return ", ".join(parts) + ", elements multiplied"
    *stack, m, n = way.product_shape
    product = f"{m} x {way.inner} by {way.inner} x {n}"
    count = math.prod(stack)
    times = f"{count} products of " if count > 1 else ""
    summed = ", then summed" if way.summed else ""
    return ", ".join(parts) + f", {times}{product}{summed}"


def _alternatives(pairing: Pairing) -> tuple[float, ...]:
    others = [way for way in pairing.ways if way is not pairing.chosen]
    return tuple(way.seconds for way in (pairing.chosen, *others))


def _path(equation: str, shapes: Sequence[tuple[int, ...]], optimize: Any) -> Any:
    if len(shapes) == 2:
        return [(0, 1)]
    from opt_einsum import contract_path

    path, _ = contract_path(equation, *shapes, shapes=True, optimize=optimize)
    return path


def _pairs(path: Sequence[Sequence[int]], number: int) -> Iterator[tuple[int, int]]:
    """Divide steps of more than two operands; those of one are left to the next."""
    for numbers in path:
        taken = sorted(numbers)
        while len(taken) > 1:
            first, second = taken[:2]
            yield first, second
            number -= 1
            # The result is the last of the list, and those behind the two have moved.
            taken = [each - 2 for each in taken[2:]] + [number - 1]


def _steps(
    path: Sequence[tuple[int, ...]],
    tensors: Sequence[Tensor],
    output: str,
    extents: dict[str, int],
    costs: Costs,
    strides: tuple[int, ...] | None,
) -> Iterator[tuple[int, int, Pairing]]:
    left = list(tensors)
    for first, second in path:
        y, x = left.pop(second), left.pop(first)
        needed = set(output).union(*(tensor.term for tensor in left))
        kept = (
            output
            if not left
            else "".join(label for label in dict.fromkeys(x.term + y.term) if label in needed)
        )
        pairing = Pairing((x, y), extents, kept, costs, not left, strides)
        left.append(pairing.result)
        yield first, second, pairing
