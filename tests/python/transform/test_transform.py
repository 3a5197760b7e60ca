"""ttlg.transform, bit for bit beside NumPy and ml_dtypes."""

import itertools

import numpy as np
import pytest

import ttlg

from . import oracle
from .oracle import TYPES, assert_same, dtype_of, hostile


@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("name", TYPES)
def test_every_pair_of_types_on_hostile_values(name, saturate):
    x = hostile(dtype_of(name))
    for result in TYPES:
        wanted = oracle.transform(x, dtype_of(result), saturate=saturate)
        if name == result:
            wanted = x
        assert_same(ttlg.transform(x, (0,), dtype=result, saturate=saturate), wanted)


@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("name", TYPES)
def test_every_pair_of_types_scaled_and_added(name, saturate):
    x = hostile(dtype_of(name))
    for result in TYPES:
        scale, offset = 0.37, -1.5
        wanted = oracle.transform(x, dtype_of(result), scale, offset, saturate=saturate)
        actual = ttlg.transform(
            x, (0,), dtype=result, scale=scale, offset=offset, saturate=saturate
        )
        assert_same(actual, wanted)


PAIRS = [("uint8", "float32"), ("float32", "uint8"), ("int16", "float16"), ("float64", "int32")]


def layouts(shape, dtype, seed):
    """Yield views of that shape, in every order of the axes in memory, reversed and with steps."""
    random = np.random.default_rng(seed)
    for number, order in enumerate(itertools.permutations(range(len(shape)))):
        steps = [(1, 1, -1, 2, -3)[k] for k in random.integers(0, 5, len(shape))]
        extents = [shape[axis] * abs(steps[axis]) for axis in order]
        values = hostile(dtype)
        large = np.resize(values[number % 5 :], int(np.prod(extents))).reshape(extents)
        view = large.transpose(np.argsort(order))
        yield view[tuple(slice(None, None, step) for step in steps)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("source", "result"), PAIRS)
def test_views_with_values_along_any_axis(source, result, seed):
    shape = [(3, 17, 40), (65, 3, 2, 9), (5, 6, 7, 8), (70, 33)][seed]
    random = np.random.default_rng(seed)
    for x in layouts(shape, dtype_of(source), seed):
        axes = tuple(random.permutation(x.ndim))
        axis = int(random.integers(x.ndim))
        scale = random.normal(size=x.shape[axis])
        offset = random.normal(size=x.shape[axis]) if seed % 2 else 3
        place = np.ones(x.ndim, int)
        place[axes.index(axis)] = -1
        moved = x.transpose(axes)
        options = {
            "scale": scale.reshape(place),
            "offset": np.reshape(offset, place if seed % 2 else ()),
        }
        wanted = oracle.transform(moved, dtype_of(result), **options)
        given = {"scale": scale, "offset": offset, "axis": axis - x.ndim * (seed % 2)}
        assert_same(ttlg.transform(x, axes, dtype=result, **given), wanted)
        for out in layouts(wanted.shape, dtype_of(result), seed):
            before = out.copy()
            beta = oracle.transform(moved, dtype_of(result), **options, beta=0.75, out=before)
            assert ttlg.transform(x, axes, **given, beta=0.75, out=out) is out
            assert_same(out, beta)


@pytest.mark.parametrize("result", ["complex64", "complex128", "float32"])
@pytest.mark.parametrize("source", ["complex64", "complex128", "int16"])
def test_complex_numbers_by_complex_numbers(source, result):
    x = np.resize(hostile(dtype_of(source)), (3, 1000))
    is_pair = source.startswith("complex") and result.startswith("complex")
    values = [2.5, [1, -2, 0.3]] + [1.5 - 2j, [1j, -2 + 1j, 0.25]] * is_pair
    for scale, offset, conj in itertools.product(values, values, [False, True]):
        along = np.ndim(scale) or np.ndim(offset)
        options = [
            np.reshape(value, (-1, 1)) if np.ndim(value) else value for value in (scale, offset)
        ]
        wanted = oracle.transform(x, dtype_of(result), *options, conj=conj)
        actual = ttlg.transform(
            x,
            (0, 1),
            dtype=result,
            scale=scale,
            offset=offset,
            conj=conj,
            axis=0 if along else None,
        )
        assert_same(actual, wanted)
    out = np.ones((3, 1000), dtype_of(result))
    beta = 0.5 - 1j if is_pair else 0.5
    wanted = oracle.transform(x, out.dtype, 2, 0, beta=np.asarray(beta), out=out)
    assert_same(ttlg.transform(x, (0, 1), scale=2, offset=0, beta=beta, out=out), wanted)


@pytest.mark.parametrize(
    "name", [name for name in TYPES if name != "bfloat16" and dtype_of(name).itemsize > 1]
)
def test_the_other_byte_order(name):
    x = hostile(dtype_of(name)).reshape(1, -1)
    other = x.byteswap().view(x.dtype.newbyteorder())
    moved = ttlg.transform(other)
    assert moved.dtype == x.dtype
    assert moved.tobytes() == x.T.tobytes()
    assert_same(ttlg.transform(other, dtype="f8"), oracle.transform(x.T, "f8"))
    assert_same(ttlg.transform(other, scale=2), oracle.transform(x.T, x.dtype, 2))


IMAGES = np.resize(hostile(np.dtype("u1")), (2, 4, 5, 3))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"scale": [1, 2, 3]}, ValueError, r"say by axis= along which axis of x, of shape \(2, 4"),
        ({"scale": [1, 2], "axis": 3}, ValueError, r"scale has 2 numbers, but x .* has 3 indices"),
        ({"scale": [[1], [2]], "axis": 0}, ValueError, r"one-dimensional, not of shape \(2, 1\)"),
        ({"offset": 1j}, TypeError, "offset is complex, but x and the result are not both"),
        ({"offset": "1"}, TypeError, "offset must be a number or an array of numbers, not '1'"),
        ({"scale": 1, "axis": 4}, ValueError, r"axis: axis 4 is out of range -4\.\.3"),
        ({"beta": 1}, ValueError, "beta= multiplies what out has: pass out="),
        ({"dtype": "M8[s]"}, TypeError, r"dtype= has dtype datetime64\[s\], which ttlg.transform"),
        ({"dtype": "uint64"}, TypeError, "view it as int64"),
        ({"dtype": "nothing"}, TypeError, "'nothing' is no dtype"),
        ({"out": np.zeros((3, 5, 4, 2), ">f4")}, TypeError, "pass out in the machine's byte order"),
        ({"out": np.zeros((3, 5, 4)), "dtype": "f8"}, ValueError, r"out has shape \(3, 5, 4\)"),
        ({"out": np.zeros((3, 5, 4, 2)), "dtype": "f4"}, TypeError, "leave dtype out"),
        ({"out": np.broadcast_to(np.zeros(()), (3, 5, 4, 2))}, ValueError, "read-only"),
        ({"axes": (0, 1)}, ValueError, r"axes \(0, 1\)"),
    ],
)
def test_refuses(options, error, message):
    before = options["out"].copy() if "out" in options else None
    with pytest.raises(error, match=message):
        ttlg.transform(IMAGES, **options)
    if before is not None:
        assert options["out"].tobytes() == before.tobytes()


def test_refuses_what_it_would_overwrite():
    x = np.zeros(30, np.float32)
    with pytest.raises(ValueError, match=r"out of shape \(10,\) overlaps x"):
        ttlg.transform(x[:10], (0,), scale=2, out=x[5:15])
    with pytest.raises(TypeError, match=r"dtype object"):
        ttlg.transform(np.array([None]), dtype="f4")


SAME_SIZES = [
    *(("float32", "int32"), ("int32", "float32"), (">f4", "float32"), ("float64", "int64")),
    *(
        ("float16", "bfloat16"),
        ("uint8", "int8"),
        ("complex64", "complex64"),
        ("float64", "float64"),
    ),
]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("source", "result"), SAME_SIZES)
def test_elements_stay_where_they_are(source, result, threads):
    for x in layouts((70, 3, 90), np.dtype(dtype_of(source)), 5):
        order = (1, 2, 0)
        out = x.view(dtype_of(result)).transpose(order)
        scale = np.array([0.5, -2, 3])
        options = {"dtype": dtype_of(result), "conj": True}
        wanted = oracle.transform(
            x.transpose(order), scale=scale[:, None, None], offset=7, **options
        )
        done = ttlg.transform(
            x, order, scale=scale, offset=7, axis=1, out=out, threads=threads, conj=True
        )
        assert done is out
        assert_same(out, wanted)


def test_an_output_between_other_bytes():
    records = np.ones(40, [("a", "u1"), ("b", "f4"), ("c", "u2")])
    x = np.arange(40, dtype=np.int16)
    wanted = oracle.transform(x, "f4", 0.3, beta=2, out=records["b"])
    assert ttlg.transform(x, (0,), scale=0.3, beta=2, out=records["b"]) is not None
    assert_same(np.ascontiguousarray(records["b"]), wanted)
    assert (records["a"] == 1).all()
    assert (records["c"] == 1).all()


def test_moves_bits_where_nothing_is_computed():
    x = hostile(np.dtype("f4"))
    assert ttlg.transform(x, (0,)).tobytes() == x.tobytes()
    out = np.empty_like(x)
    assert ttlg.transform(x, (0,), conj=True, out=out) is out
    assert out.tobytes() == x.tobytes()


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1, 1, 1)])
def test_small_arrays(shape):
    x = np.ones(shape, np.uint8)
    assert_same(ttlg.transform(x, dtype="f4", scale=0.1), oracle.transform(x.T, "f4", 0.1))


def test_an_axis_without_indices():
    x = np.ones((0, 3), np.uint8)
    options = {"dtype": "f4", "scale": np.ones(0), "offset": 1.0, "axis": 0}
    assert ttlg.transform(x, **options).shape == (3, 0)


def test_classes_of_numpy_stay():
    class Images(np.ndarray):
        pass

    result = ttlg.transform(IMAGES.view(Images), dtype="f2")
    assert type(result) is Images
    assert result.dtype == "f2"


def test_a_plan_is_kept():
    ttlg.cache_clear()
    for scale in (1.5, 2.5):
        ttlg.transform(IMAGES, dtype="f4", scale=scale)
    info = ttlg.cache_info()
    assert (info.hits, info.misses) == (1, 1)


def test_threads_agree():
    x = np.resize(hostile(np.dtype("i2")), (300, 1000, 3))
    scale = [0.1, 0.2, 0.3]
    wanted = oracle.transform(x.transpose(2, 0, 1), "f4", np.reshape(scale, (3, 1, 1)))
    for threads in (1, 2, 5):
        result = ttlg.transform(x, (2, 0, 1), dtype="f4", scale=scale, axis=2, threads=threads)
        assert_same(result, wanted)
