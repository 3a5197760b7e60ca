"""Plans: how one transposition is done."""

import json
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ttlg import _arrays, _core, _tune
from ttlg._config import resolve_threads
from ttlg._explain import explain


def _describe_dtype(dtype: Any) -> tuple[str, int]:
    """Name and bytes of one element, for NumPy's dtypes and names and PyTorch's dtypes."""
    if type(dtype).__module__ == "torch":
        return str(dtype).removeprefix("torch."), dtype.itemsize
    try:
        resolved = np.dtype(dtype)
    except TypeError:
        try:
            import ml_dtypes

            resolved = np.dtype(getattr(ml_dtypes, dtype))
        except (ImportError, AttributeError, TypeError):
            raise TypeError(
                f"{dtype!r} is no dtype; pass one of NumPy's, PyTorch's or ml_dtypes', or its name"
            ) from None
    if resolved.hasobject:
        raise TypeError(f"dtype {resolved} holds Python objects; ttlg moves fixed-size elements")
    name = resolved.name if resolved.isnative and resolved.names is None else str(resolved)
    return name, resolved.itemsize


def _integers(name: str, values: Sequence[int]) -> tuple[int, ...]:
    """Read a shape or strides: integers that fit in 64 bits."""
    try:
        result = tuple(map(operator.index, values))
    except TypeError:
        raise TypeError(f"{name} must be a sequence of integers, not {values!r}") from None
    if any(not -(2**63) <= value < 2**63 for value in result):
        raise ValueError(f"{name} {result} exceeds the 64-bit range")
    return result


class Candidate(NamedTuple):
    """One way to carry a plan's request out, as `Plan.candidates` lists them.

    ``cost`` is what the planner expects, in the time that a copy of the same bytes takes.
    """

    kernel: str
    parameters: dict[str, Any]
    cost: float


class Plan:
    """How one transposition is carried out; make one with `ttlg.plan`.

    A plan is a value: it compares equal to one made of the same parts, prints itself, survives
    JSON and pickle, and holds no memory of the arrays. Call it as often as there are arrays of its
    layout, from as many threads as you like.
    """

    __slots__ = ("_core", "_dtype")

    def __init__(self, core: _core.Plan, dtype: str) -> None:
        self._core = core
        self._dtype = dtype

    def __call__(self, x: Any, out: Any = None) -> Any:
        """Transpose `x`, an array of the planned shape, layout and element size.

        Parameters
        ----------
        x : array
            As for `transpose`.
        out : array, optional
            C-contiguous and writable, of the result's shape and dtype. By default a new array of
            the library of `x`.

        Returns
        -------
        array
            `out`, or a new array.

        Raises
        ------
        TypeError, ValueError, BufferError
            As for `transpose`, and ValueError if `x` is not of the planned layout.
        """
        result = _core.run_ndarray(self._core, x, out)
        if result is not None:
            return result
        source = _arrays.view(x, "x")
        if out is None:
            return _arrays.run_into_new(self._core, x, source)
        target = _arrays.view(out, "out")
        if source.shape == self._core.shape:
            _arrays.check_out(source, self._core.axes, out, target)
        self._core.run(source, target)
        return out

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the input."""
        return self._core.shape

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of the input in the order of the result."""
        return self._core.axes

    @property
    def dtype(self) -> str:
        """The dtype's name, for the reader: a plan depends on the element size alone."""
        return self._dtype

    @property
    def kernel(self) -> str:
        """The kernel: ``copy``, ``tile``, ``shuffle``, ``run`` or ``reference``."""
        return self._core.kernel

    @property
    def extents(self) -> tuple[int, ...]:
        """Extents of the fused modes, the input's fastest first."""
        return self._core.extents

    @property
    def perm(self) -> tuple[int, ...]:
        """``perm[i] = j``: the output's i-th fastest fused mode is the input's mode j."""
        return self._core.perm

    @property
    def parameters(self) -> dict[str, Any]:
        """What the planner chose.

        ``block`` holds the extent of a block along each mode that is left when a run that is
        contiguous on both sides counts as one element (for ``copy``: the bytes of a chunk),
        ``loop_order`` the modes that are cut into blocks, outermost loop first. ``staged``
        blocks pass through a buffer, as those with ``streaming`` stores, which bypass the caches,
        do anyway; ``prefetch`` requests the next block while one is moved, and
        ``threads`` share the blocks.
        """
        return self._core.parameters

    def candidates(self) -> list[Candidate]:
        """List the ways in which this transposition may be done, on as many threads at most.

        Returns
        -------
        list of Candidate
            Named tuples ``(kernel, parameters, cost)``, the cheapest first. ``cost`` is what the
            planner expects, in the time that a copy of the same bytes takes;
            ``ttlg.plan(..., tune="measure")`` finds out. The reference kernel is not listed.

        Examples
        --------
        >>> import ttlg
        >>> for each in ttlg.plan((64, 30), threads=1).candidates():
        ...     print(each.kernel, each.parameters["block"])
        tile (30, 64)
        shuffle (30, 64)
        run (30, 64)
        """
        threads = self._core.parameters["threads"]
        return [Candidate(*each) for each in self._core.candidates(threads)]

    def explain(self) -> str:
        """Say in a table how the transposition is done and why.

        Returns
        -------
        str
            The fused problem, the chosen kernel and parameters, for a shuffle its vectors and
            steps, and the planner's cases from top to bottom with what each one needs.

        Examples
        --------
        >>> import ttlg
        >>> print(ttlg.plan((16, 12), (1, 0), threads=1).explain())
        transpose float32 (16, 12) by axes (1, 0) -> (12, 16)
          fused      extents 12 x 16, perm 1 0 (fastest mode first)
          kernel     tile: 1 block of 12 x 16 elements of 4 bytes
          stores     ordinary
          prefetch   none
          threads    1
        planner, first case that applies (tile: and whose blocks fill vectors):
            no  copy       all modes fused into one run that is contiguous on both sides
        ->  yes tile       elements (runs included) of 1, 2, 4, 8 or 16 bytes, and different fastest modes, each of unit stride on its side
            yes shuffle    elements of 1, 2, 4 or 8 bytes that are contiguous for 16 bytes on both sides
            yes run        at least one mode besides the contiguous run
            yes reference  nothing
        """
        return explain(self._core, self._dtype)

    def to_json(self) -> str:
        """Write the plan as JSON, from which `from_json` rebuilds an equal one.

        Returns
        -------
        str
            A JSON object with the request, the kernel and its parameters.
        """
        core = self._core
        return json.dumps(
            {
                "ttlg": _core.__version__,
                "device": "cpu",
                "shape": core.shape,
                "byte_strides": core.byte_strides,
                "axes": core.axes,
                "dtype": self._dtype,
                "itemsize": core.itemsize,
                "out_byte_strides": core.out_byte_strides,
                "kernel": core.kernel,
                "parameters": core.parameters,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "Plan":
        """Rebuild a plan from `to_json`, without asking the planner again.

        Parameters
        ----------
        text : str
            What `to_json` returned.

        Returns
        -------
        Plan
            A plan equal to the one that was written.

        Raises
        ------
        ValueError
            The text is no plan, or its parameters contradict each other.

        Examples
        --------
        >>> import ttlg
        >>> p = ttlg.plan((8, 9, 10), (2, 0, 1))
        >>> ttlg.Plan.from_json(p.to_json()) == p
        True
        """
        try:
            data = json.loads(text)
            core = _core.build_plan(
                tuple(data["shape"]),
                tuple(data["byte_strides"]),
                data["itemsize"],
                tuple(data["axes"]),
                data["out_byte_strides"],
                kernel=data["kernel"],
                **data["parameters"],
            )
            return cls(core, data["dtype"])
        except json.JSONDecodeError as error:
            raise ValueError(f"not the JSON of a ttlg plan: {error}") from error
        except (KeyError, TypeError) as error:
            raise ValueError(f"not the JSON of a ttlg plan: {error!r}") from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self._core == other._core

    def __hash__(self) -> int:
        return hash((self._core.shape, self._core.byte_strides, self._core.axes, self.kernel))

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        chosen = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return (
            f"<ttlg.Plan {self._dtype} {self.shape} axes={self.axes} "
            f"kernel={self.kernel!r} {chosen}>"
        )


def plan(
    shape: Sequence[int],
    axes: Sequence[int] | None = None,
    dtype: Any = "float32",
    *,
    strides: Sequence[int] | None = None,
    device: str = "cpu",
    threads: int | None = None,
    kernel: str | None = None,
    tune: str = "model",
) -> Plan:
    """Plan a transposition for repeated use.

    Parameters
    ----------
    shape : sequence of int
        Shape of the input.
    axes : sequence of int, optional
        As for `transpose`; reversed by default.
    dtype : dtype or str
        NumPy's, PyTorch's or ml_dtypes' dtype or name. Only its size matters.
    strides : sequence of int, optional
        Strides of the input in bytes, as ``numpy.ndarray.strides`` gives them. C-contiguous by
        default.
    device : str
        ``"cpu"``.
    threads : int, optional
        The most threads to use; `get_num_threads()` by default.
    kernel : str, optional
        Force ``"copy"``, ``"tile"``, ``"shuffle"``, ``"run"`` or ``"reference"`` instead of the
        planner's choice.
    tune : str
        ``"model"`` trusts the planner. ``"measure"`` times its candidates (those of `kernel`, if
        that is given), each in turn on arrays of the real layout, and keeps the fastest in the
        planner cache, so that `transpose` of this layout on as many threads uses it from then on.

    Returns
    -------
    Plan
        Callable: ``plan(x, out=None)``.

    Raises
    ------
    TypeError
        An argument is not of the stated type, or the dtype holds Python objects.
    ValueError
        `axes` is no permutation, an extent is negative, `strides` does not fit `shape`, `kernel`
        does not apply, `tune` is unknown, or ``TTLG_CACHE_DIR`` is no directory to write to.
    MemoryError
        There is no room for the arrays that ``tune="measure"`` needs.

    Notes
    -----
    Every call with ``tune="measure"`` takes the memory of an input and an output and the time of a
    hundred transpositions or so; where that exceeds a second, a terminal shows a progress bar. If
    the environment variable ``TTLG_CACHE_DIR`` names a directory, which is made if it is missing,
    the winner is also kept there, and later calls on the same kind of machine find it without
    measuring.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> p = ttlg.plan((4, 5, 6), (2, 0, 1), "float64")
    >>> p.kernel, p.extents, p.perm
    ('tile', (6, 20), (1, 0))
    >>> p(np.zeros((4, 5, 6))).shape
    (6, 4, 5)

    The fastest of several ways, by measurement, for `transpose` to use from then on:

    >>> p = ttlg.plan((40, 50, 60), (2, 0, 1), "float64", tune="measure")
    >>> p.kernel in {each.kernel for each in p.candidates()}
    True
    """
    if device != "cpu":
        raise ValueError(f"cannot plan for device {device!r}; this version plans for 'cpu'")
    if kernel is not None and not isinstance(kernel, str):
        raise TypeError(f"kernel must be a name, not {kernel!r}")
    if tune not in ("model", "measure"):
        raise ValueError(f"unknown tune {tune!r}; choose one of 'model', 'measure'")
    name, itemsize = _describe_dtype(dtype)
    extents = _integers("shape", shape)
    if any(extent < 0 for extent in extents):
        raise ValueError(f"shape {extents} has a negative extent")
    order = _core.normalize_axes(axes, extents)
    count = resolve_threads(threads)
    byte_strides = None if strides is None else _integers("strides", strides)
    if byte_strides is not None and len(byte_strides) != len(extents):
        raise ValueError(
            f"strides {byte_strides} do not fit shape {extents}: give one per axis, in bytes"
        )
    try:
        if byte_strides is None:
            byte_strides = _core.contiguous_byte_strides(extents, itemsize)
        core = _core.make_plan(extents, byte_strides, itemsize, order, None, count, kernel)
    except ValueError as error:
        raise ValueError(f"cannot plan shape {extents} by axes {order}: {error}") from None
    if tune == "measure":
        core = _tune.tune(core, count, kernel)
    return Plan(core, name)
