"""PyTorch: which tensors are memory alone, and which go through a registered operator."""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from ttlg import _core
from ttlg._libraries.advice import OUTPUTS, refuse_tensor
from ttlg._libraries.dlpack import DEFAULT_STREAM, Library, handle_of
from ttlg._typing import Axes


def _refuse_layout(name: str, layout: Any) -> NoReturn:
    """Refuse a tensor whose elements do not lie at strides."""
    what = f"has the layout {layout}, not torch.strided"
    if name not in OUTPUTS and str(layout).startswith("torch.sparse_"):
        call = f"ttlg.sparse.transpose({name}, axes)"
        raise BufferError(f"{name} {what}; call {call}, or pass {name}.to_dense()")
    refuse_tensor(name, what, ".to_dense()")


def refuse_lazy_output(out: Any, name: str) -> None:
    """Refuse to write through a conjugate or negative bit."""
    if out.is_conj() or out.is_neg():
        bit = "conjugate" if out.is_conj() else "negative"
        raise BufferError(
            f"{name} has its {bit} bit set, and elements are written as they are; pass a fresh "
            f"tensor instead, and copy that to {name} with {name}.copy_(...)"
        )


def _without_lazy_bits(x: Any) -> Any:
    """View the memory of `x` as it is, whatever its conjugate and negative bits are."""
    if not (x.is_conj() or x.is_neg()):
        return x
    layout = x.storage_offset(), x.shape, x.stride()
    return x.new_empty(0).set_(x.untyped_storage(), *layout)


def _refuse_dtype(x: Any, name: str) -> None:
    """Refuse dtypes that DLPack does not know, with what to pass instead."""
    if x.is_quantized:
        raise TypeError(
            f"{name} is quantized (dtype {x.dtype}), and a copy of its elements would lose their "
            f"scale; pass {name}.int_repr(), or call PyTorch's {name}.permute(axes).contiguous()"
        )
    if str(x.dtype).startswith("torch.bits"):
        word = f"torch.uint{8 * x.dtype.itemsize}"
        raise TypeError(
            f"{name} has dtype {x.dtype}, which DLPack cannot describe; pass {name}.view({word}), "
            f"and view the result as {x.dtype} again"
        )


def _backwards(x: Any) -> Any:
    return x.permute(tuple(range(x.ndim))[::-1])


class Torch(Library):
    """PyTorch's tensors, and their stand-ins with ``__torch_function__``.

    `find_operators`: imports the module of the operators by which PyTorch knows of what happens to a
    tensor; None for these operators themselves.
    """

    array_class = ("torch", "Tensor")

    def __init__(self, find_operators: Callable[[], ModuleType] | None = None) -> None:
        self._find_operators = find_operators
        self._hooks: tuple[Any, ...] = ()

    def move_to_new(self, x: Any, axes: Axes | None, stream: Any, threads: int | None) -> Any:
        """Transpose `x` into a new tensor, by an operator where PyTorch has to know of it."""
        if stream is None and not sys.modules["torch"].compiler.is_dynamo_compiling():
            hooks = self._hooks or self._find_hooks()
            moved = _core.transpose_tensor(x, axes, None, threads, hooks)
            if moved is not None:
                return moved
        if not self._is_memory(x):
            return self._operators(stream).transpose(x, axes, threads)
        return super().move_to_new(x, axes, stream, threads)

    def move_into(
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
        if stream is None and not sys.modules["torch"].compiler.is_dynamo_compiling():
            hooks = self._hooks or self._find_hooks()
            if _core.transpose_tensor(x, axes, out, threads, hooks) is not None:
                return
        if self._is_memory(x):
            super().move_into(x, axes, out, out_library, stream, threads, names)
            return
        if not (_is_compiling() or _state().is_traced(x)):
            _state().refuse_special(x, names[0])
        self._operators(stream, names[0]).transpose_into(x, axes, out, threads, names)

    def inplace_operator(self, stream: Any) -> Any:
        """Return the operator under `torch.compile`."""
        return self._operators(stream).transpose_inplace if _is_compiling() else None

    def transform_operator(self, x: Any, stream: Any) -> Callable[..., Any] | None:
        """Return the operator where PyTorch has to know what happens to `x`."""
        if self._is_memory(x):
            return None
        operator: Callable[..., Any] = self._operators(stream).transform
        return operator

    def _operators(self, stream: Any, name: str = "x") -> Any:
        """Return the module of operators, which work on PyTorch's own stream."""
        if stream is not None:
            raise ValueError(
                "stream= is for tensors that PyTorch neither differentiates nor traces; make the "
                "stream the current one with torch.cuda.stream(...)"
            )
        assert self._find_operators  # whose own tensors are memory
        try:
            return self._find_operators()
        except ImportError as error:
            raise BufferError(
                f"{name} is differentiated, traced or a subclass of torch.Tensor, for which ttlg needs "
                f"PyTorch 2.5 or newer ({error}); pass {name}.detach(), outside of tracing"
            ) from error

    def _is_memory(self, x: Any) -> bool:
        """Whether PyTorch need not know what happens to `x`."""
        return self._find_operators is None or (not _is_compiling() and _state().is_plain(x))

    def _find_hooks(self) -> tuple[Any, ...]:
        """Find, at the first call, what PyTorch's functions for compiled callers need to ask."""
        state = _state()
        self._hooks = state.HOOKS if self._find_operators else state.HOOKS_BELOW_DISPATCHER
        return self._hooks

    def _refuse_unless_plain(self, x: Any, name: str) -> None:
        state = _state()
        if self._find_operators is not None and not state.is_plain(x):
            state.refuse_special(x, name)

    def threads_for(self, x: _core.TensorView, threads: int | None) -> int | None:
        """Return PyTorch's own number, unless one was given, or chosen for ttlg."""
        if threads is not None or not x.on_host or _core.chosen_threads():
            return super().threads_for(x, threads)
        number: int = sys.modules["torch"].get_num_threads()
        return min(number, _core.MAX_THREADS)

    def current_stream(self, x: Any) -> int:
        """Return the handle of the current stream of the device of `x`."""
        return handle_of(sys.modules["torch"].cuda.current_stream(x.device))

    def view(self, x: Any, name: str, stream: Any = None) -> _core.TensorView:
        """Look at `x`, unless its elements are more than their bits."""
        if x.layout is not sys.modules["torch"].strided:
            _refuse_layout(name, x.layout)
        if x.requires_grad:  # but no graph is recorded now: see view_input
            x = x.detach()
        try:
            # PyTorch's own attribute: its export on a CUDA device depends on the stream.
            return self._view_on_cuda(x, name, stream) if x.is_cuda else _core.view(x, name)
        except BufferError:
            _refuse_dtype(x, name)
            raise

    def view_input(self, x: Any, stream: Any, name: str = "x") -> _core.TensorView:
        """Look at the values of `x`, in a copy if a lazy bit says that they are not its memory."""
        self._refuse_unless_plain(x, name)
        if x.is_conj() or x.is_neg():
            x = x.resolve_conj().resolve_neg()
        return super().view_input(x, stream, name)

    def view_output(
        self, out: Any, x: _core.TensorView, stream: Any, name: str = "out"
    ) -> _core.TensorView:
        """Look at `out`, unless what is written there would be read as something else."""
        self._refuse_unless_plain(out, name)
        refuse_lazy_output(out, name)
        return super().view_output(out, x, stream, name)

    def view_inplace(self, x: Any, stream: Any = None) -> _core.TensorView:
        """Look at the memory of `x`, whose lazy bits stay: elements change their places alone."""
        self._refuse_unless_plain(x, "x")
        return super().view_inplace(_without_lazy_bits(x), stream)

    def _view_on_cuda(self, x: Any, name: str, stream: Any) -> _core.TensorView:
        """Look at a CUDA tensor, which PyTorch's export orders on streams of one device only."""
        torch = sys.modules["torch"]
        own = self.current_stream(x)
        handle = own if stream is None else handle_of(stream)
        if handle != own:
            # PyTorch takes no handle that stands for the default stream.
            other = (
                torch.cuda.default_stream(x.device)
                if handle == DEFAULT_STREAM
                else torch.cuda.ExternalStream(handle, device=x.device)
            )
            other.wait_stream(torch.cuda.current_stream(x.device))
            # So that the allocator does not reuse the memory before the other stream is done.
            x.record_stream(other)
        if "__dlpack_c_exchange_api__" in vars(type(x)):
            return _core.view_on_stream(x, name, handle, ordered=True)
        # PyTorch's export in Python refuses tensors of a device that is not the current one.
        with torch.cuda.device(x.device):
            return _core.view_on_stream(x, name, handle, ordered=True)

    def empty(
        self, x: Any, source: _core.TensorView, shape: tuple[int, ...], dtype: str | None = None
    ) -> Any:
        """Allocate a tensor on the device of `x`."""
        if dtype is None:
            return x.new_empty(shape)
        return x.new_empty(shape, dtype=getattr(sys.modules["torch"], dtype))

    def workspace(self, x: Any, source: _core.TensorView, size: int) -> _core.TensorView:
        """Allocate bytes of the caching allocator."""
        buffer = x.new_empty(size, dtype=sys.modules["torch"].uint8)
        return self.view(buffer, "the workspace", source.stream)

    def has_order(self, x: Any, order: str) -> bool:
        """Ask `x`, which need not have memory."""
        if x.layout is not sys.modules["torch"].strided or x.is_quantized:
            return False  # and refused when it is looked at
        return bool((x if order == "C" else _backwards(x)).is_contiguous())

    def broadcast(self, x: Any, shape: tuple[int, ...]) -> Any:
        """View `x` in another shape."""
        return x.expand(shape)

    def flip(self, x: Any, axes: list[int]) -> Any:
        """Copy `x`: tensors have no negative strides."""
        return x.flip(axes)

    def permute(self, x: Any, axes: tuple[int, ...]) -> Any:
        """View `x`."""
        return x.permute(axes)

    def stack(self, arrays: list[Any]) -> Any:
        """Stack tensors."""
        return sys.modules["torch"].stack(arrays)

    def reshaped(self, x: Any, shape: tuple[int, ...], fortran: bool) -> Any:
        """View the memory of `x`."""
        straight = x if x.is_contiguous() else _backwards(x)
        return _backwards(straight.view(shape[::-1])) if fortran else straight.view(shape)

    def viewed(self, x: Any, dtype: str) -> Any:
        """View `x`."""
        return x.view(getattr(sys.modules["torch"], dtype))

    def after_write(self, out: Any) -> None:
        """Count the write, so that autograd notices that a value it had kept is gone."""
        sys.modules["torch"].autograd.graph.increment_version(out)


def _state() -> Any:
    """Return the module that asks PyTorch about tensors, imported when the first one comes."""
    module = sys.modules.get("ttlg._libraries.torch_state")
    if module is None:
        from ttlg._libraries import torch_state as module
    return module


def _is_compiling() -> bool:
    """Whether `torch.compile` traces this very code."""
    compiling: bool = sys.modules["torch"].compiler.is_dynamo_compiling()
    return compiling
