"""Elements that are converted, scaled and added to while they move, in arrays that have memory."""

import functools
import sys
from typing import Any, NoReturn

import numpy as np

from ttlg import _core
from ttlg._arguments.axes import read_axis
from ttlg._arguments.dtypes import element_type, is_complex, named_type
from ttlg._arguments.values import read_values, repeated
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
    given = (scale, offset, beta)
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
    given: tuple[Any, Any, Any],
    conj: bool,
    axis: int | None,
    saturate: bool,
) -> tuple[_core.ElementMap, Any, Any, Any]:
    """Return what becomes of the elements of `x`, and its scales, offsets and beta.

    `types` are that of `x`, whether its bytes are in the other order, and that of the result.
    """
    along = None if axis is None else read_axis("axis", axis, len(x.shape))
    scale, offset, beta = given
    if any(value.__class__ not in _PLAIN for value in given):
        scale, offset = _constant("scale", scale), _constant("offset", offset)
    vary = along is not None and (np.ndim(scale) > 0 or np.ndim(offset) > 0)
    computes = scale is not None, offset is not None, beta is not None
    flags = (bool(conj), *computes, bool(saturate))
    element_map = _map_of(types, flags, -1 if along is None or not vary else along)
    are_pairs = is_complex(types[0]) and is_complex(types[2])
    kind = (element_map.computed_in, are_pairs, x.shape, along)
    scales, offsets = read_values("scale", scale, *kind), read_values("offset", offset, *kind)
    if along is not None and vary:
        scales, offsets = (repeated(each, x.shape[along]) for each in (scales, offsets))
    return element_map, scales, offsets, read_values("beta", beta, *kind)


# What PyTorch does not differentiate by.
_PLAIN = frozenset([type(None), float, int, np.ndarray])


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
    wanted = None if dtype is None else named_type(dtype)
    if target is None:
        return from_type if wanted is None else wanted[0]
    given = type_of(out, target, "out")
    if given[1]:
        raise TypeError(f"out has dtype {target.dtype}; pass out in the machine's byte order")
    if wanted is not None and wanted != given:
        raise TypeError(f"out has dtype {target.dtype}, but dtype is {wanted[0]}; leave dtype out")
    return given[0]


@functools.lru_cache
def _map_of(
    types: tuple[str, bool, str], flags: tuple[bool, bool, bool, bool, bool], axis: int
) -> _core.ElementMap:
    """Return what becomes of elements, whose values vary along `axis` unless that is -1."""
    from_type, swaps, to_type = types
    conjugates, scales, adds, accumulates, saturates = flags
    computes = scales or adds or accumulates
    if swaps and from_type == to_type == "float16" and not computes:
        from_type = to_type = "int16"  # so that NaN keep their bits
    return _core.ElementMap(
        from_type,
        to_type,
        swaps_bytes=swaps,
        conjugates=conjugates and is_complex(from_type) and is_complex(to_type),
        scales=scales,
        adds=adds,
        accumulates=accumulates,
        saturates=saturates,
        axis=axis,
    )
