"""Contractions allocate little more than their operands' memory, whichever way is the fastest."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import ttlg
from ttlg._contract import costs, kept, libraries, pairs, steps
from ttlg._contract.operands import distinct_elements

from .equations import check, named_operands, planned, random_values

IMAGE = random_values((60, 70), "float64", 1)
SIGNAL = random_values((3000,), "float64", 2)
BATCH = random_values((2, 20, 20, 4), "float64", 3)
WINDOWS = sliding_window_view(IMAGE, (12, 14))
FRAMES = sliding_window_view(SIGNAL, 100)
PATCHES = sliding_window_view(BATCH, (5, 5), (1, 2))
WEIGHTS = random_values((12, 14), "float64", 4)
# Operands whose elements share memory, in every place of an equation.
SHARED = {
    "correlation": ("abij,ij->ab", WINDOWS, WEIGHTS),
    "correlation, weights first": ("ij,abij->ba", WEIGHTS, WINDOWS),
    "several filters": ("abij,ijf->abf", WINDOWS, random_values((12, 14, 5), "float64", 5)),
    "convolutional layer": ("nhwcij,ijcf->nhwf", PATCHES, random_values((5, 5, 4, 6), "float64")),
    "moving average": ("nk,k->n", FRAMES, SIGNAL[:100]),
    "moving average of every second": ("nk,k->n", FRAMES[::2, ::3], SIGNAL[:34]),
    "backwards": ("nk,k->n", FRAMES[::-1, ::-1], SIGNAL[:100]),
    "gradient of the weights": ("abij,ab->ij", WINDOWS, IMAGE[:49, :57]),
    "covariance": ("nk,nl->kl", FRAMES, FRAMES),
    "sum of one operand's label": ("abij,i->ab", WINDOWS, WEIGHTS[:, 0]),
    "sum of all": ("abij,abij->", WINDOWS, WINDOWS[::-1]),
    "diagonal": ("aaij,ij->a", WINDOWS[:49, :49], WEIGHTS),
    "element by element": ("abij,ij->abij", WINDOWS[:9, :9], WEIGHTS),
    "broadcast": ("nk,km->nm", np.broadcast_to(SIGNAL, (200, 3000)), random_values((3000, 2), "f8")),
    "broadcast stack": ("lab,lbc->lac", np.broadcast_to(IMAGE, (90, 60, 70)), BATCH.reshape(-1)[: 90 * 70 // 2].repeat(2).reshape(90, 70, 1)),
    "Hankel matrix": ("ab,bc->ac", as_strided(SIGNAL, (1500, 1500), (8, 8)), SIGNAL.reshape(1500, 2)),
    "single precision": ("nk,k->n", sliding_window_view(SIGNAL.astype("f4"), 100), SIGNAL[:100].astype("f4")),
    "complex": ("nk,k->n", sliding_window_view(SIGNAL.astype("c16"), 100), SIGNAL[:100].astype("c16")),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    """Bound the allocations of small contractions too."""
    monkeypatch.setattr(steps, "_BYTES_OF_PART", 2**14)
    monkeypatch.setattr(
        pairs, "_MIN_MULTIPLICATIONS", 2**9
    )  # up to which the first way that comes is taken


def spanned(*operands):
    """Return the bytes from the first to the last byte of each array."""
    bounds = [np.lib.array_utils.byte_bounds(x) for x in operands]
    return sum(end - begin for begin, end in bounds)


def peak_of(call):
    """Return what a call returns, and the most bytes that it allocates at a time."""
    tracemalloc.start()
    result = call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return result, peak


def allowed_bytes(operands, result):
    most = steps._MAX_TIMES_OPERAND * (spanned(*operands) + result.nbytes)
    return max(most, steps._BYTES_OF_PART)


def test_distinct_elements_of_small_arrays():
    for rank, extents, strides in [
        (2, (1, 2, 3, 5), range(-4, 10)),
        (3, (2, 3), (-5, 0, 1, 2, 3, 7)),
    ]:
        for shape in itertools.product(extents, repeat=rank):
            for steps_ in itertools.product(strides, repeat=rank):
                axes = [[i * step for i in range(n)] for n, step in zip(shape, steps_, strict=True)]
                exact = len({sum(place) for place in itertools.product(*axes)})
                assert exact <= distinct_elements(shape, steps_) <= math.prod(shape)


def test_distinct_elements_of_windows_are_exact():
    x = np.zeros((5, 6, 4))
    for source in (
        x,
        x[::2],
        x[:, 1:4],
        x[::-1, :, ::2],
        x.transpose(2, 0, 1),
        np.zeros((9, 9))[2:8, 3:8],
    ):
        for window in itertools.product((1, 2, 3), repeat=2):
            if source.shape[0] >= window[0] and source.shape[1] >= window[1]:
                views = sliding_window_view(source, window, (0, 1))
                assert distinct_elements(views.shape, views.strides) == source.size
    assert distinct_elements((3, 0), (8, 8)) == 0
    assert distinct_elements((), ()) == 1
    assert distinct_elements((7, 5), (0, 8)) == 5


@pytest.mark.parametrize("flops", [1.0, 1e9, 1e18])
@pytest.mark.parametrize("name", SHARED)
def test_every_way_is_bounded(name, flops):
    equation, *operands = SHARED[name]
    expected = np.asarray(np.einsum(equation, *operands))
    ((_, _, pairing),) = planned(equation, operands, flops=flops)._steps
    most = allowed_bytes(operands, expected)
    assert pairing.ways
    for way in pairing.ways:
        assert way.workspace <= most
        contract = pairing._compiled(way)
        with ttlg.set_result_pool(0), ttlg.learning(False):
            result, peak = peak_of(lambda contract=contract: contract(*operands, None))
        check(np.asarray(result), expected)
        # Parts are joined to a second result, and take objects of Python.
        assert peak < most + 3 * expected.nbytes + 2**16
    out = np.zeros_like(expected)
    for way in pairing.ways:
        out[...] = 77
        assert pairing._compiled(way)(*operands, out) is out
        check(out, expected)


@pytest.mark.parametrize("name", ["correlation", "moving average", "covariance"])
def test_calls_are_bounded(name):
    equation, *operands = SHARED[name]
    expected = np.asarray(np.einsum(equation, *operands))
    kept.costs_for(str(operands[0].dtype), "cpu", None, None).pass_over(1)  # which copies much
    for _ in range(4):
        result, peak = peak_of(lambda: ttlg.einsum(equation, *operands))
        check(np.asarray(result), expected)
        # Measured products have this many elements at most, in three arrays.
        assert peak < 2 * 16 * costs._MAX_ELEMENTS


@pytest.mark.parametrize("name", ["correlation", "moving average", "broadcast"])
def test_calls_of_what_was_planned_for_contiguous_arrays(name):
    equation, *operands = SHARED[name]
    expected = np.asarray(np.einsum(equation, *operands))
    # Whose products are so fast that all is laid out for them.
    contraction = ttlg.contraction(equation, *(x.shape for x in operands), flops=1e18)
    copies = [x.copy() for x in operands]
    for _ in range(3):
        check(np.asarray(contraction(*copies)), expected)
        with ttlg.set_result_pool(0):
            result, peak = peak_of(lambda: contraction(*operands))
        check(np.asarray(result), expected)
        assert peak < allowed_bytes(operands, expected) + 3 * expected.nbytes + 2**16


@pytest.mark.parametrize("equation", ["abij,i,j->ab", "abij,ij,a->b", "abij,kj,ik->ab"])
@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_networks_and_whole_numbers(equation, dtype):
    windows = sliding_window_view(random_values((120, 130), dtype, 1), (12, 14))
    extents = dict(zip("abij", windows.shape, strict=True)) | {"k": 3}
    terms = equation.partition("->")[0].split(",")[1:]
    others = [random_values([extents[label] for label in term], dtype, 2) for term in terms]
    result, peak = peak_of(lambda: ttlg.einsum(equation, windows, *others))
    check(result, np.einsum(equation, windows, *others))
    if dtype == "int64":
        assert peak < windows.size * 8 / 4


def test_no_dense_contraction_is_done_in_parts():
    for equation in ("abcd,dbea->ec", "ab,bc->ac", "lab,lbc->cla"):
        x, y = named_operands(equation)
        for _, _, pairing in planned(equation, (x, y), flops=1e9)._steps:
            assert all(way.cut is None for way in pairing.ways)


def test_tensordot():
    expected = np.einsum("abij,ij->ab", WINDOWS, WEIGHTS)
    check(ttlg.tensordot(WINDOWS, WEIGHTS, 2), expected)
    result, peak = peak_of(lambda: ttlg.tensordot(WINDOWS, WEIGHTS, 2))
    check(result, expected)
    assert peak < WINDOWS.size * 8 / 4


def refuse_more_than(monkeypatch, most, calls):
    """Let transpositions of more than `most` bytes run out of memory."""
    transpose = libraries.NumPyProducts.transpose

    def limited(self, x, axes, threads):
        calls.append(x.nbytes)
        if x.nbytes > most:
            raise MemoryError
        return transpose(self, x, axes, threads)

    monkeypatch.setattr(libraries.NumPyProducts, "transpose", limited)


@pytest.mark.parametrize("most", [2**20, 2**18, 2**17])
@pytest.mark.parametrize("equation", ["abcd,dbea->ec", "abcde,ecbfa->fd", "acbd,dbae->ec"])
def test_another_way_where_memory_runs_out(monkeypatch, equation, most):
    calls = []
    refuse_more_than(monkeypatch, most, calls)
    operands = named_operands(equation, least=9 if "f" in equation else 16)
    expected = np.einsum(equation, *operands)
    contraction = planned(equation, operands, flops=1.0)
    with ttlg.learning(False):
        check(contraction(*operands), expected)
        calls.clear()
        out = np.zeros_like(expected)
        assert contraction(*operands, out=out) is out
        check(out, expected)
    assert max(calls, default=0) <= most  # what has failed is not done again
    assert contraction.explain()


def test_another_way_where_memory_runs_out_while_ways_are_tried(monkeypatch):
    monkeypatch.setattr(steps, "_MIN_TRIED_SECONDS", 0)
    monkeypatch.setattr(steps, "_WORTH_TRYING", 1e9)
    refuse_more_than(monkeypatch, 2**17, [])
    equation = "abcd,dbea->ec"
    operands = named_operands(equation, least=16)
    for _ in range(12):
        check(ttlg.einsum(equation, *operands), np.einsum(equation, *operands))


def test_no_way_is_left(monkeypatch):
    def fail(*args, **kwargs):
        raise MemoryError

    x, y = named_operands("ab,bc->ac")
    monkeypatch.setattr(libraries.NumPyProducts, "multiplier", lambda self, *args: fail)
    contraction = planned("ab,cb->ac", (x, y.T), flops=1.0)
    out = np.full((x.shape[0], y.shape[1]), 77.0)
    with pytest.raises(MemoryError):
        contraction(x, y.T, out=out)
    assert (out == 77).all()


def test_windows_of_pytorch(monkeypatch):
    torch = pytest.importorskip("torch")
    sizes = []
    transpose = libraries.TorchProducts.transpose

    def counted(self, x, axes, threads):
        sizes.append(x.nbytes)
        if x.nbytes > 2**13:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return transpose(self, x, axes, threads)

    windows = torch.from_numpy(IMAGE).unfold(0, 12, 1).unfold(1, 14, 1)
    weights = torch.from_numpy(WEIGHTS)
    expected = np.einsum("abij,ij->ab", WINDOWS, WEIGHTS)
    for limited in (False, True):
        if limited:
            monkeypatch.setattr(steps, "_MIN_BYTES", 2**6)
            monkeypatch.setattr(libraries.TorchProducts, "transpose", counted)
            ttlg.cache_clear()
        for _ in range(2):
            check(ttlg.einsum("abij,ij->ab", windows, weights).numpy(), expected)
    check(ttlg.einsum("abij,i,j->ab", windows, weights[:, 0], weights[0]).numpy(),
          np.einsum("abij,i,j->ab", WINDOWS, WEIGHTS[:, 0], WEIGHTS[0]))  # fmt: skip
    assert sizes
    assert max(sizes) < WINDOWS.nbytes / 8
