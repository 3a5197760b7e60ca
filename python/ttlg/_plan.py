"""Plans: how one transposition is done."""

import json
from typing import Any

from ttlg import _core, _models
from ttlg._candidates import Candidate, CudaCandidate
from ttlg._explain import explain, explain_cuda
from ttlg._libraries import library_of


class Plan:
    """How one transposition is carried out; make one with `ttlg.plan`.

    A plan is a value: it compares equal to one made of the same parts, prints itself, survives
    JSON and pickle, and holds no memory of the arrays. Call it as often as there are arrays of its
    layout, from as many threads as you like.
    """

    __slots__ = ("_core", "_dtype", "_model")

    def __init__(
        self,
        core: _core.CpuPlan | _core.CudaPlan,
        dtype: str,
        model: _core.DeviceModel | None = None,
    ) -> None:
        self._core = core
        self._dtype = dtype
        self._model = model  # what a CudaPlan was made for

    def __call__(self, x: Any, out: Any = None, stream: Any = None) -> Any:
        """Transpose `x`, an array of the planned shape, layout and element size.

        Parameters
        ----------
        x : array
            As for `transpose`.
        out : array, optional
            C-contiguous and writable, of the result's shape and dtype. By default a new array of
            the library of `x`.
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
        if stream is None and self._model is None:
            result = _core.run_ndarray(self._core, x, out)
            if result is not None:
                return result
        library = library_of(x)
        source = library.view_input(x, stream)
        self._check_device(source)
        if out is None:
            return library.run_into_new(self._core, x, source)
        out_library = library_of(out)
        target = out_library.view_output(out, source)
        if source.shape == self._core.shape:
            _core.check_out(source, self._core.axes, target)
        self._core.run(source, target)
        out_library.written(out)
        return out

    def _check_device(self, x: _core.TensorView) -> None:
        device = "cpu" if x.on_host else _models.model_of(x.device).name
        if device != self.device:
            raise ValueError(
                f"this plan is for the device {self.device!r}, but x lives on {x.device}; make "
                f"another with ttlg.plan(..., device={x.device!r})"
            )

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
        """The dtype's name, for display: a plan depends on the element size alone."""
        return self._dtype

    @property
    def kernel(self) -> str:
        """The kernel: the schema on a GPU, on the CPU as `ttlg.plan` lists them."""
        return self._core.kernel

    @property
    def schema(self) -> str | None:
        """TTLG's name of a GPU's kernel, such as ``orthogonal_distinct``; None on the CPU."""
        return None if self._model is None else self._core.kernel

    @property
    def device(self) -> str:
        """``cpu``, or the name of the device model that the plan was made for."""
        return "cpu" if self._model is None else self._model.name

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
        always do; ``prefetch`` requests the next block while one is moved, and
        ``threads`` share the blocks.

        On a GPU, where elements are the words that threads move: the slice of a thread block spans
        the first ``in_modes`` modes of the input and the first ``out_modes`` of the output, the
        last of them cut into ``in_block`` and ``out_block``; the block repeats it along
        ``coarsened_mode``, unless that is -1.
        """
        return self._core.parameters

    def candidates(self) -> list[Candidate] | list[CudaCandidate]:
        """List the ways in which this transposition may be done, on as many threads at most.

        Returns
        -------
        list of Candidate or CudaCandidate
            Named tuples ``(kernel, parameters, cost)``, the cheapest first. ``cost`` is what the
            planner expects, as a multiple of the time that a copy of the same bytes takes;
            ``ttlg.plan(..., tune="measure")`` finds out. The reference kernel is not listed.
            For a GPU ``(kernel, parameters, features, seconds)``, the fastest first: every slice
            of every kernel that can do it, with the features that its predicted time in seconds
            depends on. The class of the tuples documents each field and the unit of each feature.

        Examples
        --------
        >>> import ttlg
        >>> sorted({each.kernel for each in ttlg.plan((64, 30), threads=1).candidates()})
        ['shuffle', 'strided_copy', 'tile']
        """
        core = self._core
        if isinstance(core, _core.CpuPlan):
            return [Candidate(*each) for each in core.candidates(core.parameters["threads"])]
        return [CudaCandidate(*each) for each in core.candidates()]

    @property
    def predicted_time(self) -> float | None:
        """Seconds that a GPU is expected to take; None on the CPU: no model of its time so far."""
        return self._core.predicted_seconds if isinstance(self._core, _core.CudaPlan) else None

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
        if isinstance(self._core, _core.CudaPlan):
            return self._core.transactions()
        raise ValueError(
            "transactions() is for GPUs so far; make a plan for one with "
            "ttlg.plan(..., device='cuda') or, without a GPU, device='tesla-k40c'"
        )

    def explain(self) -> str:
        """Say in a table how the transposition is done and why.

        Returns
        -------
        str
            The fused problem, the chosen kernel and parameters, for a shuffle its vectors and
            steps, for a GPU its predicted time, and the planner's cases from top to bottom with
            what each one needs.

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
        planner, first case that applies:
            no  copy         all modes fused into one run that is contiguous on both sides
        ->  yes tile         elements of 1, 2, 4, 8 or 16 bytes, different fastest modes, blocks with sides of 64 bytes or more (or 32, 48)
            yes shuffle      elements of 1, 2, 4 or 8 bytes, contiguous for 16 bytes on both sides; an instruction that permutes bytes
            yes tile         the same elements and modes, blocks with sides of 16 bytes or more
            yes strided_copy at least one mode besides the contiguous run
            yes reference    anything
        """
        if isinstance(self._core, _core.CpuPlan):
            return explain(self._core, self._dtype)
        return explain_cuda(self._core, self._dtype)

    def to_json(self) -> str:
        """Write the plan as JSON, from which `from_json` rebuilds an equal one.

        Returns
        -------
        str
            A JSON object with the request, the kernel and its parameters, and the device model.
        """
        core = self._core
        record: dict[str, Any] = {
            "ttlg": _core.__version__,
            "device": "cpu" if self._model is None else self._model.to_dict(),
            "shape": core.shape,
            "byte_strides": core.byte_strides,
            "axes": core.axes,
            "dtype": self._dtype,
            "itemsize": core.itemsize,
            "out_byte_strides": core.out_byte_strides,
            "inplace": core.inplace,
            "kernel": core.kernel,
            "parameters": core.parameters,
        }
        if isinstance(core, _core.CudaPlan):
            record["alignment"] = core.alignment
        return json.dumps(record)

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
            request = _core.Request(
                data["shape"],
                data["byte_strides"],
                data["itemsize"],
                data["axes"],
                data["out_byte_strides"],
                data["inplace"],
            )
            chosen = {"kernel": data["kernel"], **data["parameters"]}
            if data["device"] == "cpu":
                return cls(_core.build_cpu_plan(request, **chosen), data["dtype"])
            model = _core.DeviceModel(**data["device"])
            core = _core.build_cuda_plan(
                request, alignment=data["alignment"], model=model, **chosen
            )
            return cls(core, data["dtype"], model)
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
            f"{'' if self._model is None else f'device={self.device!r} '}"
            f"kernel={self.kernel!r} {chosen}>"
        )
