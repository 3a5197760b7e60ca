"""Arrays that claim to be on a CUDA device, and libraries of them, for machines without one.

The libraries make arrays of float32 for any dtype. What they hold is host
memory, so a launch fails on every machine: there is no driver, or the pointer is refused.
"""

import contextlib
import sys
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import ClassVar

import numpy as np

from ttlg import _core, _libraries, _models

from .producer import CUDA, Producer

MODEL = _core.DeviceModel(name="imaginary")


@dataclass(eq=False)
class OnCuda(Producer):
    """A producer on a device, which notes the streams that it was asked to export for."""

    device: tuple[int, int] = (CUDA, 0)
    asked: list = field(default_factory=list)
    kept: ClassVar[list] = []  # an array must not go before what borrows from it

    def __post_init__(self):
        self.kept.append(self)

    def __dlpack__(self, *, stream=None, max_version=None):
        self.asked.append(stream)
        return self.capsule()


class Tensor(OnCuda):
    """What ttlg asks of a tensor of PyTorch."""

    layout = "strided"
    requires_grad = False
    is_cuda = True
    recorded = ()

    def is_conj(self):
        return False

    is_neg = is_conj

    def new_empty(self, *shape):
        extents = shape[0] if isinstance(shape[0], tuple) else shape
        return type(self)(np.zeros(extents, "f4"), device=self.device)

    def record_stream(self, stream):
        self.recorded += (stream.cuda_stream,)


@dataclass
class Stream:
    """A stream of PyTorch, which notes what it waits for."""

    cuda_stream: int
    device: object = None
    waited: list = field(default_factory=list)

    def wait_stream(self, other):
        self.waited.append(other.cuda_stream)


def install_torch(monkeypatch, current):
    """Install and return a PyTorch whose current stream has the handle `current`."""
    streams, contexts = [], []

    def context(device):
        contexts.append(device)
        return contextlib.nullcontext()

    def external(handle, device):
        assert handle % 2 == 0, "PyTorch refuses the handles that stand for default streams"
        streams.append(Stream(handle, device))
        return streams[-1]

    def default(device):
        streams.append(Stream(0, device))
        return streams[-1]

    library = SimpleNamespace(
        Tensor=Tensor,
        strided="strided",
        get_num_threads=lambda: 1,
        compiler=SimpleNamespace(is_dynamo_compiling=lambda: False),
        autograd=SimpleNamespace(graph=SimpleNamespace(increment_version=lambda tensor: None)),
        cuda=SimpleNamespace(
            current_stream=lambda device: Stream(current, device),
            default_stream=default,
            ExternalStream=external,
            device=context,
        ),
        streams=streams,
        contexts=contexts,
    )
    monkeypatch.setitem(sys.modules, "torch", library)
    hooks = (
        ("requires_grad",),
        ("is_neg",),
        ("is_conj",),
        (),
        "new_empty",
        library.get_num_threads,
        library.autograd.graph.increment_version,
        _models.model_of,
    )
    state = SimpleNamespace(is_plain=lambda x: True, HOOKS=hooks)
    monkeypatch.setitem(sys.modules, "ttlg._libraries.torch_state", state)
    monkeypatch.setattr(_libraries._TORCH, "_hooks", ())
    return library


class CupyArray(OnCuda):
    """What ttlg asks of an array of CuPy."""

    def __post_init__(self):
        super().__post_init__()
        self.device = Device(self.device)


class Device(tuple):
    """A device that is DLPack's pair and CuPy's context."""

    __slots__ = ()

    @property
    def id(self):
        return self[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def cupy(current):
    """Return a CuPy whose current stream has the handle `current`."""
    library = SimpleNamespace(ndarray=CupyArray, current=current, allocated=[])

    @contextlib.contextmanager
    def external(handle, _device):
        before, library.current = library.current, handle
        yield
        library.current = before

    def empty(shape, dtype):
        library.allocated.append((CupyArray(np.zeros(shape, "f4")), library.current))
        return library.allocated[-1][0]

    library.empty = empty
    library.cuda = SimpleNamespace(
        get_current_stream=lambda _device: SimpleNamespace(ptr=library.current),
        ExternalStream=external,
    )
    return library


class JaxArray(OnCuda):
    """What ttlg asks of an array of JAX, which notes whether it was waited for."""

    waited = False

    def is_deleted(self):
        return False

    def block_until_ready(self):
        self.waited = True
        return self


def jax():
    """Return a JAX whose new arrays are kept in ``allocated``."""
    library = SimpleNamespace(Array=JaxArray, allocated=[], __version_info__=(0, 7, 2))

    def empty(shape, dtype, device):
        library.allocated.append(JaxArray(np.zeros(shape, "f4"), device=device, flags=1))
        return library.allocated[-1]

    library.numpy = SimpleNamespace(empty=empty)
    library.enable_x64 = lambda _on: contextlib.nullcontext()
    return library
