"""Sparse tensors on the GPU are transposed as on the CPU, bit for bit."""

import random

import numpy as np
import pytest

import ttlg

torch = pytest.importorskip("torch")

DTYPES = ["bool", "int8", "float16", "float32", "float64", "complex64", "complex128"]


def distinct_coordinates(shape, count, rng):
    """Return up to `count` coordinates without repetition, in lexicographic order."""
    coordinates = np.stack([rng.integers(0, extent, count) for extent in shape])
    return torch.from_numpy(np.unique(coordinates, axis=1))


def random_values(count, dense, dtype, rng):
    dtype = getattr(torch, dtype)
    values = torch.from_numpy(rng.integers(-9, 10, (count, *dense)).astype(np.float64))
    return values.to(dtype)


def sparse_of(coordinates, values, shape, *, is_coalesced=False):
    return torch.sparse_coo_tensor(
        coordinates, values, shape, is_coalesced=is_coalesced, check_invariants=True
    )


def random_sparse(shape, count, *, dense=(), dtype="float64", is_sorted=True, seed=0):
    """Make a sparse tensor on the CPU: coalesced, or of the same nonzeros in any order."""
    rng = np.random.default_rng(seed)
    coordinates = distinct_coordinates(shape, count, rng)
    count = coordinates.shape[1]
    if not is_sorted:
        coordinates = coordinates[:, torch.from_numpy(rng.permutation(count))]
    values = random_values(count, dense, dtype, rng)
    return sparse_of(coordinates, values, (*shape, *dense), is_coalesced=is_sorted)


def random_axes(rank, seed):
    return tuple(random.Random(seed).sample(range(rank), rank))


def assert_same(found, expected):
    assert found.is_cuda
    assert (found.layout, found.dtype, found.shape) == (
        expected.layout,
        expected.dtype,
        expected.shape,
    )
    assert torch.equal(found._indices().cpu(), expected._indices())
    assert torch.equal(found._values().cpu(), expected._values())


def check(x, axes):
    """Compare with the CPU's result, whose sorting is stable as well; axes of values stay last."""
    axes = (*axes, *range(len(axes), x.ndim))
    found = ttlg.sparse.transpose(x.cuda(), axes)
    assert_same(found, ttlg.sparse.transpose(x, axes))
    assert found.is_coalesced() == x.is_coalesced()  # the CPU finds out


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rank", range(2, 6))
def test_random_tensors(rank, dtype, is_sorted):
    for seed, count in enumerate([1, 50, 5000, 200_000]):
        shape = (300, 70, 5, 41, 9)[:rank]
        x = random_sparse(shape, count, dtype=dtype, is_sorted=is_sorted, seed=seed)
        check(x, random_axes(rank, seed))


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("axes", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_every_permutation(axes, is_sorted):
    check(random_sparse((1000, 1, 77), 20_000, is_sorted=is_sorted), axes)
    check(random_sparse((100, 200, 300), 20_000, is_sorted=is_sorted), axes)
    check(random_sparse((2**31, 1, 2**31), 4000, is_sorted=is_sorted), axes)


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "complex128"])
@pytest.mark.parametrize("dense", [(1,), (2,), (3,), (4, 5), (7, 33), (1000,), (0,)], ids=str)
def test_hybrid_tensors(dense, dtype):
    check(random_sparse((50, 60, 70), 3000, dense=dense, dtype=dtype), (2, 0, 1))


def wide_coordinates(shape, rng):
    """Return coordinates of few values in each mode, so that all modes decide about the order."""
    picks = [np.append(rng.integers(0, extent, 6), extent - 1) for extent in shape]
    return np.unique(np.stack([rng.choice(pick, 4000) for pick in picks]), axis=1)


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize(
    "shape",
    [
        *((2**31, 2**31), (3,) * 39, (5,) * 27),  # up to 64 bits, which tensors have
        *((2**62, 2, 2**62), (2**20,) * 5, (2**40, 3, 2**40, 3, 2**40)),
        *((2**62,) * 3, (2**63 - 1,) * 2),
    ],
    ids=str,
)
def test_wide_keys(shape, is_sorted):
    rng = np.random.default_rng(1)
    coordinates = wide_coordinates(shape, rng)
    if not is_sorted:
        coordinates = rng.permutation(coordinates, axis=1)
    modes = [torch.from_numpy(mode.copy()) for mode in coordinates]
    for seed in range(3):
        axes = random_axes(len(shape), seed)
        run(modes, torch.arange(len(modes[0])), shape, axes, is_sorted=is_sorted)


def test_repeated_coordinates_are_treated_as_on_the_cpu():
    rng = np.random.default_rng(2)
    coordinates = torch.from_numpy(rng.integers(0, 4, (3, 1000)))
    check(sparse_of(coordinates, torch.arange(1000), (4, 4, 4)), (2, 0, 1))


def test_tensors_of_no_nonzeros_and_of_no_extent():
    for shape, axes in (((4, 5), (1, 0)), ((4, 0, 5), (2, 0, 1))):
        nowhere = torch.empty((len(shape), 0), dtype=torch.int64)
        check(sparse_of(nowhere, torch.empty(0), shape, is_coalesced=True), axes)


def test_more_nonzeros_than_one_tile():
    check(random_sparse((5000, 5000, 500), 6_000_000, dtype="float32"), (2, 1, 0))


def on_device(modes, values, shape, perm, is_sorted=False):
    """Call the device's part alone, which takes int32 too; return the bytes of the result."""
    from ttlg.sparse._cuda import transpose_coo

    return transpose_coo(
        modes,
        values,
        shape,
        perm,
        is_sorted,
        empty=lambda size: torch.empty(size, dtype=torch.uint8, device="cuda"),
        pointer_of=lambda array: array.data_ptr(),
        device=torch.cuda.current_device(),
        stream=torch.cuda.current_stream().cuda_stream,
    )


def run(modes, values, shape, perm, *, is_sorted=False, lead=0):
    """Compare the device's part with a sort of the host, for values `lead` bytes off alignment."""
    padded = torch.empty(lead + values.nbytes, dtype=torch.uint8, device="cuda")
    device_values = padded[lead:].view(values.dtype).view(values.shape).copy_(values)
    device_modes = [mode.cuda() for mode in modes]
    coords, moved = on_device(device_modes, device_values, shape, perm, is_sorted)
    order = np.lexsort([modes[mode].numpy() for mode in reversed(perm)])
    found = coords.view(modes[0].dtype).view(len(modes), len(values)).cpu()
    assert torch.equal(found, torch.stack([modes[mode] for mode in perm])[:, order])
    assert torch.equal(moved.view(values.dtype).view(values.shape).cpu(), values[order])


@pytest.mark.parametrize("index", [torch.int32, torch.int64])
def test_equal_coordinates_keep_their_order(index):
    rng = np.random.default_rng(3)
    for count in (1, 2, 1000, 100_000):
        modes = [torch.from_numpy(rng.integers(0, 7, count)).to(index) for _ in range(3)]
        run(modes, torch.arange(count), (7, 7, 7), (1, 2, 0))


@pytest.mark.parametrize("lead", [1, 2, 4, 8])
def test_values_at_any_address(lead):
    rng = np.random.default_rng(4)
    modes = [torch.from_numpy(rng.integers(0, 90, 1000)) for _ in range(2)]
    values = torch.from_numpy(rng.integers(0, 256, (1000, 16), dtype=np.uint8))
    run(modes, values, (90, 90), (1, 0), lead=lead)


def captured(shape, count):
    """Capture a transposition in a graph; return the graph, its inputs and its outputs."""
    modes = [torch.zeros(count, dtype=torch.int64, device="cuda") for _ in shape]
    values = torch.zeros(count, dtype=torch.float32, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outputs = on_device(modes, values, shape, tuple(range(len(shape)))[::-1])
    return graph, modes, values, outputs


@pytest.mark.parametrize("shape", [(100, 200, 300), (2**50, 2**50, 2**50)], ids=str)
@pytest.mark.parametrize("count", [100, 200_000])
def test_calls_are_captured_in_graphs(shape, count):
    graph, modes, values, (coords, moved) = captured(shape, count)
    rng = np.random.default_rng(5)
    for _ in range(2):
        fresh = [torch.from_numpy(rng.integers(0, extent, count)) for extent in shape]
        fresh_values = torch.from_numpy(rng.random(count, dtype=np.float32))
        for mode, contents in zip(modes, fresh, strict=True):
            mode.copy_(contents)
        values.copy_(fresh_values)
        graph.replay()
        order = np.lexsort([each.numpy() for each in fresh])
        found = coords.view(torch.int64).view(len(shape), count).cpu()
        assert torch.equal(found, torch.stack(fresh[::-1])[:, order])
        assert torch.equal(moved.view(torch.float32).cpu(), fresh_values[order])


def test_the_stream_is_not_waited_for(stream):
    x = random_sparse((100, 200, 300), 100_000).cuda()
    expected = ttlg.sparse.transpose(x.cpu(), (2, 0, 1))
    ttlg.sparse.transpose(x, (2, 0, 1))  # loads the kernels
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        y = ttlg.sparse.transpose(x, (2, 0, 1))
        assert not stream.query(), "the call has waited for the stream"
    stream.synchronize()
    assert_same(y, expected)


def test_coordinates_outside_of_the_shape_do_no_harm():
    modes = [torch.randint(-(2**62), 2**62, (10_000,), device="cuda") for _ in range(3)]
    on_device(modes, torch.zeros(10_000, device="cuda"), (5, 6, 7), (2, 0, 1))
    torch.cuda.synchronize()


def test_matrices_of_cupy():
    cupy = pytest.importorskip("cupy")
    from cupyx.scipy import sparse

    rng = np.random.default_rng(0)
    coords = np.stack([rng.integers(0, 3000, 50_000), rng.integers(0, 70, 50_000)]).astype("i4")
    values = rng.random(50_000)
    arrays = (cupy.asarray(values), (cupy.asarray(coords[0]), cupy.asarray(coords[1])))
    found = ttlg.sparse.transpose(sparse.coo_matrix(arrays, shape=(3000, 70)))
    expected, expected_values, shape = ttlg.sparse.transpose((coords, values, (3000, 70)))
    assert found.shape == shape
    assert np.array_equal(cupy.asnumpy(found.row), expected[0])
    assert np.array_equal(cupy.asnumpy(found.col), expected[1])
    assert np.array_equal(cupy.asnumpy(found.data), expected_values)
