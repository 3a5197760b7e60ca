"""Bad input raises the right exception, says what to do, and writes nothing."""

import collections
import functools
import re
import types

import numpy as np
import pytest

import ttlg

from ..arrays import random_array

X = random_array((2, 3, 4), "<f4")

AXES = [
    ((0, 1), ValueError, "name each of the 3 axes once, not 2"),
    ((0, 1, 2, 0), ValueError, "name each of the 3 axes once, not 4"),
    ((0, 1, 2, 3), ValueError, "name each of the 3 axes once, not 4"),
    ((0, 1, 1), ValueError, "axis 1 appears twice; name every axis once"),
    ((0, 1, -2), ValueError, "axis 1 appears twice"),
    ((0, 1, 3), ValueError, "axis 3 is out of range -3..2"),
    ((0, 1, -4), ValueError, "axis -4 is out of range -3..2"),
    ((0, 1, 1 << 70), ValueError, "out of range"),
    ((), ValueError, "name each of the 3 axes once, not 0"),
    ((0, 1, 2.0), TypeError, "2.0 is not an axis number"),
    ((0, 1, None), TypeError, "None is not an axis number"),
    (("0", "1", "2"), TypeError, "'0' is not an axis number"),
    (((0,), 1, 2), TypeError, "(0,) is not an axis number"),
    (np.array([2.0, 1.0, 0.0]), TypeError, "is not an axis number"),
    ("012", TypeError, "must be a sequence of 3 integers"),
    (2, TypeError, "must be a sequence of 3 integers"),
    (1.0, TypeError, "must be a sequence of 3 integers"),
    ((True, False, 2), TypeError, "True is not an axis number"),
    (
        {2, 0, 1},
        TypeError,
        "must be a sequence of 3 integers, not a set; write them in their order",
    ),
    (frozenset((2, 0, 1)), TypeError, "must be a sequence of 3 integers, not a frozenset"),
    ({2: 0, 0: 1, 1: 2}, TypeError, "must be a sequence of 3 integers, not a dict"),
    ({2: 0, 0: 1, 1: 2}.keys(), TypeError, "must be a sequence of 3 integers, not a dict_keys"),
    ({0: 2, 1: 0, 2: 1}.values(), TypeError, "must be a sequence of 3 integers, not a dict_values"),
    (types.MappingProxyType({0: 2, 1: 0, 2: 1}), TypeError, "not a mappingproxy"),
]


@pytest.mark.parametrize(("axes", "exception", "why"), AXES, ids=repr)
def test_axes(axes, exception, why):
    message = re.escape(f"axes {axes!r} do not fit shape (2, 3, 4): ") + ".*" + re.escape(why)
    out = np.zeros((4, 3, 2), "<f4")
    calls = [
        lambda: ttlg.transpose(X, axes),
        lambda: ttlg.transpose(X, axes, out=out),
        lambda: ttlg.permute_dims(X, axes),
        lambda: ttlg.transpose_inplace(X.copy(), axes),
        lambda: ttlg.plan((2, 3, 4), axes),
        lambda: ttlg.plan_for(X, axes),
        lambda: ttlg.predict_time((2, 3, 4), axes),
        lambda: ttlg.predict_times([((2, 3, 4), axes)]),
    ]
    for call in calls:
        with pytest.raises(exception, match=message):
            call()
    assert not out.any()


@pytest.mark.parametrize(
    "axes", [(2, 0, 1), [2, 0, 1], range(3), bytes((2, 0, 1)), collections.deque((2, 0, 1))]
)
def test_sequences_that_numpy_takes_as_axes(axes):
    np.testing.assert_array_equal(ttlg.transpose(X, axes), np.transpose(X, axes))


@pytest.mark.parametrize("shape", [{2, 3}, {2: 0, 3: 0}, {2: 0, 3: 0}.keys()])
def test_shapes_without_an_order(shape):
    flat = np.zeros(6)
    for call in (ttlg.plan, ttlg.predict_time, lambda x: ttlg.transpose(flat, (1, 0), shape=x)):
        with pytest.raises(TypeError, match="shape must be a sequence of integers, not"):
            call(shape)


def test_axes_whose_index_raises():
    class Odd:
        def __index__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ttlg.transpose(X, (0, 1, Odd()))


class Loads:
    """Is copied by NumPy, not viewed."""

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("no copy was asked for")


@pytest.mark.parametrize(
    "x", [[[1, 2]], (1, 2), None, "abc", b"abc", 3, 3.0, np.float64(1), object(), Loads()]
)
def test_what_is_no_array(x):
    kind = re.escape(type(x).__qualname__)
    # Of other objects NumPy makes an array of rank 0 with the object in it.
    hint = "pass one" if x is None or type(x) is object else r"make one with numpy\.asarray\(x\)"
    with pytest.raises(TypeError, match=rf"x must be an array .*{kind}; {hint}$"):
        ttlg.transpose(x)
    with pytest.raises(TypeError, match="x must be an array"):
        ttlg.plan((3,))(x)
    if x is not None:
        with pytest.raises(TypeError, match="out must be an array"):
            ttlg.transpose(X, out=x)


STRANGERS = [
    ("dask.array.core", "Array", "call ttlg.dask.transpose(x, axes), which stays lazy"),
    ("dask.delayed", "Delayed", "pass x.compute()"),
    (
        "scipy.sparse._csr",
        "csr_matrix",
        "call ttlg.sparse.transpose(x, axes), or pass x.toarray() if that fits into memory",
    ),
    (
        "sparse.numba_backend._coo.core",
        "COO",
        "call ttlg.sparse.transpose(x, axes), or pass x.todense() if that fits into memory",
    ),
    ("pandas.core.frame", "DataFrame", "pass x.to_numpy()"),
    ("h5py._hl.dataset", "Dataset", "pass x[...], which reads all of it, or a part of it"),
    ("zarr.core.array", "Array", "with ttlg.zarr.enable() Zarr moves what it reads by ttlg"),
    ("tensorflow.python.framework.ops", "EagerTensor", "pass x.numpy()"),
]


@pytest.mark.parametrize(("module", "name", "hint"), STRANGERS)
def test_arrays_of_other_libraries(module, name, hint):
    # As other libraries have them, which need not be installed.
    members = {"__module__": module, "shape": (2, 3), "reshape": lambda self: self}
    x = type(name, (), members)()
    derived = type("Derived", (type(x),), {"__module__": "mine"})()
    out = np.zeros((3, 2))
    calls = [
        ttlg.transpose,
        lambda x: ttlg.transpose(x, out=out),
        ttlg.transpose_inplace,
        ttlg.plan_for,
        ttlg.ascontiguousarray,
        ttlg.asfortranarray,
        ttlg.plan((2, 3)),
    ]
    for each in (x, derived):
        for call in calls:
            with pytest.raises(TypeError, match="x must be an array .*" + re.escape(hint)):
                call(each)
        for dst in (np.zeros((2, 3)), np.zeros((4, 2, 3))):
            text = re.escape(hint.replace("x.", "src.").replace("x[", "src[").replace("(x", "(src"))
            with pytest.raises(TypeError, match="src must be an array .*" + text):
                ttlg.copyto(dst, each)
        with pytest.raises(
            TypeError, match=r"dst must be an array .*pass a writable array of NumPy"
        ):
            ttlg.copyto(each, np.ones((2, 3)))
    assert not out.any()


def test_a_dask_array_is_not_loaded():
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    x = da.from_delayed(dask.delayed(lambda: 1 / 0)(), (2, 3), "f8")
    with pytest.raises(TypeError, match=r"ttlg\.dask\.transpose\(x, axes\)"):
        ttlg.transpose(x)


def test_a_sparse_matrix_is_told_what_to_call():
    sparse = pytest.importorskip("scipy.sparse")
    for x in (sparse.eye(3, format="csr"), sparse.coo_array(np.eye(3))):
        with pytest.raises(TypeError, match=r"ttlg\.sparse\.transpose\(x, axes\).*x\.toarray\(\)"):
            ttlg.transpose(x)
        assert ttlg.sparse.transpose(x, (1, 0)).format == x.format


def test_running_out_of_memory_is_an_error():
    # Rows without memory of their own: small for the input, beyond any machine for the result.
    x = np.broadcast_to(np.zeros(1, "u1"), (1 << 20, 1 << 40))
    with pytest.raises(MemoryError):
        ttlg.transpose(x)
    with pytest.raises(MemoryError):
        ttlg.plan(x.shape, None, "u1", strides=x.strides)(x)


@pytest.mark.parametrize(
    ("arguments", "exception", "message"),
    [
        ({"device": 0}, TypeError, "device must be a name or the path of .*, not 0"),
        ({"device": "abacus"}, ValueError, "cannot plan for device 'abacus'; choose one of 'cpu'"),
        ({"device": "cuda:-1"}, ValueError, "cannot plan for device 'cuda:-1'"),
        ({"device": "cuda:12345"}, ValueError, "cannot plan for device 'cuda:12345'"),
        ({"dtype": "banana"}, TypeError, "'banana' is no dtype; pass one of NumPy's"),
        ({"dtype": ...}, TypeError, "is no dtype"),
        ({"strides": (4,)}, ValueError, r"strides \(4,\) do not fit shape \(2, 3\): give one per"),
        ({"strides": ()}, ValueError, r"strides \(\) do not fit shape \(2, 3\)"),
        ({"strides": (4, 8, 4)}, ValueError, r"do not fit shape \(2, 3\)"),
        ({"strides": (4.0, 8)}, TypeError, r"strides must be a sequence of int.*\(4.0, 8\)"),
        ({"strides": (1 << 70, 8)}, ValueError, r"strides \(1180591620717411303424, 8\) .*64-bit"),
        ({"strides": (1 << 63, 8)}, ValueError, r"strides \(9223372036854775808, 8\) exceeds"),
        ({"strides": (-(1 << 63) - 1, 8)}, ValueError, r"strides \(-9223372036854775809, 8\) exc"),
        ({"shape": (-1, 3)}, ValueError, r"shape \(-1, 3\) has a negative extent"),
        ({"shape": (2.0, 3)}, TypeError, r"shape must be a sequence of integers, not \(2.0, 3\)"),
        ({"shape": 6}, TypeError, "shape must be a sequence of integers, not 6"),
        ({"shape": (1 << 70, 4)}, ValueError, r"shape \(1180591620717411303424, 4\) .*64-bit"),
        (
            {"shape": (1,) * 65, "axes": range(65)},
            ValueError,
            "do not fit shape .*: rank 65 exceeds the limit of 64",
        ),
    ],
    ids=repr,
)
def test_arguments_that_describe_a_problem(arguments, exception, message):
    for full in (None, False, True):
        function = ttlg.plan if full is None else functools.partial(ttlg.predict_time, full=full)
        with pytest.raises(exception, match=message):
            function(**{"shape": (2, 3), "axes": (1, 0), **arguments})


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"kernel": "nope"}, "unknown kernel 'nope'; choose one of 'copy', 'tile', 'shuffle',"),
        ({"kernel": "copy"}, "kernel 'copy' does not apply: it needs all modes fused"),
        ({"strides": (1 << 62, 1 << 62)}, "exceeds the 64-bit range"),
        ({"strides": (-(1 << 63), 4)}, "exceeds the 64-bit range"),
        ({"shape": (1 << 40, 1 << 40)}, "exceeds the 64-bit range"),
        ({"shape": (1 << 62, 4)}, "exceeds the 64-bit range"),
    ],
    ids=repr,
)
def test_what_cannot_be_planned(arguments, why):
    arguments = {"shape": (2, 3), "axes": (1, 0), **arguments}
    asked = f"cannot plan shape {arguments['shape']} by axes {tuple(arguments['axes'])}: "
    with pytest.raises(ValueError, match=re.escape(asked) + ".*" + re.escape(why)):
        ttlg.plan(**arguments)


def test_overflow_where_the_itemsize_tips_it():
    assert ttlg.plan((1 << 31, 1 << 31), (1, 0), "u1").extents == (1 << 31, 1 << 31)
    with pytest.raises(ValueError, match="64-bit"):
        ttlg.plan((1 << 31, 1 << 31), (1, 0), "<f8")


def test_plan_called_with_another_layout():
    plan = ttlg.plan((2, 3), (1, 0), "<f4")
    x = random_array((2, 3), "<f4")
    message = r"this plan is for x of .*; make one for this array with ttlg\.plan_for\(x, axes\)"
    for other in (x.T, x[::-1], x[..., None], x.astype("<f8")):
        with pytest.raises((TypeError, ValueError), match=message):
            plan(other)
    for out, exception in [
        (np.zeros((2, 3), "<f4"), ValueError),
        (np.zeros((3, 2), "<i4"), TypeError),
        (np.zeros((3, 2), ">f4"), TypeError),
        (x.reshape(3, 2), ValueError),
    ]:
        before = out.tobytes()
        with pytest.raises(exception, match="out"):
            plan(x, out)
        assert out.tobytes() == before
