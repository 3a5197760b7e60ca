"""How each library, and each way of calling ttlg, does one transposition."""

import importlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

import ttlg
from ttlg.benchmarks.plans import changed

Axes = tuple[int, ...]
Array = np.ndarray[Any, Any]

COPIES = ("copy-numpy", "copy-plain", "copy-streaming")
OURS = ("ttlg-plan", "ttlg", "ttlg-cold")
RESULTS = ("ttlg-kept", "ttlg-out")
ELSEWHERE = ("ttlg-torch", "ttlg-jit")


@dataclass(frozen=True)
class Contender:
    """A name and a call that does the whole work once.

    `returns` says that the result is what the call returns; otherwise it is written to the output
    array that all contenders share. `prepare` is called before each sample, and not timed.
    """

    name: str
    call: Callable[[], Any]
    returns: bool = False
    prepare: Callable[[], Any] | None = None


def optional(module: str) -> ModuleType | None:
    """Import a peer library, or return None where it is absent or cannot be loaded.

    A warning says why one that seems to be there is left out.
    """
    try:
        found = importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 a broken library may raise anything
        # Where a module that it needs is missing, it is there.
        if not isinstance(error, ModuleNotFoundError) or error.name not in (
            module,
            module.partition(".")[0],
        ):
            _warn_left_out(module, f"importing it raises {type(error).__name__}: {error}")
        return None
    spec = getattr(found, "__spec__", None)
    if spec is not None and spec.origin is None and spec.submodule_search_locations is not None:
        folder = next(iter(spec.submodule_search_locations), "")
        _warn_left_out(module, f"the folder {folder!r} has its name and is no library")
        return None
    return found


def _warn_left_out(module: str, why: str) -> None:
    text = " ".join(why.split())
    warnings.warn(f"{module} is left out: {text}", RuntimeWarning, stacklevel=2)


def available_cores() -> int:
    """Return the number of logical cores that this process may run on."""
    return len(os.sched_getaffinity(0))


def copies(x: Array, out: Array, threads: int) -> Iterator[Contender]:
    """Copy the bytes of `x` to `out` in memory order, by the calls that may be the fastest."""
    source, target = (np.ascontiguousarray(each).reshape(-1).view(np.uint8) for each in (x, out))
    yield Contender("copy-numpy", lambda: np.copyto(target, source))
    planned = ttlg.plan(source.shape, (0,), "uint8", threads=threads)
    for name, streaming in (("copy-plain", False), ("copy-streaming", True)):
        parameters = {**planned.parameters, "streaming": streaming, "threads": threads}
        plan = changed(planned, parameters=parameters)
        yield Contender(name, lambda plan=plan: plan(source, target))  # type: ignore[misc]


def ours(x: Array, out: Array, axes: Axes, threads: int) -> Iterator[Contender]:
    """ttlg: from a plan made before, as one call with its plan in the cache, and planned again."""
    plan = ttlg.plan(x.shape, axes, x.dtype, strides=x.strides, threads=threads)

    def cold() -> None:
        ttlg.cache_clear()
        ttlg.transpose(x, axes, out=out, threads=threads)

    yield Contender("ttlg-plan", lambda: plan(x, out))
    yield Contender("ttlg", lambda: ttlg.transpose(x, axes, out=out, threads=threads))
    yield Contender("ttlg-cold", cold)


def numpy(x: Array, out: Array, axes: Axes, threads: int) -> Contender:
    """NumPy, on one thread whatever `threads`."""
    return Contender("numpy", lambda: np.copyto(out, x.transpose(axes)))


def torch(x: Array, out: Array, axes: Axes, threads: int) -> Contender | None:
    """PyTorch; sets its number of threads for the process."""
    library = optional("torch")
    if library is None:
        return None
    library.set_num_threads(threads)
    target = library.from_numpy(out)
    # Tensors have no negative strides: flips copy.
    flipped = [axis for axis, stride in enumerate(x.strides) if stride < 0]
    source = library.from_numpy(np.flip(x, flipped))
    if flipped:
        return Contender("torch", lambda: target.copy_(source.flip(flipped).permute(axes)))
    return Contender("torch", lambda: target.copy_(source.permute(axes)))


def jax(x: Array, out: Array, axes: Axes, threads: int) -> Contender | None:
    """JAX's jitted transpose. It cannot write to an array that exists: each call allocates.

    The number of its threads cannot be changed, so it takes part with all cores only.
    """
    return _jitted("jax", lambda a: a.transpose(axes), x, threads)


def _jitted(name: str, function: Callable[[Any], Any], x: Array, threads: int) -> Contender | None:
    """Jit a function of a JAX array that holds `x`, where JAX takes part."""
    library = optional("jax")
    if library is None or threads != available_cores() or not x.flags.c_contiguous:
        return None
    jitted = library.jit(function)
    # Without 64-bit mode device_put would convert float64 to float32.
    before = library.config.jax_enable_x64
    library.config.update("jax_enable_x64", True)
    try:
        source = library.device_put(x, library.devices("cpu")[0])
    finally:
        library.config.update("jax_enable_x64", before)
    return Contender(name, lambda: jitted(source).block_until_ready(), returns=True)


def hptt(x: Array, out: Array, axes: Axes, threads: int) -> Contender | None:
    """HPTT through its Python module, which takes float32 and float64 and plans at every call."""
    library = optional("hptt")
    if library is None or x.dtype not in (np.float32, np.float64) or not x.flags.c_contiguous:
        return None
    return Contender(
        "hptt",
        lambda: library.tensorTransposeAndUpdate(axes, 1.0, x, 0.0, out, numThreads=threads),
    )


_PEERS = {"numpy": numpy, "torch": torch, "jax": jax, "hptt": hptt}
PEERS = tuple(_PEERS)


def whole_calls(
    x: Array, axes: Axes, threads: int, peers: Sequence[str] = PEERS
) -> Iterator[Contender]:
    """Call as users do, for a new array; sets the threads of ttlg and PyTorch for the process."""
    calls = {
        "ttlg": lambda: ttlg.transpose(x, axes),
        "numpy": lambda: np.ascontiguousarray(x.transpose(axes)),
    }
    yield from _new_results(calls, x, axes, threads, peers)
    library = optional("torch") if "torch" in peers else None
    if library is not None:
        tensor = library.from_numpy(x)
        yield Contender("ttlg-torch", lambda: ttlg.transpose(tensor, axes), returns=True)
    if "jax" in peers:
        both = (
            _jitted("ttlg-jit", lambda a: ttlg.transpose(a, axes), x, threads),
            _jitted("jax", lambda a: a.transpose(axes), x, threads),
        )
        yield from (each for each in both if each is not None)


def fortran_orders(x: Array, threads: int, peers: Sequence[str] = PEERS) -> Iterator[Contender]:
    """Lay `x` out in Fortran order, by the names for that; sets threads as `whole_calls`.

    The result is looked at as the C-contiguous array of reversed axes that it is.
    """
    calls = {"ttlg": lambda: ttlg.asfortranarray(x).T, "numpy": lambda: np.asfortranarray(x).T}
    return _new_results(calls, x, tuple(range(x.ndim))[::-1], threads, peers)


def _new_results(
    calls: Mapping[str, Callable[[], Array]],
    x: Array,
    axes: Axes,
    threads: int,
    peers: Sequence[str],
) -> Iterator[Contender]:
    """Let ttlg, and those of its peers that are asked for, allocate what they return."""
    ttlg.set_num_threads(threads)
    for name, call in calls.items():
        if name == "ttlg" or name in peers:
            yield Contender(name, call, returns=True)
    library = optional("torch") if "torch" in peers else None
    if library is not None:
        library.set_num_threads(threads)
        source = library.from_numpy(x)
        yield Contender("torch", lambda: source.permute(axes).contiguous(), returns=True)


def calls_for_result(x: Array, out: Array, axes: Axes, threads: int) -> Iterator[Contender]:
    """Call ttlg for a result that lives until the next one is there, and for one in `out`."""
    kept: list[Array] = []

    def keep() -> Array:
        kept[:] = [ttlg.transpose(x, axes, threads=threads)]
        return kept[0]

    yield Contender("ttlg-kept", keep, returns=True)
    yield Contender("ttlg-out", lambda: ttlg.transpose(x, axes, out=out, threads=threads))


def contenders(
    x: Array, out: Array, axes: Axes, threads: int, peers: Sequence[str] = PEERS
) -> list[Contender]:
    """List everything that takes part: the copies, ttlg and the `peers` that are installed.

    Each is ready to be called any number of times, and all but NumPy use `threads` threads. Input
    and output are C-contiguous, and `axes` are as for `ttlg.transpose`.
    """
    asked = (_PEERS[name](x, out, axes, threads) for name in peers)
    present = [peer for peer in asked if peer is not None]
    return [*copies(x, out, threads), *ours(x, out, axes, threads), *present]
