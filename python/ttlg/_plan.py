"""Plans: how one transposition is done."""

import json
from typing import Any, NamedTuple

from ttlg import _arrays, _core
from ttlg._explain import explain


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
