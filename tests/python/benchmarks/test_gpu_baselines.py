"""The kernels that others are measured against, on the host: their indices and their launches."""

import sys

import pytest

from .host_cuda import HostCupy, buffers_of, compiler

torch = pytest.importorskip("torch")

from ttlg.benchmarks.gpu import baselines
from ttlg.benchmarks.gpu.contenders import contender
from ttlg.benchmarks.gpu.measure import verify
from ttlg.benchmarks.inplace.libraries import LeftOutError

DTYPES = (torch.uint8, torch.int16, torch.float32, torch.float64, torch.complex128)
# One row, one column, squares, m | n, n | m, primes, and other common divisors.
MATRICES = [
    (1, 1), (1, 50), (50, 1), (2, 2), (31, 31), (64, 64), (3, 8), (4, 8), (7, 21), (32, 8),
    (30, 3), (2, 99), (100, 2), (37, 41), (127, 64), (48, 36), (36, 48), (100, 250), (51, 34),
]  # fmt: skip


@pytest.fixture(scope="module")
def on_the_host(tmp_path_factory):
    if compiler() is None:
        pytest.skip("there is no C++ compiler")
    cupy = HostCupy(tmp_path_factory.mktemp("kernels"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cupy", cupy)
        patch.setattr(torch.cuda, "synchronize", lambda: None)
        patch.setattr(baselines, "_BLOCK", 1)
        yield cupy


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_naive_moves_elements_of_any_size(on_the_host, dtype):
    for shape, axes in [
        ((7,), (0,)),
        ((1, 1), (1, 0)),
        ((50, 1), (1, 0)),
        ((37, 41), (1, 0)),
        ((2, 3, 5), (2, 1, 0)),
        ((4, 5, 6), (1, 0, 2)),
        ((2, 3, 2, 3, 2, 3), (4, 1, 5, 0, 3, 2)),
        ((2,) * 9, (8, 0, 7, 1, 6, 2, 5, 3, 4)),
    ]:
        buffers = buffers_of(dtype, shape, axes)
        made = contender("naive", buffers, axes)
        for i, (x, y) in enumerate(zip(buffers.inputs, buffers.outputs, strict=True)):
            made.call(i)
            expected = x.permute(*axes).contiguous()
            assert torch.equal(y.view(torch.uint8), expected.view(torch.uint8)), shape


@pytest.mark.parametrize("workers", [1024, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", baselines.IN_PLACE)
def test_matrices_in_place(on_the_host, monkeypatch, name, dtype, workers):
    monkeypatch.setattr(baselines, "_WORKERS", workers)
    for shape in MATRICES:
        buffers = buffers_of(dtype, shape, (1, 0))
        made = contender(name, buffers, (1, 0))
        for _ in range(2):  # what the first call has left is an array for the second
            verify(made, buffers, (1, 0))


def test_what_they_allocate_and_launch(on_the_host):
    """A bit for each element, or a row or column for each thread block; both papers say as much."""
    x = torch.zeros((37, 41))
    on_the_host.allocated.clear()
    baselines.algorithm_1(1500, 70, 8)
    baselines.algorithm_1(20, 70, 8)
    baselines.cycles(10, 33, 4)(x.data_ptr())
    assert [each.nbytes for each in on_the_host.allocated] == [1024 * 1500 * 8, 70 * 70 * 8, 44]
    on_the_host.launched.clear()
    for shape in ((37, 41), (4, 8)):
        baselines.algorithm_1(*shape, 4)(x.data_ptr())
    shuffles = ["shuffle_rows", "shuffle_columns"]
    assert on_the_host.launched == [*shuffles, "rotate_columns", *shuffles]


def test_who_cannot_take_part_says_why(on_the_host, monkeypatch):
    tensor = buffers_of(torch.float32, (2, 3, 4), (2, 1, 0))
    matrix = buffers_of(torch.uint8, (2, 3), (1, 0))
    for name in baselines.IN_PLACE:
        with pytest.raises(LeftOutError, match="it transposes matrices only"):
            contender(name, tensor, (2, 1, 0))
        with pytest.raises(LeftOutError, match="it moves no elements of 1 bytes"):
            contender(name, matrix, (1, 0))
    monkeypatch.setitem(sys.modules, "cupy", None)
    for name in (*baselines.NAMES, "cupy", "copy-cupy"):
        with pytest.raises(LeftOutError, match="CuPy is not installed"):
            contender(name, buffers_of(torch.float32, (2, 3), (1, 0)), (1, 0))
