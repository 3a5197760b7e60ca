"""C++ functions that permute arrays: plain loops, and how functions are compiled and loaded."""

import ctypes
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ttlg.benchmarks.case import Case

_LOOPS = """#include <cstddef>
#include <cstdint>
void {name}(const void* from, void* to, std::size_t batch, std::ptrdiff_t in_stride,
    std::ptrdiff_t out_stride) {{
  for (std::size_t k = 0; k < batch; ++k) {{
    const {element}* __restrict in = static_cast<const {element}*>(from) + k * in_stride;
    {element}* __restrict out = static_cast<{element}*>(to) + k * out_stride;
    {loops}
      out[{out}] = in[{place}];
  }}
}}
"""
# The compiler may not leave out or merge calls, as it has to assume that memory is read and written
# in between.
_REPEAT = """
extern "C" void repeat_{name}(const void* from, void* to, std::size_t batch, std::ptrdiff_t stride,
    std::size_t calls) {{
  for (; calls > 0; --calls) {{
    {name}(from, to, batch, stride, stride);
    asm volatile("" ::: "memory");
  }}
}}
"""
_BACK = re.compile(r"\t(?:j[a-z]+|b[.a-z]*|cbn?z|tbn?z)\t.*?(\.L\d+)$")
_FUNCTION = re.compile(r"_Z\d+(\w+)PKvPv\w+:")

Repeated = Callable[[int, int, int, int, int], None]


def compiler() -> str | None:
    """Find a C++ compiler for this machine."""
    return shutil.which("g++") or shutil.which("c++")


def arm_compiler() -> str | None:
    """Find a C++ compiler for ARM machines other than this one."""
    return shutil.which("aarch64-linux-gnu-g++")


def version(path: str) -> str:
    """Return what a compiler says it is."""
    done = subprocess.run([path, "--version"], check=True, capture_output=True, text=True)
    return done.stdout.partition("\n")[0]


def _place(strides: Sequence[int], itemsize: int) -> str:
    return " + ".join(f"i{k} * {stride // itemsize}" for k, stride in enumerate(strides))


def loops(case: Case, name: str) -> str:
    """Write plain nested loops over the output's elements, with constant extents and strides."""
    permuted = np.empty(case.shape, case.dtype).transpose(case.axes)
    itemsize = permuted.itemsize
    return _LOOPS.format(
        name=name,
        element=f"std::uint{8 * itemsize}_t",
        loops="\n    ".join(
            f"for (std::ptrdiff_t i{k} = 0; i{k} < {extent}; ++i{k})"
            for k, extent in enumerate(permuted.shape)
        ),
        out=_place(np.empty(permuted.shape, case.dtype).strides, itemsize),
        place=_place(permuted.strides, itemsize),
    )


def _run(path: str, text: str, *options: str) -> str:
    done = subprocess.run(
        [path, "-std=c++17", *options, "-x", "c++", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{path} failed: {done.stderr[:2000]}")
    return done.stdout


def load(sources: Mapping[str, str], flags: Sequence[str]) -> dict[str, Repeated]:
    """Compile functions, by their names; return what calls each of them a number of times.

    It takes two addresses, the number of arrays, the elements of one, and the number of calls. Raises
    RuntimeError where the compiler does.
    """
    path = compiler()
    assert path is not None
    text = "\n".join(source + _REPEAT.format(name=name) for name, source in sources.items())
    with TemporaryDirectory() as folder:
        library = Path(folder) / "functions.so"
        _run(path, text, *flags, "-shared", "-fPIC", "-o", str(library))
        loaded = ctypes.CDLL(str(library))
    size, pointer = ctypes.c_size_t, ctypes.c_void_p
    functions: dict[str, Any] = {name: loaded[f"repeat_{name}"] for name in sources}
    for function in functions.values():
        function.argtypes = pointer, pointer, size, ctypes.c_ssize_t, size
        function.restype = None
    return functions


def _longest_loop(lines: Sequence[str]) -> int:
    """Count the instructions of the longest of the loops that have no loop in them."""
    starts: dict[str, int] = {}
    longest = count = last_end = 0
    for line in lines:
        back = _BACK.match(line)
        count += line.startswith("\t") and not line.startswith("\t.")
        if line.startswith(".L"):
            starts[line.rstrip(":")] = count
        elif back and starts.get(back[1], -1) >= last_end:
            longest = max(longest, count - starts[back[1]])
            last_end = count
    return longest


def loop_instructions(path: str, sources: Sequence[str], flags: Sequence[str]) -> dict[str, int]:
    """Compile functions, and count the instructions of the longest innermost loop of each."""
    functions: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in _run(path, "\n".join(sources), *flags, "-S", "-o", "-").splitlines():
        found = _FUNCTION.match(line)
        if found:
            lines = functions.setdefault(found[1], [])
        lines.append(line)
    return {name: _longest_loop(lines) for name, lines in functions.items()}
