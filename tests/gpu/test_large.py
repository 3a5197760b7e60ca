"""Tensors whose elements or bytes do not fit in 32 bits, and those that fit nowhere."""

import math

import pytest

import ttlg

torch = pytest.importorskip("torch")

CHUNK_BYTES = 1 << 30
INPLACE = [
    # More than 2^31 elements: a square matrix, several of them, and others.
    ((46_341, 46_341), (1, 0), torch.uint8),
    ((3, 26_755, 26_755), (0, 2, 1), torch.uint8),
    ((26_755, 3, 26_755), (2, 1, 0), torch.uint8),
    ((26_755, 26_755, 3), (1, 0, 2), torch.uint8),
    ((40, 1000, 53_699), (0, 2, 1), torch.uint8),
    ((46_341, 46_342), (1, 0), torch.uint8),
    # More than 2^32 bytes.
    ((33_000, 33_000), (1, 0), torch.int32),
    ((600, 1000, 1001), (0, 2, 1), torch.int64),
    ((16_411, 16_411), (1, 0), torch.complex128),
    # Rows or columns beyond shared memory.
    ((14_341, 14_347), (1, 0), torch.complex128),
    ((100_000_007, 6), (1, 0), torch.int32),
    ((6, 100_000_007), (1, 0), torch.int32),
]


def random_tensor(shape, dtype):
    """Return a tensor of random bytes, or skip where it and its result have no room."""
    size = math.prod(shape) * dtype.itemsize
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info()
    if free < 2 * size + 3 * CHUNK_BYTES:
        pytest.skip(f"needs {2 * size} bytes of device memory, {free} are free")
    raw = torch.empty(size, dtype=torch.uint8, device="cuda")
    for start in range(0, size, CHUNK_BYTES):
        raw[start : start + CHUNK_BYTES].random_()
    return raw.view(dtype).view(shape)


def same(y, expected):
    """Compare chunk by chunk, along an axis that is long enough to be cut."""
    if y.is_complex():  # NaNs are no equals of themselves
        y, expected = (torch.view_as_real(each).view(torch.int64) for each in (y, expected))
    axis = max(range(y.dim()), key=lambda axis: y.shape[axis])
    step = max(1, y.shape[axis] * CHUNK_BYTES // (y.numel() * y.itemsize))
    return all(
        torch.equal(y.narrow(axis, start, size), expected.narrow(axis, start, size))
        for start in range(0, y.shape[axis], step)
        for size in [min(step, y.shape[axis] - start)]
    )


@pytest.mark.parametrize(
    ("shape", "axes", "dtype"),
    [
        # 2^31 + 1 elements = 3 x 715827883.
        ((3, 715_827_883), (1, 0), torch.uint8),
        ((715_827_883, 3), (1, 0), torch.uint8),
        # A little more than 2^31 elements, in the schemas' several shapes.
        ((46_341, 46_342), (1, 0), torch.uint8),
        ((65_537, 3, 10_923), (1, 0, 2), torch.uint8),
        ((65_537, 1366, 24), (1, 0, 2), torch.uint8),
        ((129, 255, 257, 255), (3, 1, 2, 0), torch.uint8),
        # More than 2^32 bytes.
        ((1025, 1024, 1027), (2, 1, 0), torch.int32),
        ((1025, 1024, 1027), (1, 2, 0), torch.int32),
        ((33_000, 33_000), (1, 0), torch.int32),
        ((40_000, 2, 27_000), (1, 0, 2), torch.int16),
        ((23_171, 23_173), (1, 0), torch.int64),
        ((16_411, 16_411), (1, 0), torch.complex128),
        # Both at once.
        ((46_341, 46_342), (1, 0), torch.int64),
        ((2, 2_200_000_000), (0, 1), torch.uint8),
    ],
    ids=str,
)
def test_beyond_32_bits(shape, axes, dtype):
    assert math.prod(shape) > 2**31 or math.prod(shape) * dtype.itemsize > 2**32
    x = random_tensor(shape, dtype)
    y = torch.full([shape[axis] for axis in axes], 0, dtype=dtype, device="cuda")
    ttlg.transpose(x, axes, out=y)
    assert same(y, x.permute(axes))


@pytest.mark.parametrize(("shape", "axes", "dtype"), INPLACE, ids=str)
def test_in_place_beyond_32_bits(shape, axes, dtype):
    assert math.prod(shape) * dtype.itemsize > 2**31
    x = random_tensor(shape, dtype)
    kept = x.clone()
    assert same(ttlg.transpose_inplace(x, axes), kept.permute(axes))


def test_strides_beyond_32_bits():
    raw = random_tensor((3, 2**31 + 64), torch.uint8)
    x = raw[:, 2**31 :]
    assert torch.equal(ttlg.transpose(x), x.t())
    assert torch.equal(ttlg.transpose(raw[:, :: 2**27]), raw[:, :: 2**27].t())


def test_out_of_memory_is_the_librarys_own_error_and_loses_nothing():
    x = torch.zeros(1, dtype=torch.uint8, device="cuda").expand(2**20, 2**20)
    before = torch.cuda.memory_allocated()
    with pytest.raises(torch.cuda.OutOfMemoryError):
        ttlg.transpose(x)
    assert torch.cuda.memory_allocated() == before
    small = torch.arange(12, device="cuda").view(3, 4)
    assert torch.equal(ttlg.transpose(small), small.t())
