"""JAX: which arrays have memory, and which are traced and go through a primitive."""

import sys
from collections.abc import Callable
from typing import Any

from ttlg import _core
from ttlg._libraries.dlpack import known_extents
from ttlg._libraries.jax_memory import JaxMemory
from ttlg._typing import Axes

# The first version that has what the operator is made of.
_OPERATOR_SINCE = (0, 8)


def _is_traced(x: Any) -> bool:
    return isinstance(x, getattr(sys.modules.get("jax.core"), "Tracer", ()))


def _operator() -> Any:
    """Return the module of the primitive, imported when the first array comes; None for old JAX."""
    if sys.modules["jax"].__version_info__ < _OPERATOR_SINCE:
        return None
    module = sys.modules.get("ttlg._libraries.jax_operator")
    if module is None:
        from ttlg._libraries import jax_operator as module
    return module


def _old_jax(instead: str) -> str:
    return (
        f"x is being traced by JAX {sys.modules['jax'].__version__}, and ttlg needs JAX 0.8 or "
        f"newer for that; update JAX, or use {instead} here"
    )


def _refuse_stream(stream: Any) -> None:
    if stream is not None:
        raise ValueError(
            "x is being traced by JAX, which has streams of its own: leave stream= out"
        )


def _transpose_traced(x: Any, axes: Axes | None, threads: int | None) -> Any:
    """Add the transposition to the program that JAX is tracing."""
    jax_operator = _operator()
    if jax_operator is None:
        raise TypeError(_old_jax("jax.numpy.transpose"))
    order = _core.normalize_axes(axes, known_extents(x.shape))
    most = None if threads is None else _core.resolve_threads(threads)
    return jax_operator.transpose(x, order, most)


class Jax(JaxMemory):
    """JAX's arrays, traced ones included."""

    def move_to_new(self, x: Any, axes: Axes | None, stream: Any, threads: int | None) -> Any:
        """Move `x` now or, where JAX is tracing it, as an operation of the traced program."""
        if not _is_traced(x):
            jax_operator = _operator() if stream is None else None
            if jax_operator is not None:
                return jax_operator.transpose_array(x, axes, threads)
            return super().move_to_new(x, axes, stream, threads)
        _refuse_stream(stream)
        return _transpose_traced(x, axes, threads)

    def transform_operator(self, x: Any, stream: Any) -> Callable[..., Any] | None:
        """Return what adds the conversion to the program, where JAX is tracing `x`."""
        if not _is_traced(x):
            return None
        _refuse_stream(stream)
        if _operator() is None:
            raise TypeError(_old_jax("jax.numpy"))
        from ttlg._libraries.jax_transform import transform_traced

        return transform_traced

    def view_inplace(self, x: Any, stream: Any = None) -> _core.TensorView:
        """Refuse: nothing that JAX or a program made by it still needs may change."""
        raise TypeError(
            "arrays of JAX never change; call ttlg.transpose(x, axes), which returns a new array"
        )

    def view(self, x: Any, name: str, stream: Any = None) -> _core.TensorView:
        """Wait until `x` is ready and look at it, unless it has no memory."""
        if _is_traced(x):
            raise TypeError(
                f"{name} is being traced by JAX and has no memory yet; call ttlg.transpose(x, "
                "axes) or ttlg.transform(x, axes), without out= and without a plan, or do this "
                "outside of jax.jit"
            )
        return super().view(x, name, stream)
