"""Orders in memory and copies under NumPy's names, and flat arrays that are read in a shape."""

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ttlg
from ttlg._functions import mirror

from ..arrays import bits, random_array

ORDERS = {"C": ttlg.ascontiguousarray, "F": ttlg.asfortranarray}


def in_order(x, order):
    return x.flags.c_contiguous if order == "C" else x.flags.f_contiguous


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", ["u1", "V3", "f4", "c16", "M8[ns]", "S0"])
@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (5, 7), (3, 1, 4), (2, 3, 4, 5)])
def test_orders_are_numpys(shape, dtype, order):
    x = random_array(shape, dtype)
    for axes in itertools.permutations(range(x.ndim)):
        given = x.transpose(axes)
        result = ORDERS[order](given)
        assert in_order(result, order)
        assert (result.dtype, result.shape) == (given.dtype, given.shape)
        assert bits(result) == bits(given)
        assert (result is given) == in_order(given, order)


def test_orders_are_differentiated():
    torch = pytest.importorskip("torch", minversion="2.5")
    x = torch.rand(3, 4, requires_grad=True)
    (ttlg.asfortranarray(x) * torch.arange(4)).sum().backward()
    assert torch.equal(x.grad, torch.arange(4.0).expand(3, 4))


def test_jax_has_c_order_alone():
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.zeros((3, 4))
    assert ttlg.ascontiguousarray(x) is x
    with pytest.raises(TypeError, match="no order"):
        ttlg.asfortranarray(x)


@given(st.data())
def test_copyto_is_numpys(data):
    rank = data.draw(st.integers(0, 4))
    shape = data.draw(st.lists(st.integers(0, 5), min_size=rank, max_size=rank))
    dropped = data.draw(st.integers(0, rank))
    source = [data.draw(st.sampled_from([1, extent])) for extent in shape[dropped:]]
    dtype = data.draw(st.sampled_from(["u1", "V3", "f8"]))
    src = np.asarray(np.flip(random_array(source, dtype)))
    memory = random_array([2 * extent for extent in shape], dtype)
    kept = memory.copy()
    places = (..., *(slice(None, None, 2) for _ in shape))
    ttlg.copyto(memory[places], src)
    kept[places] = src
    assert bits(memory) == bits(kept)


def test_copyto_is_traced():
    torch = pytest.importorskip("torch", minversion="2.5")
    src = torch.rand(3, 4)
    copy = torch.compile(
        lambda dst, src: ttlg.copyto(dst, src.T), backend="aot_eager", fullgraph=True
    )
    dst = torch.zeros(4, 3)
    copy(dst, src)
    assert torch.equal(dst, src.T)


X = np.zeros((2, 3))
OVERLAPPING = np.lib.stride_tricks.as_strided(np.zeros(4), (2, 3), (8, 8))


@pytest.mark.parametrize(
    ("dst", "src", "error", "message"),
    [
        (X[0], X, ValueError, r"src of shape \(2, 3\) does not broadcast to dst of shape \(3,\)"),
        (X, np.zeros(2), ValueError, r"src of shape \(2,\) does not broadcast to dst of shape"),
        (X, np.zeros((2, 3), "f4"), TypeError, "dst has dtype float64, but src has float32; .*dst"),
        (np.broadcast_to(X, (2, 2, 3)), np.zeros(3), ValueError, "dst .* is read-only"),
        (
            X[:, 1:],
            X[:, :-1],
            ValueError,
            "dst of shape .* overlaps src of shape .* or copy src first$",
        ),
        (
            X[:, :2],
            X[:, :0:-1],
            ValueError,
            "dst of shape .* overlaps src of shape .* or copy src first$",
        ),
        ([0.0], np.zeros(1), TypeError, "dst must be an array .*, not builtins.list"),
        (X, [[0.0]], TypeError, "src must be an array .*, not builtins.list"),
        (X, 0.0, TypeError, "src must be an array .*, not builtins.float"),
        (X.astype("O"), X, TypeError, "dst has dtype object"),
        (X, np.ma.zeros(3), TypeError, "src is a masked array"),
        (OVERLAPPING, X, ValueError, "dst .* may hold several elements at one place"),
    ],
)
def test_copyto_refuses(dst, src, error, message):
    with pytest.raises(error, match=message):
        ttlg.copyto(dst, src)


def test_copyto_calls_its_arguments_by_their_names():
    torch = pytest.importorskip("torch")
    src, dst = torch.ones(2, 3), torch.zeros(2, 3)
    special = {
        r"src requires grad, .*; pass src\.detach\(\)$": src.clone().requires_grad_(),
        r"src has the layout torch.sparse_coo, .*, or pass src\.to_dense\(\)$": src.to_sparse(),
    }
    for message, each in special.items():
        with pytest.raises(BufferError, match=message):
            ttlg.copyto(torch.zeros(2, 3, dtype=each.dtype), each)
    with pytest.raises(BufferError, match=r"dst requires grad, .*; pass another dst, such as a"):
        ttlg.copyto(dst.clone().requires_grad_(), src)
    compiled = torch.compile(ttlg.copyto, fullgraph=True, backend="aot_eager")
    with pytest.raises(Exception, match=r"src requires grad, .*; pass src\.detach\(\)"):
        compiled(dst, src.clone().requires_grad_())
    with pytest.raises(TypeError, match=r"dst is a masked array, .*; pass dst\.data"):
        ttlg.copyto(np.ma.zeros((2, 3)), np.ones((2, 3)))
    assert not dst.any()


@pytest.mark.parametrize("shape", [(3,), (2, 3)], ids=["broadcast", "same shape"])
def test_copyto_refuses_streams_on_the_host(shape):
    with pytest.raises(ValueError, match="src is in host memory"):
        ttlg.copyto(X, np.ones(shape), stream=1)


def test_flat_arrays_of_rank_64():
    axes = np.random.default_rng(0).permutation(64)
    shape = tuple(2 if axis % 5 == 0 else 1 for axis in range(64))
    x = random_array((2**13,), "c8")
    result = ttlg.transpose(x, axes, shape=shape)
    assert result.shape == x.shape
    assert bits(result) == bits(x.reshape(shape).transpose(axes))


def test_flat_arrays_with_gaps():
    shape, axes = (3, 4, 5), (2, 0, 1)
    x = random_array((120,), "f4")[::-2]
    expected = x.reshape(shape).transpose(axes).reshape(-1)
    np.testing.assert_array_equal(ttlg.transpose(x, axes, shape=shape), expected)
    memory = np.zeros(180, "f4")
    out = memory[1::3]
    assert ttlg.transpose(x, axes, shape=list(shape), out=out, threads=1) is out
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(memory[::3], 0)
    np.testing.assert_array_equal(
        ttlg.transpose(x, shape=shape), x.reshape(shape).T.reshape(-1)
    )  # reversed


def test_flat_arrays_of_other_libraries():
    torch = pytest.importorskip("torch", minversion="2.5")
    jax = pytest.importorskip("jax")
    values = np.arange(24, dtype="f4")
    expected = values.reshape(2, 3, 4).transpose(1, 2, 0).reshape(-1)
    x = torch.from_numpy(values).requires_grad_()
    result = ttlg.transpose(x, (1, 2, 0), shape=(2, 3, 4))
    np.testing.assert_array_equal(result.detach(), expected)
    (result * result.detach()).sum().backward()
    assert torch.equal(x.grad, x.detach())
    traced = jax.jit(lambda x: ttlg.transpose(x, (1, 2, 0), shape=(2, 3, 4)))
    np.testing.assert_array_equal(traced(values), expected)


@pytest.mark.parametrize(
    ("x", "shape", "out", "error", "message"),
    [
        (
            np.zeros(8),
            (2, 3),
            None,
            ValueError,
            r"x of shape \(8,\) cannot be read as shape \(2, 3",
        ),
        (np.zeros(8), (-2, -4), None, ValueError, "cannot be read as shape"),
        (np.zeros((2, 4)), (2,), None, ValueError, r"one-dimensional .* x.reshape\(-1\)"),
        (np.zeros(8), (2, 4), np.zeros((4, 2)), ValueError, r"pass out of shape \(8,\)"),
        (np.zeros(8), (2, 4.0), None, TypeError, "integer"),
        ([1, 2], (2, 1), None, TypeError, "must be an array"),
    ],
)
def test_flat_arrays_that_do_not_fit(x, shape, out, error, message):
    with pytest.raises(error, match=message):
        ttlg.transpose(x, shape=shape, out=out)


PATTERNS = [
    ("a b c", "c a b", {}),
    ("a b c", "a b c", {}),
    ("a (b d) c", "b (a c) d", {"d": 2}),
    ("... c", "c ...", {}),
    ("a b c", "(c b a)", {}),
    ("a b c", "a 1 c b ()", {}),
]


@pytest.mark.parametrize(("left", "right", "lengths"), PATTERNS)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
def test_rearrange_is_einops(library, left, right, lengths):
    einops = pytest.importorskip("einops")
    module = pytest.importorskip(library)
    x = module.asarray(random_array((3, 4, 5), "f4").copy())
    pattern = f"{left} -> {right}"
    result = ttlg.rearrange(x, pattern, **lengths)
    expected = einops.rearrange(x, pattern, **lengths)
    assert type(result) is type(x)
    assert result.shape == expected.shape
    assert bits(np.asarray(result)) == bits(np.asarray(expected))
    assert not np.shares_memory(np.asarray(result), np.asarray(x))
    if library == "jax.numpy":
        return
    for step in (1, 2):  # without and with gaps
        whole = module.zeros((*expected.shape, step), dtype=x.dtype)
        out = whole[..., 0]
        assert ttlg.rearrange(x, pattern, out=out, threads=1, **lengths) is out
        assert bits(np.asarray(out)) == bits(np.asarray(expected))
        assert not np.asarray(whole[..., 1:]).any()


def test_rearrange_moves_the_elements_once(spy):
    pytest.importorskip("einops")
    from ttlg._functions import rearrange as _rearrange

    moved = spy(_rearrange, "transpose", lambda *args, **options: 1)
    x = random_array((6, 8, 5), "f4")[::-1, ::2]
    result = ttlg.rearrange(x, "(a b) c d -> d (b c) a", b=3)
    assert len(moved) == 1
    assert result.base is None or result.base.base is None
    assert result.flags.c_contiguous
    ttlg.rearrange(x, "a b c -> a (b c)")
    assert len(moved) == 2


def test_rearrange_refuses():
    einops = pytest.importorskip("einops")
    floats, out = [X.astype("f8"), X.astype("f4")], np.zeros((1, 2), X.dtype)
    for x, pattern, options, error, message in (
        (X, "a b c -> c b a", {}, einops.EinopsError, "expected 3 dims"),
        (X, "a b -> a b c", {}, einops.EinopsError, "only on one side"),
        ([], "a b -> b a", {}, ValueError, "x is an empty list"),
        ([X, [1]], "a b c -> b a c", {}, TypeError, r"x\[1\] must be an array .* builtins.list"),
        (floats, "n a b -> b a n", {}, ValueError, r"x\[1\] is a ndarray .* dtype float32, but"),
        (X, "(a c) b -> b a c", {"c": X}, TypeError, "'c' must be an integer, not numpy.ndarray$"),
        (X, "a b -> b a", {"out": out}, ValueError, r"out has shape \(1, 2\), but the result has"),
        (X, "a b -> b a", {"out": 3}, TypeError, r"out must be an array .*pass a writable array"),
        (X, "a b -> b a", {"threads": 0}, ValueError, "threads must be from 1"),
    ):
        with pytest.raises(error, match=message):
            ttlg.rearrange(x, pattern, **options)
    assert not out.any()


@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
@pytest.mark.parametrize("pattern", ["n a b -> b n a", "n a b -> (n a) b", "n a b -> b (n a)"])
def test_rearrange_stacks_a_list(library, pattern):
    einops = pytest.importorskip("einops")
    module = pytest.importorskip(library)
    arrays = [module.asarray(random_array((4, 5), "f4").copy()) + i for i in range(3)]
    result = ttlg.rearrange(arrays, pattern)
    expected = einops.rearrange(arrays, pattern)
    assert type(result) is type(expected)
    assert bits(np.asarray(result)) == bits(np.asarray(expected))
    if library != "jax.numpy":
        out = module.zeros(expected.shape, dtype=expected.dtype)
        assert ttlg.rearrange(arrays, pattern, out=out) is out
        assert bits(np.asarray(out)) == bits(np.asarray(expected))


def test_rearrange_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "einops", None)
    with pytest.raises(ImportError, match="pip install einops"):
        ttlg.rearrange(X, "a b -> b a")


def every_view(shape, dtype):
    """Yield arrays of this shape with their axes in every order in memory, some of them apart."""
    itemsize = np.dtype(dtype).itemsize
    whole = np.zeros((*(2 * extent for extent in shape), itemsize), "u1")
    whole.flat = np.arange(whole.size) % 251
    base = whole.view(dtype)[..., 0]
    for step in (1, -2):
        x = base[(..., *(slice(None, None, step),) * len(shape))]
        x = x[(..., *map(slice, shape))]
        for order in itertools.permutations(range(len(shape))):
            yield x.transpose(order), base


@pytest.mark.parametrize("held", [1, 20, 1 << 20])
@pytest.mark.parametrize("dtype", ["u1", "V3", "f4"])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (3, 4), (5, 1), (0, 3), (4, 3, 3)])
def test_copyto_reverses_axes_in_place(shape, dtype, held, monkeypatch):
    monkeypatch.setattr(mirror, "_HELD_BYTES", held)
    for x, base in every_view(shape, dtype):
        for signs in itertools.product((1, -1), repeat=x.ndim):
            mirrored = x[(..., *(slice(None, None, sign) for sign in signs))]
            before = base.copy()
            expected = bits(mirrored)
            ttlg.copyto(x, mirrored)
            assert bits(x) == expected
            ttlg.copyto(x, mirrored)  # back, so that nothing else can have changed
            assert bits(base) == bits(before)


def test_copyto_reverses_large_arrays_in_place():
    image = random_array((700, 401, 3), "u1")
    for view in (image[..., ::-1], image[::-1], image[:, ::-1], image[::-1, ::-1, ::-1]):
        expected = view.copy()
        ttlg.copyto(image, view, threads=2)
        assert (image == expected).all()


def test_copyto_refuses_what_overlaps_itself_in_place():
    windows = np.lib.stride_tricks.as_strided(np.arange(5.0), (3, 3), (8, 8))
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    for dst, message in ((windows, "several elements"), (frozen, "read-only")):
        before = dst.copy()
        with pytest.raises(ValueError, match=message):
            ttlg.copyto(dst, dst[::-1])
        assert (dst == before).all()
