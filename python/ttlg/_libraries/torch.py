"""PyTorch: which tensors are memory alone, and which go through a registered operator."""

import sys
from typing import Any

from ttlg import _core
from ttlg._libraries.dlpack import Library
from ttlg._libraries.torch_memory import TorchMemory
from ttlg._typing import Axes

_MEMORY = TorchMemory()


def _state() -> Any:
    """Return the module that asks PyTorch about tensors, imported when the first one comes."""
    module = sys.modules.get("ttlg._libraries.torch_state")
    if module is None:
        from ttlg._libraries import torch_state as module
    return module


class Torch(TorchMemory):
    """PyTorch's tensors, and their stand-ins with ``__torch_function__``."""

    def view_input(self, x: Any, stream: Any, name: str = "x") -> _core.TensorView:
        """Look at the values of `x`, unless PyTorch has to know what happens to it."""
        _refuse_unless_plain(x, name)
        return _MEMORY.view_input(x, stream, name)

    def view_output(
        self, out: Any, x: _core.TensorView, stream: Any, name: str = "out"
    ) -> _core.TensorView:
        """Look at `out`, unless PyTorch has to know what happens to it."""
        _refuse_unless_plain(out, name)
        return _MEMORY.view_output(out, x, stream, name)

    def view_inplace(self, x: Any, stream: Any = None) -> _core.TensorView:
        """Look at the memory of `x`, unless PyTorch has to know what happens to it."""
        _refuse_unless_plain(x, "x")
        return _MEMORY.view_inplace(x, stream)

    def transpose(self, x: Any, axes: Axes | None, stream: Any, threads: int | None) -> Any:
        """Transpose `x` into a new tensor, by an operator where PyTorch has to know of it."""
        if not _is_compiling() and _state().is_plain(x):
            return _MEMORY.transpose(x, axes, stream, threads)
        return _operator(stream).transpose(x, axes, threads)

    def transpose_into(
        self,
        x: Any,
        axes: Axes | None,
        out: Any,
        out_library: Library,
        stream: Any,
        threads: int | None,
        names: tuple[str, str] = ("x", "out"),
    ) -> None:
        """Transpose `x` into `out`, by an operator where PyTorch traces."""
        if not _is_compiling():
            state = _state()
            if state.is_plain(x):
                return _MEMORY.transpose_into(x, axes, out, out_library, stream, threads, names)
            if not state.is_traced(x):
                state.refuse_special(x, names[0])
        _operator(stream, names[0]).transpose_into(x, axes, out, threads, names)

    def inplace_operator(self, stream: Any) -> Any:
        """Return the operator under `torch.compile`."""
        return _operator(stream).transpose_inplace if _is_compiling() else None


def _refuse_unless_plain(x: Any, name: str) -> None:
    state = _state()
    if not state.is_plain(x):
        state.refuse_special(x, name)


def _is_compiling() -> bool:
    """Whether `torch.compile` traces this very code."""
    compiling: bool = sys.modules["torch"].compiler.is_dynamo_compiling()
    return compiling


def _operator(stream: Any, name: str = "x") -> Any:
    """Return the module of operators, which work on PyTorch's own stream."""
    if stream is not None:
        raise ValueError(
            "stream= is for tensors that PyTorch neither differentiates nor traces; make the "
            "stream the current one with torch.cuda.stream(...)"
        )
    try:
        from ttlg._libraries import torch_operator
    except ImportError as error:
        raise BufferError(
            f"{name} is differentiated, traced or a subclass of torch.Tensor, for which ttlg needs "
            f"PyTorch 2.5 or newer ({error}); pass {name}.detach(), outside of tracing"
        ) from error
    return torch_operator
