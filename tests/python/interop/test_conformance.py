"""What is the same for arrays of every kind: results, outputs, axes, and what is refused."""

import itertools
import mmap
from array import array as python_array

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import ttlg

from ..arrays import bits
from .kinds import DTYPES, KINDS, Namespace, WithInterface, kinds, random_of

AXES = (2, 0, 1)

allocating = kinds(lambda kind: kind.allocates)
borrowing = kinds(lambda kind: kind.writable and kind.borrows)
into_any = kinds(lambda kind: kind.writable and kind.borrows, "into")
of_any = kinds(lambda kind: kind.plans, "of")


def check(kind, result, x, expected):
    """Compare what is new with an ndarray of the bits that it must have."""
    assert type(result) is (kind.result or type(x))
    assert result.dtype == getattr(x, "dtype", kind.read(x).dtype)
    array = kind.read(result)  # which a tensor refuses that is elsewhere or requires grad
    assert array.shape == expected.shape
    assert array.flags.c_contiguous
    assert bits(array) == bits(expected)


def functions(kind, x):
    """List functions that make arrays of three axes by the axes 2, 0, 1."""
    yield lambda x: ttlg.transpose(x, AXES)
    yield lambda x: ttlg.transpose(x, (-1, 0, -2), threads=1)
    yield lambda x: ttlg.permute_dims(x, AXES)
    yield lambda x: ttlg.permute(x, *AXES)
    yield lambda x: ttlg.moveaxis(x, 2, 0)
    yield lambda x: ttlg.swapaxes(ttlg.swapaxes(x, 1, 2), 0, -2)
    if kind.plans:
        yield lambda x: ttlg.plan_for(x, AXES)(x)
        if kind.read(x).flags.c_contiguous:
            dtype = getattr(x, "dtype", kind.read(x).dtype)
            yield lambda x: ttlg.plan((5, 3, 7), AXES, dtype)(x)


EVERY_DTYPE = [
    pytest.param(kind, name, id=f"{key}-{name}")
    for key, kind in KINDS.items()
    for name in kind.dtypes
]


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental:UserWarning")
@pytest.mark.parametrize(("kind", "name"), EVERY_DTYPE)
def test_every_dtype(kind, name):
    array = kind.random((5, 3, 7), name)
    x, expected = kind.make(array.copy(), name), array.transpose(AXES)
    if kind.allocates:
        calls, before = list(functions(kind, x)), Namespace.allocated
        for result in kind.call(lambda x: [call(x) for call in calls], x):
            check(kind, result, x, expected)
        assert kind is not KINDS["namespace"] or Namespace.allocated == before + len(calls) + 1
    assert bits(kind.read(x)) == bits(array)
    if kind.writable:
        before = Namespace.allocated
        out = kind.make(np.zeros(expected.shape, array.dtype), name)
        for call in (
            lambda: ttlg.transpose(x, AXES, out=out),
            lambda: ttlg.plan_for(x, AXES)(x, out),
        ):
            kind.read(out)[...] = 0
            assert call() is out
            assert bits(kind.read(out)) == bits(expected)
        kind.read(out)[...] = 0
        ttlg.copyto(out, kind.make(np.array(expected, order="F"), name))
        assert bits(kind.read(out)) == bits(expected)
        assert Namespace.allocated == before
    if kind.borrows and kind.orders:
        given = kind.make(array.transpose(1, 2, 0), name)
        check(kind, ttlg.ascontiguousarray(given), given, array.transpose(1, 2, 0))
        result = ttlg.transpose_inplace(x)
        assert np.shares_memory(kind.read(result), kind.read(x))
        check(kind, result, x, array.T)


@allocating
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0), (2, 0, 3), (1, 5, 1), (1, 1, 1, 1)])
def test_empty_and_unit_axes(kind, shape):
    array = kind.random(shape, "float32")
    x = kind.make(array, "float32")
    check(kind, kind.call(ttlg.transpose, x), x, array.T)


@allocating
@pytest.mark.parametrize("axes", [None, (0, 1, 2), (-1, 0, -2), [1, 2, 0], np.array([2, 1, 0])])
def test_axes(kind, axes):
    array = kind.random((3, 4, 5), "float32")
    x = kind.make(array, "float32")
    check(kind, kind.call(lambda x: ttlg.transpose(x, axes), x), x, array.transpose(axes))


@kinds(lambda kind: kind is not KINDS["xarray"])  # whose axes have names
@pytest.mark.parametrize("axes", [(0,), (0, 0), (0, 7), (0, 1.5), "01", 3, (None, 0)], ids=str)
def test_wrong_axes_are_told_as_for_ndarrays(kind, axes):
    x = kind.make(np.ones((2, 2), "f4"), "float32")
    with pytest.raises((TypeError, ValueError)) as expected:
        ttlg.transpose(np.ones((2, 2)), axes, out=np.ones((2, 2)))
    out = None if kind.allocates else np.ones((2, 2), "f4")
    with pytest.raises(expected.type) as told:
        kind.call(lambda x: ttlg.transpose(x, axes, out=out), x)
    assert str(told.value) == str(expected.value)


@kinds(lambda kind: kind.borrows)
@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[1:, 2:, 1:],
        lambda x: x[:, ::2, ::3],
        lambda x: x[1:, 2:3, :],
        lambda x: x[2],
        lambda x: x.transpose(2, 1, 0),
        lambda x: np.moveaxis(x, 0, -1)[None, :, None],
        lambda x: as_strided(x, x.shape, (x.strides[0], 0, x.strides[2])),
        lambda x: sliding_window_view(x, 3, 2, writeable=True),
        lambda x: x[:, ::-1, ::-2],
    ],
    ids=[
        *("offset", "stepped", "cut", "row", "transposed", "unsqueezed", "repeated", "windows"),
        "backwards",
    ],
)
def test_views(kind, view):
    array = view(kind.random((4, 5, 6), "float32"))
    if kind is KINDS["torch"] and min(array.strides) < 0:
        pytest.skip("PyTorch has no negative strides")
    x = kind.make(array, "float32")
    if kind.allocates:
        check(kind, ttlg.transpose(x), x, array.T)
    else:
        assert bits(ttlg.transpose(x, out=np.zeros(array.T.shape, "f4"))) == bits(array.T)
        assert x.released_once


@borrowing
@pytest.mark.parametrize(
    ("shape", "view"),
    [
        ((6, 5, 4), lambda x: x),
        ((4, 5, 6), lambda x: x.transpose(2, 1, 0)),
        ((7, 5, 10), lambda x: x[1:, :, 1:9:2]),
        ((6, 10, 4), lambda x: x[:, 1::2, :]),
    ],
    ids=["contiguous", "permuted", "strided", "stepped"],
)
def test_out_keeps_what_lies_between_its_elements(kind, shape, view):
    array = kind.random((4, 5, 6), "float32")
    whole = np.full(shape, 7, "f4")
    expected = whole.copy()
    view(expected)[...] = array.view("f4").T
    out = kind.make(view(whole), "float32")
    assert ttlg.transpose(kind.make(array, "float32"), out=out) is out
    assert bits(whole) == bits(expected)


@kinds(lambda kind: kind.plans and (kind.orders or not kind.writable))
def test_copyto_broadcasts(kind):
    array = kind.random((3, 5), "float32")
    out = np.empty((4, 3, 5), "f4")
    ttlg.copyto(out, kind.make(array, "float32"))
    assert bits(out) == bits(np.broadcast_to(array, out.shape))


@kinds(lambda kind: kind.borrows and kind.allocates and kind.plans)
@pytest.mark.parametrize(
    ("shape", "strides", "order"),
    [
        ((2, 3), (12, 4), "C"),
        ((2, 3), (4, 8), "F"),
        ((2, 3, 4), (48, 16, 4), "C"),
        ((2, 3, 4), (4, 8, 24), "F"),
        ((6,), (4,), "CF"),
        ((), (), "CF"),
        ((1, 3), (400, 4), "CF"),
        ((0, 3), (400, 40), "CF"),
        ((2, 3), (24, 8), ""),
    ],
)
def test_orders(kind, shape, strides, order):
    """Arrays in order are returned as they are."""
    array = as_strided(random_of((200,), "float32"), shape, strides)
    x, before = kind.make(array, "float32"), bits(array)
    for letter, function in {"C": ttlg.ascontiguousarray, "F": ttlg.asfortranarray}.items():
        is_there = letter in order
        if not (is_there or letter == "C" or kind.orders):
            continue
        calls = [(function, is_there)]
        if kind.orders:
            calls.append((lambda x, letter=letter: ttlg.asorder(x, letter), is_there))
            if order:  # without gaps
                inplace = lambda x, letter=letter: ttlg.asorder(x, letter, inplace=True)
                calls.append((inplace, True))
        for call, shares in calls:
            given = kind.make(array.copy("K"), "float32") if order else x
            result = call(given)
            assert (result is given) == is_there
            shared = np.shares_memory(kind.read(result), kind.read(given))
            assert shared == (shares and array.size > 0)
            assert kind.read(result).flags[f"{letter}_CONTIGUOUS"]
            assert bits(kind.read(result)) == before


@kinds(lambda kind: kind.refuses_writes)
def test_what_is_read_only_takes_no_result(kind):
    array = kind.random((6, 4), "float32")
    array.flags.writeable = False
    out, x = kind.make(array, "float32"), np.zeros((4, 6), "f4")
    for call in (
        lambda: ttlg.transpose(x, out=out),
        lambda: ttlg.plan((4, 6))(x, out),
        lambda: ttlg.copyto(out, x.T),
    ):
        with pytest.raises(ValueError, match=r"(out|dst) .*read-only; pass a writable array"):
            call()
    assert bits(kind.read(out)) == bits(array)
    if kind.allocates:
        check(kind, ttlg.transpose(out), out, array.T)
    else:
        assert bits(ttlg.transpose(out, out=np.zeros((4, 6), "f4"))) == bits(array.T)


@borrowing
def test_elements_at_one_place_take_no_result(kind):
    memory = np.zeros(2, "f4")
    out = kind.make(as_strided(memory, (3, 2), (0, 4)), "float32")
    message = r"shape \(3, 2\) and byte strides \(0, 4\) .*several elements at one place"
    with pytest.raises(ValueError, match=message):
        ttlg.transpose(np.ones((2, 3), "f4"), out=out)
    assert not memory.any()


@into_any
@of_any
def test_any_library_into_any_other(of, into):
    for name in DTYPES:
        if name in of.dtypes and name in into.dtypes:
            array = random_of((5, 3, 7), name)
            written = np.zeros((7, 5, 3), array.dtype)
            out = into.make(written, name)
            x = of.make(array, name)
            assert ttlg.transpose(x, AXES, out=out) is out
            assert bits(written) == bits(array.transpose(AXES))
            target = np.zeros((5, 3, 7), array.dtype, "F")
            ttlg.copyto(into.make(target, name), x)
            assert bits(target) == bits(array)


PAIRS = [("float16", "bfloat16"), ("float8_e4m3fn", "float8_e5m2"), ("bool", "uint8")]
PAIRS += [("int32", "float32")]


@into_any
@of_any
def test_other_dtypes_of_the_same_size_are_refused(of, into):
    for name, other in (pair for both in PAIRS for pair in itertools.permutations(both)):
        if name in of.dtypes and other in into.dtypes:
            x = of.make(random_of((4, 6), name), name)
            written = random_of((6, 4), other, seed=1)
            before = bits(written)
            with pytest.raises(TypeError, match=f"out has dtype {other}, but x has {name}"):
                ttlg.transpose(x, out=into.make(written, other))
            assert bits(written) == before


@into_any
@kinds(lambda kind: kind.borrows and kind.writable, "of")
def test_overlap_is_seen_across_libraries(of, into):
    array = np.arange(36, dtype=np.int32).reshape(6, 6)
    for x, out in ((array, array), (array[:3, :2], array[1:3, 1:4]), (array[:2], array.T[:, 1:3])):
        with pytest.raises(ValueError, match="overlaps"):
            ttlg.transpose(of.make(x, "int32"), out=into.make(out, "int32"))
    assert np.array_equal(array, np.arange(36).reshape(6, 6))
    # Neighbours in one buffer that share no element.
    ttlg.transpose(of.make(array[:3, :3], "int32"), out=into.make(array[3:, 3:], "int32"))
    assert np.array_equal(array[3:, 3:], array[:3, :3].T)


def test_buffers_of_one_dimension_and_of_objects():
    for given in (python_array("d", [1, 2, 3]), bytearray(b"abc"), mmap.mmap(-1, 10)):
        assert bits(ttlg.transpose(given)) == bits(np.asarray(given))
    with pytest.raises(TypeError, match="x has dtype object"):
        ttlg.transpose(WithInterface(np.array([None, 1])))
