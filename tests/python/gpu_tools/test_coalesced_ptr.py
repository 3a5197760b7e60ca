"""The header for users' kernels compiles at run time, as CuPy compiles it."""

import re
from pathlib import Path

import pytest

import ttlg

REPOSITORY = Path(__file__).parents[3]
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


def test_the_header_is_there():
    assert [path.name for path in Path(ttlg.get_include()).rglob("*.*")] == ["coalesced_ptr.cuh"]


@pytest.mark.parametrize(
    "options",
    [("-arch=compute_80", "-std=c++17"), ("-arch=compute_90", "-std=c++20")],
    ids=" ".join,
)
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
def test_nvrtc_compiles_it(nvrtc, structure, options):
    ptx, log = nvrtc.compile(KERNEL % structure, *options)
    assert log == ""
    assert ".entry move" in ptx
    assert re.findall(r"\.local|\.shared|\b(?:div|rem)\.\w+", ptx) == []
    assert ("shfl.sync.idx" in ptx) == ("x[" in structure), "single words stay with their lanes"


def test_lanes_see_what_they_have_stored(nvrtc):
    """The lane that loads a word waits for the one that stored it, and the other way round."""
    ptx, _ = nvrtc.compile(KERNEL % "struct T { float x[7]; };", "-std=c++17")
    assert ptx.count("bar.warp.sync") == 3 * 1 + 3 * 2, "before a load, and around a store"


def test_nvrtc_compiles_the_example(nvrtc):
    text = (REPOSITORY / "docs/structures.md").read_text()
    example = re.search(r"^```cuda\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
    ptx, log = nvrtc.compile(example, "-std=c++17")
    assert log == ""
    assert ".entry advance" in ptx


def test_nvrtc_compiles_the_tests_that_need_a_gpu(nvrtc):
    source = REPOSITORY / "tests/gpu/coalesced_ptr.cu"
    kernels = ["gather<7, 4>", "scatter<64, 16>"]
    ptx, log = nvrtc.compile(source.read_text(), "-std=c++17", kernels=kernels)
    assert (log, ptx.count(".entry")) == ("", 4)


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        ("struct T { float x[65]; };", "T must have at most 256 bytes"),
        ("struct T { char x[8]; };", "T must be aligned to 4 bytes or more"),
        ("struct T { T(const T&); int x; };", "T must be trivially copyable"),
    ],
)
def test_structures_that_it_refuses(nvrtc, structure, message):
    ptx, log = nvrtc.compile(KERNEL % structure)
    assert ptx == ""
    assert f"coalesced_ptr<T>: {message}" in log
