"""How each library, and each way of calling ttlg, does one transposition on a GPU."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

import ttlg
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.contenders import optional
from ttlg.benchmarks.gpu.device import Buffers, seconds_between

COPIES = ("copy-memcpy", "copy-cupy", "copy-ttlg")
OURS = ("ttlg-plan", "ttlg", "ttlg-one", "ttlg-single")
PEERS = ("torch", "cupy", "jax")

Work = Callable[[], Any]


def _wall_seconds(work: Work) -> float:
    """Time on the host's clock what runs on streams of its own and is waited for by `work`."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@dataclass(frozen=True)
class Contender:
    """A name and a call that does the whole work on the buffers of a number.

    `returns` says that the result is what the call returns; otherwise it is in the output. A sample
    of calls is timed by `clock`; with `alone` it is one call that starts on an idle device, so that
    the host's work before the launch counts. `finish` waits for a result.
    """

    name: str
    call: Callable[[int], Any]
    returns: bool = False
    clock: Callable[[Work], float] = seconds_between
    alone: bool = False
    finish: Callable[[Any], Any] | None = None


def _copy_kernel(cupy: ModuleType, buffers: Buffers) -> Callable[[int], Any]:
    """Return a copy by a kernel on the multiprocessors, in the widest words that divide it."""
    size = buffers.inputs[0].numel() * buffers.inputs[0].itemsize
    word = next(name for name in ("complex128", "float64", "uint32", "uint8") if _fits(size, name))
    kernel = cupy.ElementwiseKernel("T x", "T y", "y = x", "ttlg_copy")

    def words(tensor: torch.Tensor) -> Any:
        return cupy.from_dlpack(tensor.view(-1).view(torch.uint8)).view(word)

    inputs, outputs = [words(x) for x in buffers.inputs], [words(y) for y in buffers.outputs]
    return lambda i: kernel(inputs[i], outputs[i])


def _fits(size: int, dtype: str) -> bool:
    return size % {"complex128": 16, "float64": 8, "uint32": 4, "uint8": 1}[dtype] == 0


def copies(buffers: Buffers) -> Iterator[Contender]:
    """Copy the bytes of the input in memory order, in the ways that may be the fastest."""
    inputs = [x.view(-1) for x in buffers.inputs]
    outputs = [y.view(-1) for y in buffers.outputs]
    # Contiguous tensors of one dtype: PyTorch calls cudaMemcpyAsync.
    yield Contender("copy-memcpy", lambda i: outputs[i].copy_(inputs[i]))
    cupy = optional("cupy")
    if cupy is not None:
        yield Contender("copy-cupy", _copy_kernel(cupy, buffers))
    plan = ttlg.plan(inputs[0].shape, (0,), inputs[0].dtype, device="cuda", kernel="copy")
    yield Contender("copy-ttlg", lambda i: plan(inputs[i], outputs[i]))


def ours(buffers: Buffers, axes: tuple[int, ...]) -> Iterator[Contender]:
    """ttlg: with a plan made before, as users call it, and one call alone, its plan cached or not.

    ``ttlg-one`` and ``ttlg-single`` are TTLG's repeated and single use (section VI) of one call:
    both count the host's work, the second the plan too.
    """
    x, y = buffers.inputs, buffers.outputs
    plan = ttlg.plan(x[0].shape, axes, x[0].dtype, device="cuda")

    def single(i: int) -> Any:
        ttlg.cache_clear()
        return ttlg.transpose(x[i], axes)

    yield Contender("ttlg-plan", lambda i: plan(x[i], y[i]))
    yield Contender("ttlg", lambda i: ttlg.transpose(x[i], axes), returns=True)
    yield Contender("ttlg-one", lambda i: ttlg.transpose(x[i], axes), returns=True, alone=True)
    yield Contender("ttlg-single", single, returns=True, alone=True)


def _torch(buffers: Buffers, axes: tuple[int, ...]) -> Contender:
    """PyTorch's ``permute(axes).contiguous()``, which by itself would copy no identity."""
    x = buffers.inputs
    layout = torch.contiguous_format
    return Contender("torch", lambda i: x[i].permute(*axes).clone(memory_format=layout), True)


def _cupy(buffers: Buffers, axes: tuple[int, ...]) -> Contender | None:
    """CuPy's ``ascontiguousarray(transpose(x, axes))``, which by itself would copy no identity."""
    cupy = optional("cupy")
    if cupy is None:
        return None
    x = [cupy.from_dlpack(each) for each in buffers.inputs]
    return Contender("cupy", lambda i: cupy.array(x[i].transpose(axes), order="C"), True)


def _jax(buffers: Buffers, axes: tuple[int, ...]) -> Contender | None:
    """JAX's jitted transpose, on the host's clock, as JAX has streams of its own."""
    # Leave the memory to the other libraries.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = optional("jax")
    # Compiled, the identity gives back its argument.
    if jax is None or jax.default_backend() != "gpu" or list(axes) == sorted(axes):
        return None
    jax.config.update("jax_enable_x64", True)
    x = [jax.dlpack.from_dlpack(each) for each in buffers.inputs]
    jitted = jax.jit(lambda a: jax.numpy.transpose(a, axes))
    return Contender(
        "jax", lambda i: jitted(x[i]), True, _wall_seconds, finish=jax.block_until_ready
    )


def contenders(case: Case, buffers: Buffers) -> list[Contender]:
    """List everything that takes part in a case: copies, ttlg, and the peers that are installed."""
    peers = (ask(buffers, case.axes) for ask in (_torch, _cupy, _jax))
    return [
        *copies(buffers),
        *ours(buffers, case.axes),
        *(peer for peer in peers if peer is not None),
    ]
