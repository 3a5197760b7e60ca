"""PyTorch's tensors as memory: bits that a copy cannot carry, and streams that pools must know."""

import sys
from typing import Any, NoReturn

from ttlg import _core
from ttlg._libraries.advice import OUTPUTS
from ttlg._libraries.dlpack import DEFAULT_STREAM, Library, handle_of


def refuse(name: str, what: str, method: str) -> NoReturn:
    """Refuse a tensor that another one, which `method` of it gives, may stand for."""
    hint = f"another {name}, such as a fresh tensor" if name in OUTPUTS else f"{name}{method}"
    raise BufferError(f"{name} {what}; pass {hint}")


def _refuse_layout(name: str, layout: Any) -> NoReturn:
    """Refuse a tensor whose elements do not lie at strides."""
    what = f"has the layout {layout}, not torch.strided"
    if name not in OUTPUTS and str(layout).startswith("torch.sparse_"):
        call = f"ttlg.sparse.transpose({name}, axes)"
        raise BufferError(f"{name} {what}; call {call}, or pass {name}.to_dense()")
    refuse(name, what, ".to_dense()")


def _backwards(x: Any) -> Any:
    return x.permute(tuple(range(x.ndim))[::-1])


class TorchMemory(Library):
    """PyTorch's tensors that have memory, without regard to autograd and tracing."""

    array_class = ("torch", "Tensor")

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
        if x.is_conj():
            refuse(name, "has its conjugate bit set", ".resolve_conj()")
        if x.is_neg():
            refuse(name, "has its negative bit set", ".resolve_neg()")
        if x.requires_grad:  # but no graph is recorded now: see Torch.view
            x = x.detach()
        # PyTorch's own attribute: its export on a CUDA device depends on the stream.
        return self._view_on_cuda(x, name, stream) if x.is_cuda else _core.view(x, name)

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
        # PyTorch's export in Python refuses tensors of a device that is not the current one.
        with torch.cuda.device(x.device):
            return _core.view_on_stream(x, name, handle, ordered=True)

    def empty(self, x: Any, source: _core.TensorView, shape: tuple[int, ...]) -> Any:
        """Allocate a tensor on the device of `x`."""
        return x.new_empty(shape)

    def workspace(self, x: Any, source: _core.TensorView, size: int) -> _core.TensorView:
        """Allocate bytes of the caching allocator."""
        buffer = x.new_empty(size, dtype=sys.modules["torch"].uint8)
        return self.view(buffer, "the workspace", source.stream)

    def has_order(self, x: Any, order: str) -> bool:
        """Ask `x`, which need not have memory."""
        if x.layout is not sys.modules["torch"].strided:
            return False  # and refused when it is looked at
        return bool((x if order == "C" else _backwards(x)).is_contiguous())

    def broadcast(self, x: Any, shape: tuple[int, ...]) -> Any:
        """View `x` in another shape."""
        return x.expand(shape)

    def stack(self, arrays: list[Any]) -> Any:
        """Stack tensors."""
        return sys.modules["torch"].stack(arrays)

    def reshaped(self, x: Any, shape: tuple[int, ...], fortran: bool) -> Any:
        """View the memory of `x`."""
        straight = x if x.is_contiguous() else _backwards(x)
        return _backwards(straight.view(shape[::-1])) if fortran else straight.view(shape)

    def written(self, out: Any) -> None:
        """Count the write, so that autograd notices that a value it had kept is gone."""
        sys.modules["torch"].autograd.graph.increment_version(out)
