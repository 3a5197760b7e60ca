"""Elements that are converted, scaled and added to while they move, in arrays that have memory."""

import functools
import sys
from typing import Any, NoReturn

import numpy as np

from ttlg import _core
from ttlg._arguments.axes import read_axis
from ttlg._arguments.dtypes import describe_dtype, element_type, is_complex
from ttlg._arguments.values import read_values
from ttlg._libraries.dlpack import Library
from ttlg._libraries.numpy import NumPy
from ttlg._typing import Axes

_NUMPY = NumPy()


def transform_memory(
    library: Library,
    x: Any,
    axes: Axes | None,
    *,
    dtype: Any = None,
    scale: Any = None,
    offset: Any = None,
    beta: Any = None,
    conj: bool = False,
    axis: int | None = None,
    saturate: bool = True,
    out: Any = None,
    out_library: Library | None = None,
    stream: Any = None,
    threads: int | None = None,
) -> Any:
    """Do what `ttlg.transform` does with the memory of `x`, an array of `library`.

    `out`, where it is given, is one of `out_library`.
    """
    source = library.view_input(x, stream)
    if not source.on_host:
        raise BufferError(
            f"x lives on {source.device}, and ttlg.transform takes arrays in host memory so far; call "
            "ttlg.transpose, and convert by the array's own library"
        )
    other = out_library or library
    target = other.view_output(out, source, stream) if out is not None else None
    from_type, swaps = type_of(x, source, "x")
    to_type = _result_type(dtype, from_type, out, target)
    given = {"scale": scale, "offset": offset, "beta": beta}
    values = read_map(source, (from_type, swaps, to_type), given, conj, axis, saturate)
    if values[0].is_identity:
        if out is None:
            return library.move_to_new(x, axes, stream, threads)
        library.move_into(x, axes, out, other, stream, threads)
        return out
    most = library.threads_for(source, threads)
    if target is None:
        call = _core.cpu_transform_for(source, axes, None, *values, most)
        return library.run_into_new(call, x, source, to_type)
    if any(step % target.itemsize for step in target.byte_strides):
        # Elements that lie at odd places are computed elsewhere.
        result = np.array(out)
        rest: dict[str, Any] = {"conj": conj, "axis": axis, "saturate": saturate}
        rest.update(scale=scale, offset=offset, beta=beta)
        transform_memory(library, x, axes, out=result, out_library=_NUMPY, **rest)
        np.copyto(np.asarray(out), result)
        return out
    call = _core.cpu_transform_for(source, axes, target, *values, most)
    other.run_into(call, out, source, target)
    return out


def read_map(
    x: _core.TensorView,
    types: tuple[str, bool, str],
    given: dict[str, Any],
    conj: bool,
    axis: int | None,
    saturate: bool,
) -> tuple[_core.ElementMap, Any, Any, Any]:
    """Return what becomes of the elements of `x`, and its scales, offsets and beta.

    `types` are that of `x`, whether its bytes are in the other order, and that of the result.
    """
    along = None if axis is None else read_axis("axis", axis, len(x.shape))
    given = {name: _constant(name, value) for name, value in given.items()}
    element_map, vary = _map_of(*types, conj, saturate, along, given)
    are_pairs = is_complex(types[0]) and is_complex(types[2])
    scales, offsets, factor = (
        read_values(name, value, element_map.computed_in, are_pairs, x.shape, along)
        for name, value in given.items()
    )
    if vary:
        scales, offsets = (_repeated(each, x.shape[along or 0]) for each in (scales, offsets))
    return element_map, scales, offsets, factor


def refuse_variable(*names: str) -> NoReturn:
    """Refuse numbers that PyTorch differentiates by or batches."""
    raise BufferError(
        f"{' or '.join(names)} is differentiated or batched by PyTorch, and ttlg.transform takes "
        f"constants there; multiply or add by PyTorch instead, or pass {names[0]}.detach()"
    )


def _constant(name: str, value: Any) -> Any:
    """Return a number or numbers, unless PyTorch is to differentiate by them."""
    if not getattr(value, "requires_grad", False):
        return value
    if sys.modules["torch"].is_grad_enabled():
        refuse_variable(name)
    return value.detach()


def type_of(x: Any, view: _core.TensorView, name: str) -> tuple[str, bool]:
    """Return what `element_type` does of an array, whose dtype takes NumPy long to name."""
    return element_type(x.dtype if x.__class__ is np.ndarray else view.dtype, name)


def _result_type(dtype: Any, from_type: str, out: Any, target: _core.TensorView | None) -> str:
    """Return the type of the result's elements."""
    wanted = None if dtype is None else element_type(describe_dtype(dtype)[0], "dtype=")
    if target is None:
        return from_type if wanted is None else wanted[0]
    given = type_of(out, target, "out")
    if given[1]:
        raise TypeError(f"out has dtype {target.dtype}; pass out in the machine's byte order")
    if wanted is not None and wanted != given:
        raise TypeError(f"out has dtype {target.dtype}, but dtype is {wanted[0]}; leave dtype out")
    return given[0]


def _map_of(
    from_type: str,
    swaps: bool,
    to_type: str,
    conj: bool,
    saturate: bool,
    axis: int | None,
    given: dict[str, Any],
) -> tuple[_core.ElementMap, bool]:
    """Return what becomes of elements, and whether that varies along `axis`."""
    computes = tuple(value is not None for value in given.values())
    vary = axis is not None and any(np.ndim(given[name]) for name in ("scale", "offset"))
    if swaps and from_type == to_type == "float16" and not any(computes):
        from_type = to_type = "int16"  # so that NaN keep their bits
    conjugates = bool(conj) and is_complex(from_type) and is_complex(to_type)
    along = axis if vary and axis is not None else -1
    flags = (swaps, conjugates, *computes, bool(saturate))
    return _element_map(from_type, to_type, flags, along), vary


@functools.lru_cache
def _element_map(
    from_type: str, to_type: str, flags: tuple[bool, ...], axis: int
) -> _core.ElementMap:
    swaps, conjugates, scales, adds, accumulates, saturates = flags
    return _core.ElementMap(
        from_type,
        to_type,
        swaps_bytes=swaps,
        conjugates=conjugates,
        scales=scales,
        adds=adds,
        accumulates=accumulates,
        saturates=saturates,
        axis=axis,
    )


def _repeated(values: tuple[Any, bool], count: int) -> tuple[Any, bool]:
    """Repeat a number for every index of an axis, where there is one alone."""
    numbers, is_complex = values
    if numbers is not None and len(numbers) < count:
        numbers = np.repeat(numbers, count, axis=0)
    return numbers, is_complex
