"""`ttlg.Plan`: what callers see of the plans of every type."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, overload

from ttlg import _core, _models
from ttlg._core import TensorView
from ttlg._libraries import library_of
from ttlg._libraries.dlpack import call_into
from ttlg._plan import json as plan_json
from ttlg._plan.candidates import (
    Candidate,
    CandidateT_co,
    CudaCandidate,
    gain,
    list_candidates,
)
from ttlg._typing import Array, ArrayT, CudaKernel, OutT

if TYPE_CHECKING:
    from ttlg._plan.text import Explanation

# The class of the plans of each type of the core.
_CLASSES: dict[type, type["Plan[Any]"]] = {}


class Plan(Generic[CandidateT_co]):
    """How one transposition is carried out; make one with `ttlg.plan` or `ttlg.plan_for`.

    A plan is a value: it compares equal to one made of the same parts, prints itself, survives
    JSON and pickle, and holds no memory of the arrays. Call it as often as there are arrays of its
    layout, from as many threads as you like.
    """

    __slots__ = ("__weakref__", "_compiled", "_dtype", "_given")

    _compiled: plan_json.AnyPlan
    _dtype: str
    _given: tuple[str, ...]

    def __init_subclass__(cls, core: type | None = None) -> None:
        super().__init_subclass__()
        if core is not None:
            _CLASSES[core] = cls

    def __new__(
        cls, core: plan_json.AnyPlan, dtype: str, given: tuple[str, ...] = ()
    ) -> "Plan[Any]":
        """Make a plan of the class for this type of `core`; `dtype` is a name for display.

        `given` names the parameters that a caller gave.
        """
        plan = object.__new__(_CLASSES.get(type(core), cls))
        plan._compiled, plan._dtype, plan._given = core, dtype, given
        return plan

    @overload
    def __call__(self, x: ArrayT, out: None = None, stream: Any = None) -> ArrayT: ...
    @overload
    def __call__(self, x: Array, out: OutT, stream: Any = None) -> OutT: ...
    def __call__(self, x: Any, out: Any = None, stream: Any = None) -> Any:
        """Transpose `x`, an array of the planned shape, layout and element size.

        Parameters
        ----------
        x : array
            As for `transpose`.
        out : array, optional
            As for `transpose`. Where its strides are not those of `out_strides`, the planner's plan
            for them runs instead of this one: on as many threads, and with this plan's kernel if
            that was forced or measured and can write there, but with parameters of the planner's.
            Where only the fields of its elements may be written, the planner's plans for these run.
            By default a new array of the library of `x`.
        stream : optional
            As for `transpose`.

        Returns
        -------
        array
            `out`, or a new array.

        Raises
        ------
        TypeError, ValueError, BufferError, CudaError
            As for `transpose`, and ValueError if `x` is not of the planned layout or device.
        """
        core: Any = self._compiled
        if stream is None:
            result = _core.run_ndarray(self._call(core), x, out)
            if result is not None:
                return result
        library = library_of(x)
        source = library.view_input(x, stream)
        self._check_device(source)
        if out is None:
            return library.run_into_new(self._call(core), x, source)
        out_library = library_of(out)
        target = out_library.view_output(out, source, stream)
        if not core.fits(source, target):
            core = self._core_for(source, target)
        call: Any = self._call(core)
        if _core.fields_to_write(target) is not None:
            call = call_into(source, self.axes, target, self.threads)
        out_library.run_into(call, out, source, target)
        return out

    def _call(self, core: Any) -> Any:
        """Return what runs a plan of the core."""
        return core

    def _core_for(self, x: TensorView, out: TensorView) -> Any:
        """Return the plan that moves `x` into `out`, whose strides this one was not made for.

        It uses as many threads, and the kernel of this one if the planner would not have taken
        that, so that it was forced or measured, and it can write to `out`.
        """
        planned = self._plan_core(x, out, None)
        if planned.kernel == self.kernel or self.kernel == self._planned_kernel():
            return planned
        try:
            return self._plan_core(x, out, self.kernel)
        except ValueError:  # this kernel cannot write there
            return planned

    def _plan_core(self, x: TensorView, out: TensorView, kernel: str | None) -> Any:
        """Plan to move `x` into `out`."""
        raise NotImplementedError

    def _planned_kernel(self) -> str:
        """Return the kernel that the planner would take for the request of this plan."""
        raise NotImplementedError

    def _check_device(self, x: TensorView) -> None:
        device = "cpu" if x.on_host else _models.model_of(x.device).name
        if device != self.device:
            raise ValueError(
                f"this plan is for the device {self.device!r}, but x lives on {x.device}; make "
                f"another with ttlg.plan(..., device={x.device!r}) or ttlg.plan_for(x, axes)"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the input."""
        return self._compiled.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides of the input in bytes.

        Examples
        --------
        >>> import ttlg
        >>> ttlg.plan((64, 30), dtype="float64").strides
        (240, 8)
        """
        return self._compiled.byte_strides

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of the input in the order of the result."""
        return self._compiled.axes

    @property
    def out_shape(self) -> tuple[int, ...]:
        """The shape of the result.

        Examples
        --------
        >>> import ttlg
        >>> ttlg.plan((64, 30, 3), (2, 0, 1)).out_shape
        (3, 64, 30)
        """
        return self._compiled.out_shape

    @property
    def out_strides(self) -> tuple[int, ...]:
        """The strides of the result in bytes: C-contiguous unless planned for another ``out=``.

        Examples
        --------
        >>> import ttlg
        >>> ttlg.plan((64, 30), dtype="float64").out_strides
        (512, 8)
        """
        return self._compiled.out_strides

    @property
    def nbytes(self) -> int:
        """The bytes of the input's elements, which are as many as the result's.

        Examples
        --------
        >>> import ttlg
        >>> ttlg.plan((64, 30), dtype="float64").nbytes
        15360
        """
        return math.prod(self._compiled.shape) * self._compiled.itemsize

    @property
    def dtype(self) -> str:
        """The dtype's name, for display: a plan depends on the element size alone."""
        return self._dtype

    @property
    def kernel(self) -> str:
        """The kernel as `ttlg.plan` lists them: the schema on a GPU, in place one for each step."""
        return self._compiled.kernel

    @property
    def schema(self) -> CudaKernel | None:
        """TTLG's name of a GPU's kernel, such as ``orthogonal_distinct``; None on the CPU."""
        return None

    @property
    def device(self) -> str:
        """``cpu``, or the name of the device model that the plan was made for."""
        model = plan_json.model_of(self._compiled)
        return "cpu" if model is None else model.name

    @property
    def threads(self) -> int | None:
        """The threads that share the work on the CPU; None on a GPU.

        Examples
        --------
        >>> import ttlg
        >>> ttlg.plan((64, 30), threads=8).threads  # few bytes are not worth a second one
        1
        """
        return self.parameters.get("threads")

    @property
    def extents(self) -> tuple[int, ...]:
        """Extents of the fused modes, the input's fastest first."""
        return self._compiled.extents

    @property
    def perm(self) -> tuple[int, ...]:
        """``perm[i] = j``: the output's i-th fastest fused mode is the input's mode j."""
        return self._compiled.perm

    @property
    def parameters(self) -> dict[str, Any]:
        """What the planner chose.

        In place: the ``steps``, each of which transposes ``batch`` matrices of ``rows`` and
        ``columns`` where they lie, on a GPU with ``between`` elements between the two; ``width`` is
        that of a band or a region in tiles, or what else a kernel does at a time, and on a GPU
        ``threads`` how many a thread block has, 0 where the kernel decides; on the CPU
        ``threads``; and the ``workspace_limit`` in bytes that the steps had to keep. Else:

        ``block`` holds the extent of a block along each mode that is left when a run that is
        contiguous on both sides counts as one element (for ``copy``: the bytes of a chunk),
        ``loop_order`` the modes that are cut into blocks, outermost loop first. ``staged``
        blocks pass through a buffer. ``streaming`` stores whole lines around the caches, from that
        buffer or, where blocks are not staged, directly. While a block is moved, the one that is
        ``prefetch`` blocks ahead is requested, unless that is 0; ``threads`` share the blocks.

        On a GPU, where elements are the words that threads move: the slice of a thread block spans
        the first ``in_modes`` modes of the input and the first ``out_modes`` of the output, the
        last of them cut into ``in_block`` and ``out_block``; the block repeats it along
        ``coarsened_mode``, unless that is -1, and keeps ``stages`` buffers: with two, the next
        slice is on its way while this one is written. Blocks of ``orthogonal_distinct`` take slices
        in bands of ``band_width`` of them along the input's fastest modes, each of them row by row
        (OOPB of Gorawski and Lorek), or where that is 0 without bands.
        """
        return self._compiled.parameters

    def candidates(self) -> list[CandidateT_co]:
        """List the ways in which this transposition may be done, on as many threads at most.

        Returns
        -------
        list of Candidate or CudaCandidate
            The fastest by prediction come first, so that the first is what a plan of this layout
            uses unless its kernel is forced; for a GPU some kernels come before others (`explain`
            shows how). Where a plan was measured, its own way comes first, then all that took part;
            and its own way comes first where parameters were given.
            On the CPU named tuples ``(kernel, parameters, seconds, measured_seconds)``, predicted
            for a call into an ``out=`` that has been in use, without the reference kernel; for a
            GPU ``(kernel, parameters, features, seconds)``, every slice of every kernel with what
            its predicted time depends on. The class of the tuples documents each field. For type
            checkers a plan made by `ttlg.plan` is a ``Plan[Candidate]`` or ``Plan[CudaCandidate]``
            by its `device`, if that is written out.
            In place every first step by every kernel that can carry it out, with the fastest steps
            that follow.

        Examples
        --------
        >>> import ttlg
        >>> p = ttlg.plan((64, 30), threads=1)
        >>> p.candidates()[0].kernel == p.kernel
        True
        >>> {each.kernel for each in p.candidates()} <= {"tile", "shuffle", "strided_copy"}
        True
        """
        return list_candidates(self._compiled, is_given=bool(self._given))

    @property
    def gain(self) -> float | None:
        """How many times as fast as the planner's choice this plan was measured to be.

        None where nothing was measured: ``ttlg.plan(..., tune="measure")`` does that.

        Examples
        --------
        >>> import ttlg
        >>> ttlg.plan((64, 30)).gain is None
        True
        >>> ttlg.plan((40, 50, 60), (2, 0, 1), threads=1, tune="measure").gain >= 1
        True
        """
        return gain(self._compiled)

    @property
    def predicted_time(self) -> float:
        """Seconds that a call is expected to take, by the model that chose the plan.

        On the CPU a call into an ``out=`` that has been in use, or in place, by the time model of
        this process; `predict_time` also tells what a new array costs. On a GPU the launch.

        Examples
        --------
        >>> import ttlg
        >>> p = ttlg.plan((300, 400, 500), (2, 1, 0), threads=1)
        >>> p.predicted_time == ttlg.predict_time(p.shape, p.axes, threads=1, output="warm")
        True
        """
        return self._compiled.predicted_seconds

    @property
    def workspace_bytes(self) -> int:
        """The bytes that a call takes for itself besides input and output: 0 but in place.

        Examples
        --------
        >>> import ttlg
        >>> ttlg.plan((500, 300)).workspace_bytes
        0
        >>> ttlg.plan((500, 300), inplace=True, workspace=10**5, threads=1).workspace_bytes < 10**5
        True
        """
        return 0

    def transactions(self) -> dict[str, int]:
        """Count the memory transactions of a GPU's kernel by TTLG's formulas (its Table I).

        Returns
        -------
        dict
            Transactions of 128 bytes for ``in`` and ``out``, of each the device's memory
            (``_dram``), shared memory (``_shared``) and texture memory (``_texture``), which in
            this implementation stands for the tables of offsets.

        Raises
        ------
        ValueError
            The plan is for the CPU.

        Examples
        --------
        >>> import ttlg
        >>> p = ttlg.plan((64, 128), (1, 0), device="tesla-k40c")
        >>> p.transactions()["in_dram"]
        256
        """
        raise ValueError(
            "transactions() is for GPUs so far; make a plan for one, such as "
            "ttlg.plan(..., device='tesla-k40c'), which needs no GPU"
        )

    def shuffle_program(self) -> dict[str, Any]:
        """Describe how the kernel ``shuffle`` permutes the bytes of a small tile in vectors of 16.

        Returns
        -------
        dict
            ``tile``: extents along the modes of ``parameters["block"]``. ``loads`` and ``stores``:
            where vectors are loaded and stored, in bytes from the tile's first in input and output.
            Between them either ``sums``: for each stored vector its terms, which are combined with
            OR, each a pair of a loaded vector's number and the 16 of its bytes that the term takes,
            -1 for a zero. Or, where ``sums`` is empty, ``first``: the 16 bytes that each loaded
            vector takes from itself; then a round for each number in ``rounds``: that many bytes
            of vector i of n and of vector i + n/2, alternately, become vectors 2i and 2i + 1.
            ``program``: the same as text in the intermediate representation that `generate` writes
            its functions from, a line for each operation.

        Raises
        ------
        ValueError
            The plan has another kernel.

        Notes
        -----
        Tiles of powers of two are permuted in rounds, the butterfly of GenTT (section 4). Structures
        of 2 to 4 elements of up to 8 bytes are moved by code that was generated for them instead,
        where a block has enough of them, and views in their own order, such as pixels whose channels
        are reversed, in windows: one vector is read, shuffled and written after another. `explain`
        says so.

        Examples
        --------
        >>> import ttlg
        >>> program = ttlg.plan((5000, 3), dtype="uint8", kernel="shuffle").shuffle_program()
        >>> program["tile"], program["loads"], program["stores"]
        ((3, 16), (0, 16, 32), (0, 5000, 10000))
        >>> program["sums"][2][1]  # of the pixels' last bytes, those in the second vector
        (1, (-1, -1, -1, -1, -1, 1, 4, 7, 10, 13, -1, -1, -1, -1, -1, -1))
        """
        raise ValueError(
            f"the kernel {self.kernel!r} has no shuffle program; plan for the CPU with "
            "kernel='shuffle'"
        )

    def explain(self) -> "Explanation":
        """Say how the transposition is done and why.

        Returns
        -------
        str
            Text that also shows itself as the last line of a notebook's cell: the fused problem,
            the chosen kernel and parameters, for a shuffle its vectors, steps and operations, and
            the predicted time. Then what each kernel would take at best, or why it does not apply; for a GPU the
            planner's cases from top to bottom, with what keeps those above the choice from
            applying and what the others need. Where plans were measured, the fastest of them and
            the gain over the planner's choice; which parameters were given, if any.

        Examples
        --------
        >>> import ttlg
        >>> ttlg.plan((16, 12), (1, 0), threads=1).explain()  # doctest: +ELLIPSIS
        transpose float32 (16, 12) by axes (1, 0) -> (12, 16)
          strides    (48, 4) -> (64, 4) bytes
          fused      extents 12 x 16, perm 1 0 (fastest mode first)
          kernel     tile: 1 block of 12 x 16 elements of 4 bytes
          stores     ...
          prefetch   ...
          threads    1
          predicted  ... microseconds into out=, ... microseconds into a new array
        planner, the least predicted time of each kernel:
        no  copy         2 modes are left besides what is contiguous on both sides
        ->  tile         ... microseconds
            shuffle      ... microseconds
            strided_copy ... microseconds
        """
        from ttlg._plan.text import Explanation

        lines = self._explain()
        if self._given:
            lines.append(f"parameters that were given: {', '.join(self._given)}")
        return Explanation("\n".join(lines))

    def _explain(self) -> list[str]:
        """Return the lines of `explain` but for the parameters that were given."""
        raise NotImplementedError

    def _predict(self, fresh: bool) -> tuple[float, float, float]:
        """Predict seconds and the bounds of nine in ten, NaN where the model does not tell."""
        return self.predicted_time, math.nan, math.nan

    def to_json(self) -> str:
        """Write the plan as JSON, from which `from_json` rebuilds an equal one.

        Returns
        -------
        str
            A JSON object with the request, the kernel and its parameters, the device model, and
            what was measured.
        """
        return plan_json.write(self._compiled, self._dtype, self._given)

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
            The text is no plan, and the message names the field that is wrong; or its parameters
            contradict each other.

        Examples
        --------
        >>> import ttlg
        >>> p = ttlg.plan((8, 9, 10), (2, 0, 1))
        >>> ttlg.Plan.from_json(p.to_json()) == p
        True
        """
        return cls(*plan_json.read(text))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self._compiled == other._compiled

    def __hash__(self) -> int:
        return hash(
            (self._compiled.shape, self._compiled.byte_strides, self._compiled.axes, self.kernel)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        from ttlg._plan.text import name_plan

        return f"<ttlg.Plan {name_plan(self._compiled, self._dtype)}>"

    def _repr_html_(self) -> str:
        from ttlg._plan.html import show_html  # imports html, which only notebooks need

        return show_html(self._facts(), self._rows())

    def _facts(self) -> dict[str, object]:
        """Return what a notebook shows of the plan, by name."""
        return {
            "transpose": f"{self.dtype} {self.shape} by axes {self.axes} -> {self.out_shape}",
            "strides": f"{self.strides} -> {self.out_strides} bytes",
            "fused": f"extents {self.extents}, perm {self.perm} (fastest mode first)",
            "device": self.device,
            "kernel": self.kernel,
            **self.parameters,
            **({"given": ", ".join(self._given)} if self._given else {}),
            **({} if self.gain is None else {"measured gain": f"{self.gain:.3g}"}),
        }

    def _rows(self) -> Sequence[Candidate | CudaCandidate]:
        """Return the candidates as a notebook shows them."""
        return self.candidates()
