"""How each library, and each way of calling ttlg, does one transposition on a GPU."""

import functools
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

import ttlg
from ttlg.benchmarks.contenders import optional
from ttlg.benchmarks.gpu import baselines, inplace, libraries
from ttlg.benchmarks.gpu.device import Buffers, seconds_between
from ttlg.benchmarks.inplace.libraries import LeftOutError

COPIES = ("copy-memcpy", "copy-cupy", "copy-ttlg")
OURS = ("ttlg-plan", "ttlg", "ttlg-one", "ttlg-single")
PEERS = ("torch", "cupy", "jax", "cutensor", "cutt", "cutt-measure", "ttc")
FOREIGN = ("copy-memcpy", "copy-cupy", *PEERS)

Axes = tuple[int, ...]
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

    `returns` says that the result is what the call returns, `inplace` that it is in the input, which
    has whatever the call before has left there; otherwise it is in the output. `multiplies` says
    that elements are multiplied by 1, which keeps all numbers, but not every NaN. A sample of calls
    is timed by `clock`; with `alone` it is one call that starts on an idle device, so that the
    host's work before the launch counts. `finish` waits for a result.
    """

    name: str
    call: Callable[[int], Any]
    returns: bool = False
    inplace: bool = False
    multiplies: bool = False
    clock: Callable[[Work], float] = seconds_between
    alone: bool = False
    finish: Callable[[Any], Any] | None = None


Maker = Callable[[Buffers, Axes], Contender]


def _copy_kernel(cupy: ModuleType, buffers: Buffers) -> Callable[[int], Any]:
    """Return a copy by a kernel on the multiprocessors, in the widest words that divide it."""
    size = buffers.inputs[0].numel() * buffers.inputs[0].itemsize
    words = {"complex128": 16, "float64": 8, "uint32": 4, "uint8": 1}
    word = next(name for name, width in words.items() if size % width == 0)
    kernel = cupy.ElementwiseKernel("T x", "T y", "y = x", "ttlg_copy")

    def in_words(tensor: torch.Tensor) -> Any:
        return cupy.from_dlpack(tensor.view(-1).view(torch.uint8)).view(word)

    inputs, outputs = list(map(in_words, buffers.inputs)), list(map(in_words, buffers.outputs))
    return lambda i: kernel(inputs[i], outputs[i])


def _copy_memcpy(buffers: Buffers, axes: Axes) -> Contender:
    """Contiguous tensors of one dtype: PyTorch calls cudaMemcpyAsync."""
    x, y = [x.view(-1) for x in buffers.inputs], [y.view(-1) for y in buffers.outputs]
    return Contender("copy-memcpy", lambda i: y[i].copy_(x[i]))


def _copy_cupy(buffers: Buffers, axes: Axes) -> Contender:
    return Contender("copy-cupy", _copy_kernel(baselines.cupy(), buffers))


def _copy_ttlg(buffers: Buffers, axes: Axes) -> Contender:
    x, y = [x.view(-1) for x in buffers.inputs], [y.view(-1) for y in buffers.outputs]
    plan = ttlg.plan(x[0].shape, (0,), x[0].dtype, device="cuda", kernel="copy")
    return Contender("copy-ttlg", lambda i: plan(x[i], y[i]))


def _ttlg_plan(buffers: Buffers, axes: Axes) -> Contender:
    """Use a plan made before."""
    x, y = buffers.inputs, buffers.outputs
    plan = ttlg.plan(x[0].shape, axes, x[0].dtype, device="cuda")
    return Contender("ttlg-plan", lambda i: plan(x[i], y[i]))


def _in_bands(name: str, width: int) -> Callable[[Buffers, Axes], Contender]:
    """Return what makes Orthogonal-Distinct's plan of float32 in bands of `width` tiles."""

    def make(buffers: Buffers, axes: Axes) -> Contender:
        x, y = buffers.inputs, buffers.outputs
        kernel = "orthogonal_distinct"
        planned = ttlg.plan(x[0].shape, axes, x[0].dtype, device="cuda", kernel=kernel)
        plan = inplace.with_bands(planned, width)
        return Contender(name, lambda i: plan(x[i], y[i]))

    return make


def _ttlg(buffers: Buffers, axes: Axes) -> Contender:
    """Call ttlg as users do."""
    x = buffers.inputs
    return Contender("ttlg", lambda i: ttlg.transpose(x[i], axes), returns=True)


def _ttlg_one(buffers: Buffers, axes: Axes) -> Contender:
    """Make a single call on an idle device, which counts the host's work: TTLG's repeated use."""
    x = buffers.inputs
    return Contender("ttlg-one", lambda i: ttlg.transpose(x[i], axes), returns=True, alone=True)


def _ttlg_single(buffers: Buffers, axes: Axes) -> Contender:
    """Count the plan too: TTLG's single use (section VI)."""
    x = buffers.inputs

    def single(i: int) -> Any:
        ttlg.cache_clear()
        return ttlg.transpose(x[i], axes)

    return Contender("ttlg-single", single, returns=True, alone=True)


def _torch(buffers: Buffers, axes: Axes) -> Contender:
    """PyTorch's ``permute(axes).contiguous()``, which by itself would copy no identity."""
    x = buffers.inputs
    layout = torch.contiguous_format
    return Contender(
        "torch", lambda i: x[i].permute(*axes).clone(memory_format=layout), returns=True
    )


def _cupy(buffers: Buffers, axes: Axes) -> Contender:
    """CuPy's ``ascontiguousarray(transpose(x, axes))``, which by itself would copy no identity."""
    cupy = baselines.cupy()
    x = [cupy.from_dlpack(each) for each in buffers.inputs]
    return Contender("cupy", lambda i: cupy.array(x[i].transpose(axes), order="C"), returns=True)


def _jax(buffers: Buffers, axes: Axes) -> Contender:
    """JAX's jitted transpose, on the host's clock, as JAX has streams of its own."""
    # Leave the memory to the other libraries.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = optional("jax")
    if jax is None or jax.default_backend() != "gpu":
        raise LeftOutError("JAX is not installed, or finds no GPU")
    if list(axes) == sorted(axes):
        raise LeftOutError("JAX compiles the identity to nothing")
    jax.config.update("jax_enable_x64", True)
    x = [jax.dlpack.from_dlpack(each) for each in buffers.inputs]
    jitted = jax.jit(lambda a: jax.numpy.transpose(a, axes))
    return Contender(
        "jax",
        lambda i: jitted(x[i]),
        returns=True,
        clock=_wall_seconds,
        finish=jax.block_until_ready,
    )


def _inplace(name: str) -> Maker:
    """Return what makes a contender that works where the input lies, with a plan made before."""

    def make(buffers: Buffers, axes: Axes) -> Contender:
        plan = inplace.planned(buffers, axes, name)
        if plan is None:
            raise LeftOutError("it cannot carry this permutation out")
        x = buffers.inputs
        return Contender(name, lambda i: plan(x[i]), inplace=True)

    return make


def _from_address_to_address(
    name: str, permute: Callable[[int, int], None], buffers: Buffers, **more: Any
) -> Contender:
    x, y = ([each.data_ptr() for each in every] for every in (buffers.inputs, buffers.outputs))
    return Contender(name, lambda i: permute(x[i], y[i]), **more)


def _naive(buffers: Buffers, axes: Axes) -> Contender:
    x = buffers.inputs[0]
    return _from_address_to_address("naive", baselines.naive(x.shape, axes, x.itemsize), buffers)


def _matrix_baseline(name: str, make: Callable[[int, int, int], Callable[[int], None]]) -> Maker:
    """Return what makes a contender that transposes matrices in place."""

    def make_contender(buffers: Buffers, axes: Axes) -> Contender:
        x = buffers.inputs
        if tuple(axes) != (1, 0):
            raise LeftOutError("it transposes matrices only")
        transpose = make(*x[0].shape, x[0].itemsize)
        return Contender(name, lambda i: transpose(x[i].data_ptr()), inplace=True)

    return make_contender


def _library(
    name: str, plan: Callable[[torch.Tensor, Axes], libraries.Permute], **more: Any
) -> Maker:
    """Return what makes a contender of a library that is called with addresses."""

    def make(buffers: Buffers, axes: Axes) -> Contender:
        permute = plan(buffers.inputs[0], axes)
        return _from_address_to_address(name, permute, buffers, **more)

    return make


# Each is made when its turn comes, so that one that cannot be made does not stop the others.
_MAKERS: dict[str, Maker] = {
    "copy-memcpy": _copy_memcpy,
    "copy-cupy": _copy_cupy,
    "copy-ttlg": _copy_ttlg,
    "ttlg-plan": _ttlg_plan,
    "nvi": _in_bands("nvi", 0),
    "oopb": _in_bands("oopb", 8),
    "ttlg": _ttlg,
    "ttlg-one": _ttlg_one,
    "ttlg-single": _ttlg_single,
    "torch": _torch,
    "cupy": _cupy,
    "jax": _jax,
    "cutensor": _library("cutensor", libraries.cutensor, multiplies=True),
    "cutt": _library("cutt", libraries.cutt),
    "cutt-measure": _library("cutt-measure", functools.partial(libraries.cutt, measured=True)),
    "ttc": _library("ttc", libraries.ttc, multiplies=True, clock=_wall_seconds),
    "naive": _naive,
    "algorithm-1": _matrix_baseline("algorithm-1", baselines.algorithm_1),
    "cycles": _matrix_baseline("cycles", baselines.cycles),
    **{name: _inplace(name) for name in inplace.NAMES},
}


def contender(name: str, buffers: Buffers, axes: Axes) -> Contender:
    """Make the contender of a name; LeftOutError says why where it takes no part."""
    return _MAKERS[name](buffers, axes)
