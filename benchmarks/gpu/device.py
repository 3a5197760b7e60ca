"""The GPU that benchmarks run on: its memory, its clock, its name."""

import itertools
import math
import os
import statistics
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

import ttlg
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.measure import POISON

# Buffers that a case's calls take turns with hold this many times the L2 cache ...
_CACHES = 4
# ... unless it takes more than this many, for small tensors, which then stay in the L2.
_MAX_BUFFERS = 32
_COMPARED = 1 << 28  # elements at a time
_ALIGNMENT = 512  # that of the libraries' allocators

# A sample lasts at least this long, so that starting and stopping the clock weighs little.
_SAMPLE_SECONDS = 0.002
_MAX_CALLS = 1000

# PyTorch moves unsigned 16-bit words through the kernels of signed ones.
_DTYPES = {
    "complex128": torch.complex128,
    "float64": torch.float64,
    "float32": torch.float32,
    "uint16": torch.int16,
    "uint8": torch.uint8,
}


class NoGpuError(Exception):
    """There is no GPU, or ttlg was built without CUDA."""


def require() -> None:
    """Raise NoGpuError unless this process can use a GPU."""
    cuda = ttlg.show_config()["cuda"]
    if not cuda["built"]:
        raise NoGpuError("ttlg was built without CUDA")
    if not torch.cuda.is_available():
        raise NoGpuError(f"PyTorch {torch.__version__} finds no GPU")


def describe(command: str) -> dict[str, Any]:
    """Describe the device, the versions and the command of a measurement."""
    properties = torch.cuda.get_device_properties(0)
    asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        driver = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        driver = ""
    return {
        "command": command,
        "device": properties.name,
        "driver": driver.partition("\n")[0].strip() or None,
        "l2_bytes": properties.L2_cache_size,
        "memory_bytes": properties.total_memory,
        "versions": {"ttlg": ttlg.__version__, "torch": torch.__version__},
        "commit": os.environ.get("TTLG_COMMIT"),
    }


@dataclass(frozen=True)
class Buffers:
    """Inputs of random bytes and outputs, that calls take turns with."""

    inputs: list[torch.Tensor]
    outputs: list[torch.Tensor]

    def __len__(self) -> int:
        return len(self.inputs)

    def poison(self) -> None:
        """Overwrite the first output, so that only what a call writes can be right."""
        self.outputs[0].view(-1).view(torch.uint8).fill_(POISON)


class Memory:
    """Device memory, random in its first half, that the cases of a run use one after another."""

    def __init__(self) -> None:
        self._inputs = self._outputs = torch.empty(0, dtype=torch.uint8, device="cuda")
        self._l2 = torch.cuda.get_device_properties(0).L2_cache_size

    def _reserve(self, size: int) -> None:
        if self._inputs.numel() >= size:
            return
        # Freed before more is asked for, and kept only if there is enough for both.
        self._inputs = self._outputs = torch.empty(0, dtype=torch.uint8, device="cuda")
        inputs = torch.empty(size, dtype=torch.uint8, device="cuda")
        outputs = torch.empty_like(inputs)
        for part in inputs.split(1 << 30):
            part.random_()
        self._inputs, self._outputs = inputs, outputs

    def buffers(self, case: Case) -> Buffers:
        """Lay the inputs and outputs of a case out in this memory."""
        # In place a call touches its input alone, and the outputs are for the copies.
        arrays, least = (1, 1) if case.inplace else (2, 2)
        count = math.ceil(_CACHES * self._l2 / (arrays * case.bytes))
        count = min(max(count, least), _MAX_BUFFERS)
        step = math.ceil(case.bytes / _ALIGNMENT) * _ALIGNMENT
        self._reserve(count * step)
        dtype = _DTYPES[case.dtype]

        def views(raw: torch.Tensor, shape: Sequence[int]) -> list[torch.Tensor]:
            parts = (raw[i * step : i * step + case.bytes] for i in range(count))
            return [part.view(dtype).view(*shape) for part in parts]

        return Buffers(views(self._inputs, case.shape), views(self._outputs, case.out_shape))


def seconds_between(work: Callable[[], Any]) -> float:
    """Return the seconds that the GPU takes from an idle stream to the end of `work`."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    start.record()
    work()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / 1e3


def calls_in_a_sample(seconds: float, buffers: int) -> int:
    """Count the calls of `seconds` each that make a sample, in whole rounds of the buffers."""
    rounds = math.ceil(min(_SAMPLE_SECONDS / seconds, _MAX_CALLS) / buffers)
    return max(1, rounds) * buffers


def graph_seconds(call: Callable[[int], Any], buffers: int, repeats: int) -> float:
    """Return the median seconds of a call when a graph launches it, without the host's work.

    A call takes the number of the buffers that it works on, below `buffers`. `repeats` is the
    number of samples.
    """
    call(0)
    once = seconds_between(lambda: [call(i) for i in range(buffers)]) / buffers
    calls = calls_in_a_sample(once, buffers)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(calls):
            call(i % buffers)
    graph.replay()
    return statistics.median(seconds_between(graph.replay) / calls for _ in range(repeats))


def make_normal(x: torch.Tensor) -> None:
    """Turn floating-point numbers of any bits into normal ones, which times 1 are themselves."""
    real = torch.view_as_real(x) if x.is_complex() else x
    bits, fraction = {4: (torch.int32, 23), 8: (torch.int64, 52)}[real.itemsize]
    words = real.view(bits)
    words &= ~(1 << (8 * real.itemsize - 2))  # below 2: neither infinite nor a NaN
    words |= 1 << fraction  # nor with the least exponent, which zero and subnormal numbers have


def same_bits(result: torch.Tensor, expected: torch.Tensor) -> bool:
    """Compare bit for bit: random floating-point numbers are NaNs now and then.

    In parts, so that little memory is taken for the comparison.
    """
    if result.shape != expected.shape:
        return False
    if expected.is_complex():  # whose parts have strides of their own
        result, expected = torch.view_as_real(result), torch.view_as_real(expected)
    words = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[expected.itemsize]
    axis = max(range(expected.dim()), key=lambda axis: expected.shape[axis])
    parts = math.ceil(expected.numel() / _COMPARED)
    pairs = (each.view(words).chunk(parts, axis) for each in (result, expected))
    return all(itertools.starmap(torch.equal, zip(*pairs, strict=True)))


def transposed(x: torch.Tensor, axes: Sequence[int]) -> torch.Tensor:
    """Return what `ttlg.transpose(x, axes)` must give, by PyTorch."""
    return x.permute(*axes).contiguous()
