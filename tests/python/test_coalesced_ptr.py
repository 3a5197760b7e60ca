"""The header for users' kernels compiles at run time, as CuPy compiles it; no GPU is needed."""

import contextlib
import ctypes
import ctypes.util
import importlib.util
import re
from pathlib import Path

import pytest

import ttlg

KERNEL = r"""
#include <ttlg/coalesced_ptr.cuh>
%s
extern "C" __global__ void move(const T* from, T* to, const int* at) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const ttlg::coalesced_ptr<const T> in(from);
  const ttlg::coalesced_ptr<T> out(to);
  const T value = in[at[i]];
  out[i] = value;
  (out + at[i] + 1).store((in + i).load());
  out[i + 1] = out[i];
}
"""


def found_nvrtc():
    """List the libraries there may be: of the system, and of Python packages."""
    yield from filter(None, [ctypes.util.find_library("nvrtc")])
    if spec := importlib.util.find_spec("nvidia"):
        for folder in map(Path, spec.submodule_search_locations):
            for path in sorted(folder.glob("*/lib/libnvrtc.so.*")):
                # It looks for this one by its name alone.
                for builtins in path.parent.glob("libnvrtc-builtins.so.*"):
                    ctypes.CDLL(str(builtins))
                yield str(path)


@pytest.fixture(scope="module")
def nvrtc():
    for path in found_nvrtc():
        with contextlib.suppress(OSError):
            return ctypes.CDLL(path)
    pytest.skip("there is no libnvrtc (pip install nvidia-cuda-nvrtc)")


def compiled(nvrtc, source, *options):
    """Return the PTX, empty if there were errors, and the compiler's log."""
    program = ctypes.c_void_p()
    created = nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None
    )
    assert created == 0
    given = [f"-I{ttlg.get_include()}".encode(), *map(str.encode, options)]
    failed = nvrtc.nvrtcCompileProgram(program, len(given), (ctypes.c_char_p * len(given))(*given))

    def text(name):
        size = ctypes.c_size_t()
        assert nvrtc[f"nvrtcGet{name}Size"](program, ctypes.byref(size)) == 0
        buffer = ctypes.create_string_buffer(size.value)
        assert nvrtc[f"nvrtcGet{name}"](program, buffer) == 0
        return buffer.value.decode()

    result = ("" if failed else text("PTX"), text("ProgramLog"))
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return result


def test_the_header_is_there():
    assert [path.name for path in Path(ttlg.get_include()).rglob("*.*")] == ["coalesced_ptr.cuh"]


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
@pytest.mark.parametrize("architecture", ["compute_80", "compute_90"])
@pytest.mark.parametrize(
    "structure",
    [
        "struct T { float x[7]; };",
        "struct T { double x[5]; int y; };",
        "struct alignas(16) T { unsigned char x[240]; };",
        "using T = int;",
        "struct T { const int x; T() = delete; };",
    ],
)
def test_nvrtc_compiles_it(nvrtc, structure, architecture, standard):
    options = [f"-arch={architecture}", f"-std={standard}"]
    ptx, log = compiled(nvrtc, KERNEL % structure, *options)
    assert log.strip("\0\n ") == ""
    assert ".entry move" in ptx
    assert re.findall(r"\.local|\.shared|\b(?:div|rem)\.\w+", ptx) == []
    assert ("shfl.sync.idx" in ptx) == ("x[" in structure)


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        ("struct T { float x[65]; };", "T must have at most 256 bytes"),
        ("struct T { char x[8]; };", "T must be aligned to 4 bytes or more"),
        ("struct T { T(const T&); int x; };", "T must be trivially copyable"),
    ],
)
def test_structures_that_it_refuses(nvrtc, structure, message):
    ptx, log = compiled(nvrtc, KERNEL % structure)
    assert ptx == ""
    assert f"coalesced_ptr<T>: {message}" in log
