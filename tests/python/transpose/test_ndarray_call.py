"""The fast path for plain ndarrays does what the slow path does, and leaves it the rest."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

import ttlg
from ttlg import _core

from ..arrays import bits, problems, random_array, random_raw
from .test_errors import AXES

X = random_array((4, 6, 8), "<f4")


class Sub(np.ndarray):
    pass


def outcome(call):
    """Return what a call returns or raises, in a form that compares."""
    try:
        y = call()
    except (TypeError, ValueError, BufferError) as error:
        return type(error), str(error)
    return type(y), y.dtype, y.shape, y.strides, y.flags.owndata, y.flags.writeable, bits(y)


def both_paths(monkeypatch, call):
    """Return the outcome of a call as it is, and with the fast paths closed."""
    first = outcome(call)
    with monkeypatch.context() as closed:
        closed.setattr(_core, "transpose_ndarray", lambda *_: None)
        closed.setattr(_core, "run_ndarray", lambda *_: None)
        return first, outcome(call)


def read_only(x):
    x.flags.writeable = False
    return x


RECORD = np.dtype({"names": ["a", "b"], "formats": ["<i2", "<f8"], "offsets": [1, 5]})

PLAIN = {
    "contiguous": X,
    "transposed": X.transpose(1, 2, 0),
    "backwards": X[::-1, :, ::-1],
    "stepped": X[::2, 1::3],
    "broadcast": np.broadcast_to(X[:, :1], X.shape),
    "read-only": read_only(X.copy()),
    "empty": X[:, :0],
    "0-d": X[0, 0, 0, ...],
    "1-d": X[0, 0],
    "unaligned": np.ndarray((4, 6), "<f8", random_raw(200), 3),
    "big-endian": random_array((4, 6), ">f8"),
    "structure": random_array((4, 6), RECORD),
    "field": random_array((4, 6), RECORD)["b"],
    "text": random_array((4, 6), "U3"),
    "date": random_array((4, 6), "M8[ms]"),
    "bool": random_array((4, 6), "?"),
    "64 axes": np.ones((1,) * 62 + (2, 3), "<i2"),
    "large": random_array((300, 400), "<f4"),
}
OTHER = {
    "subclass": X.view(Sub),
    "matrix": X[0].view(np.matrix),
    "masked": np.ma.masked_less(X[0], 0),
    "record array": random_array((4, 6), RECORD).view(np.recarray),
    "objects": np.array([[None, "a"], [1, 2.0]], object),
    "objects in a structure": np.zeros((2, 3), [("a", "O"), ("b", "<i4")]),
    "elements of no bytes": np.ndarray((2, 3), "S0"),
    "strides beyond 64 bits": as_strided(X, (2, 3), (1 << 62, 1 << 62)),
    "list": [[1, 2], [3, 4]],
    "scalar": np.float32(1),
    "nothing": None,
}


@pytest.mark.parametrize("kind", PLAIN)
def test_plain_ndarrays_take_the_fast_path(monkeypatch, kind):
    x = PLAIN[kind]
    assert _core.transpose_ndarray(x, None, None, None) is not None
    fast, slow = both_paths(monkeypatch, lambda: ttlg.transpose(x))
    assert fast == slow
    assert fast[-1] == bits(x.T)
    plan = ttlg.plan(x.shape, None, x.dtype, strides=x.strides)
    assert _core.run_ndarray(plan._compiled, x, None) is not None
    assert both_paths(monkeypatch, lambda: plan(x)) == (fast, fast)
    out = np.zeros(x.T.shape, x.dtype)
    assert _core.transpose_ndarray(x, None, out, None) is out
    assert bits(out) == bits(x.T)


@pytest.mark.parametrize("kind", OTHER)
def test_the_rest_takes_the_slow_path(monkeypatch, kind):
    x = OTHER[kind]
    assert _core.transpose_ndarray(x, None, None, None) is None
    fast, slow = both_paths(monkeypatch, lambda: ttlg.transpose(x))
    assert fast == slow
    plan = ttlg.plan((2, 3))
    assert _core.run_ndarray(plan._compiled, x, None) is None
    fast, slow = both_paths(monkeypatch, lambda: plan(x))
    assert fast == slow


@pytest.mark.parametrize("axes", [None, (2, 0, 1), [2, 0, 1], (-1, 0, -2), [-1, -3, 1]], ids=repr)
def test_axes_of_the_fast_path(axes):
    expected = X.transpose(axes)
    assert bits(_core.transpose_ndarray(X, axes, None, None)) == bits(expected)


@pytest.mark.parametrize(
    "axes",
    [
        *(axes for axes, *_ in AXES),
        *((0, 1, -(1 << 70)), (0, 1, (1 << 64) + 2), (np.int64(2), 0, 1), (2, False, True)),
        *(b"\x00\x01\x02", np.array([2, 0, 1]), range(3), ...),
    ],
    ids=repr,
)
def test_other_axes_are_left_to_the_slow_path(monkeypatch, axes):
    assert _core.transpose_ndarray(X, axes, None, None) is None
    fast, slow = both_paths(monkeypatch, lambda: ttlg.transpose(X, axes))
    assert fast == slow


def test_an_iterator_of_axes_is_not_used_up():
    assert bits(ttlg.transpose(X, iter((2, 0, 1)))) == bits(X.transpose(2, 0, 1))


@pytest.mark.parametrize("threads", [1, 2, 1024, 0, -1, 1025, 1 << 70, 1.5, "2", np.int64(1), True])
def test_threads_of_both_paths(monkeypatch, threads):
    is_fast = _core.transpose_ndarray(X, None, None, threads) is not None
    assert is_fast == (hasattr(threads, "__index__") and 1 <= threads <= 1024)
    fast, slow = both_paths(monkeypatch, lambda: ttlg.transpose(X, threads=threads))
    assert fast == slow


def zeros(shape=(6, 4), dtype="<f4", **layout):
    return np.zeros(shape, dtype, **layout)


Y = random_array((4, 6), "<f4")
HALVES = random_array((48,), "<f4")
PAIRS = random_array((4, 6, 2), "<f4")

# Input, output of its axes reversed, whether the fast path takes them.
OUTPUTS = {
    "new": (Y, zeros(), True),
    "Fortran order": (Y, zeros(order="F"), True),
    "stepped and backwards": (Y, zeros((12, 8))[::-2, ::2], True),
    "the bytes beside": (HALVES[:24].reshape(4, 6), HALVES[24:].reshape(6, 4), True),
    "empty itself": (Y[:0], Y[:0].T, True),
    "meshed": (PAIRS[..., 0], PAIRS[..., 1].T, False),
    "an equal dtype": (PLAIN["structure"], zeros(dtype=np.dtype(RECORD.fields)), False),
    "other shape": (Y, zeros((4, 6)), False),
    "other rank": (Y, zeros(24), False),
    "other dtype": (Y, zeros(dtype="<i4"), False),
    "other byte order": (Y, zeros(dtype=">f4"), False),
    "read-only": (Y, read_only(zeros()), False),
    "broadcast": (Y, as_strided(zeros((6, 4)), (6, 4), (0, 4)), False),
    "itself": (Y, Y.T, False),
    "overlapping": (HALVES[:24].reshape(4, 6), HALVES[23:47].reshape(6, 4), False),
    "subclass": (Y, zeros().view(Sub), False),
    "list": (Y, [[0] * 4] * 6, False),
}


@pytest.mark.parametrize("kind", OUTPUTS)
def test_outputs_of_both_paths(monkeypatch, kind):
    x, out, is_fast = OUTPUTS[kind]
    source, before = bits(x), bits(np.asarray(out))
    taken = _core.transpose_ndarray(x, None, out, None)
    assert taken is (out if is_fast else None)
    assert bits(np.asarray(out)) == (bits(x.T) if is_fast else before)
    plan = ttlg.plan(x.shape, None, x.dtype, strides=x.strides)
    for call in (lambda: ttlg.transpose(x, out=out), lambda: plan(x, out)):
        fast, slow = both_paths(monkeypatch, call)
        assert fast == slow
        if fast[0] is np.ndarray:
            assert fast[-1] == bits(x.T)
            assert call() is out
        assert bits(x) == source


def strided_plan():
    data = json.loads(ttlg.plan((4, 6), kernel="reference").to_json())
    return ttlg.Plan.from_json(json.dumps(data | {"out_byte_strides": [-32, 8]}))


@pytest.mark.parametrize(
    ("plan", "x", "out"),
    [
        (ttlg.plan((4, 6)), Y.reshape(6, 4), None),
        (ttlg.plan((4, 6)), zeros().T, None),
        (ttlg.plan((1, 1)), zeros((1, 1), "<f8"), None),
        (ttlg.plan((1, 1)), zeros((1, 1), "<f8"), zeros((1, 1), "<f8")),
        (strided_plan(), Y, None),
    ],
)
def test_plans_for_another_layout(monkeypatch, plan, x, out):
    assert _core.run_ndarray(plan._compiled, x, out) is None
    fast, slow = both_paths(monkeypatch, lambda: plan(x, out))
    assert fast == slow
    assert fast[0] is ValueError


def test_a_plan_for_a_strided_output():
    out = zeros((6, 8))[::-1, ::2]
    assert _core.run_ndarray(strided_plan()._compiled, Y, out) is out
    assert bits(out) == bits(Y.T)


@given(problems(), st.data())
def test_both_paths_agree(problem, data):
    layout, axes = problem
    x = layout.of(random_raw(layout.count))
    spelled = data.draw(st.sampled_from([tuple, list]))(axes)
    fast = _core.transpose_ndarray(x, spelled, None, None)
    assert fast is not None
    with pytest.MonkeyPatch.context() as closed:
        closed.setattr(_core, "transpose_ndarray", lambda *_: None)
        assert outcome(lambda: fast) == outcome(lambda: ttlg.transpose(x, axes))


def test_both_paths_share_one_plan(monkeypatch):
    ttlg.cache_clear()
    out = np.empty((8, 6, 4), "<f4")[::-1]
    for call in (lambda: ttlg.transpose(X, threads=3), lambda: ttlg.transpose(X, out=out)):
        before = ttlg.cache_info()
        both_paths(monkeypatch, call)
        assert ttlg.cache_info() == before._replace(
            hits=before.hits + 1, misses=before.misses + 1, currsize=before.currsize + 1
        )


def test_the_number_of_threads_is_read_at_every_call():
    ttlg.cache_clear()
    for threads in (1, 2, 1, 2):
        ttlg.set_num_threads(threads)
        ttlg.transpose(X)
    assert ttlg.cache_info()[:2] == (2, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ttlg.transpose(),
        lambda: ttlg.transpose(X, None, None),
        lambda: ttlg.transpose(X, axis=(2, 0, 1)),
        lambda: ttlg.transpose(X, (2, 0, 1), axes=(2, 0, 1)),
        lambda: _core.transpose_ndarray(X, None, None),
        lambda: _core.run_ndarray(),
    ],
)
def test_wrong_keywords_and_counts(call):
    with pytest.raises(TypeError, match="argument"):
        call()


def test_what_is_no_plan_is_not_run():
    assert _core.run_ndarray(None, X, None) is None
    assert _core.run_ndarray(ttlg.plan(X.shape), X, None) is None  # the core's plan is meant
    on_gpu = ttlg.plan(X.shape, device="tesla-k40c")
    assert _core.run_ndarray(on_gpu._compiled, X, None) is None
