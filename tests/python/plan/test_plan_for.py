"""Plans for arrays at hand, for strides in two units, and what is refused for what it is not."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ttlg
from ttlg import _core

from ..arrays import bits, layouts, problems, random_array, random_raw


@given(problems())
def test_plan_for_is_the_plan_that_transpose_uses(problem):
    layout, axes = problem
    x = layout.of(random_raw(layout.count))
    plan = ttlg.plan_for(x, axes, threads=2)
    assert plan == ttlg.plan(x.shape, axes, x.dtype, strides=x.strides, threads=2)
    assert plan.dtype == ttlg.plan((), (), x.dtype).dtype
    before = ttlg.cache_info()
    assert bits(ttlg.transpose(x, axes, threads=2)) == bits(plan(x))
    assert ttlg.cache_info().misses == before.misses


@given(problems(max_rank=5), st.data())
def test_plan_for_an_output(problem, data):
    layout, axes = problem
    x = layout.of(random_raw(layout.count))
    target = data.draw(layouts(x.transpose(axes).shape, x.itemsize, broadcast=False))
    out = target.of(random_raw(target.count))
    plan = ttlg.plan_for(x, axes, out=out)
    assert plan.out_strides == out.strides
    before = ttlg.cache_info()
    assert ttlg.transpose(x, axes, out=out) is out
    assert ttlg.cache_info().misses == before.misses
    out[...] = np.zeros((), out.dtype)
    assert plan(x, out) is out
    assert bits(out) == bits(x.transpose(axes))


def test_plan_for_other_libraries():
    torch = pytest.importorskip("torch")
    x = torch.zeros(6, 8, 5, dtype=torch.bfloat16)[:, ::2]
    plan = ttlg.plan_for(x, (2, 0, 1))
    assert (plan.shape, plan.strides, plan.dtype) == ((6, 4, 5), (80, 20, 2), "bfloat16")
    assert plan == ttlg.plan(x.shape, (2, 0, 1), x.dtype, element_strides=x.stride())
    assert torch.equal(plan(x), x.permute(2, 0, 1))


def test_plan_for_reverses_axes_and_forces_kernels():
    x = random_array((64, 30), "<f4")
    assert ttlg.plan_for(x).axes == (1, 0)
    assert ttlg.plan_for(x, kernel="strided_copy").kernel == "strided_copy"
    assert ttlg.plan_for(x, kernel="strided_copy") == ttlg.plan((64, 30), kernel="strided_copy")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"x": (3, 4)}, TypeError, "x"),
        ({"axes": (0, 0)}, ValueError, "axis 0 appears twice"),
        ({"out": np.zeros((3, 4), "f4")}, ValueError, "out has shape"),
        ({"out": np.zeros((4, 3))}, TypeError, "out has dtype"),
        ({"kernel": "copy"}, ValueError, r"cannot plan shape \(3, 4\) by axes \(1, 0\): kernel"),
        ({"kernel": 3}, TypeError, "kernel must be a name, not 3"),
        ({"tune": "now"}, ValueError, "unknown tune 'now'"),
        ({"threads": 0}, ValueError, "threads must be from 1"),
    ],
    ids=repr,
)
def test_what_plan_for_refuses(arguments, error, message):
    with pytest.raises(error, match=message):
        ttlg.plan_for(**{"x": np.zeros((3, 4), "f4"), **arguments})


@pytest.mark.parametrize("shape", [(3, 4), (2,), (1, 1), ()])
def test_plan_of_an_array_names_plan_for(shape):
    for array in (np.zeros(shape), np.zeros(shape, "i8")):
        if array.dtype == "i8" and array.ndim == 1:
            continue  # a shape
        with pytest.raises(
            TypeError, match=r"not an array of shape .*, or call ttlg.plan_for\(arr"
        ):
            ttlg.plan(array)


def test_an_array_of_integers_is_a_shape():
    assert ttlg.plan(np.array([3, 4])) == ttlg.plan((3, 4))


@pytest.mark.parametrize("axes", [(0, 1, 2), (0,), (), (5, 6, 7)])
def test_wrong_numbers_of_axes(axes):
    with pytest.raises(ValueError, match=rf"shape \(3, 4\): name each of the 2 .*not {len(axes)}"):
        ttlg.plan((3, 4), axes)


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        ((3, 4), (4, 1)),
        ((3, 4), (1, 3)),
        ((3, 4), (6, 1)),  # of a slice
        ((3, 1, 4), (-4, 99, -1)),
        ((3, 4), (0, 1)),  # broadcast
        ((5,), (1,)),
    ],
)
def test_strides_in_elements_are_refused(shape, strides):
    with pytest.raises(ValueError, match=r"strides in elements, .* element_strides="):
        ttlg.plan(shape, strides=strides)
    assert ttlg.plan(shape, dtype="u1", strides=strides).strides == strides
    plan = ttlg.plan(shape, element_strides=strides)
    assert plan == ttlg.plan(shape, strides=[4 * step for step in strides])


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        ((3, 4), (16, 4)),
        ((3, 4), (0, 0)),
        ((3, 4), (5, 15)),  # of a packed structure's field
        ((3, 4), (1, 1)),  # sliding windows over bytes
        ((6, 4), (1, 4)),
        ((1, 1), (4, 1)),
        ((0, 4), (4, 1)),
    ],
)
def test_strides_that_may_be_bytes(shape, strides):
    assert ttlg.plan(shape, strides=strides).strides == strides


@pytest.mark.parametrize(
    ("strides", "error", "message"),
    [
        ({"strides": (16, 4), "element_strides": (4, 1)}, ValueError, "pass one"),
        ({"element_strides": (4,)}, ValueError, r"element_strides \(4,\) do not .*in elements"),
        ({"element_strides": (4.0, 1)}, TypeError, "element_strides must be a sequence of int"),
        ({"element_strides": (1 << 62, 1)}, ValueError, "64-bit"),
    ],
)
def test_wrong_element_strides(strides, error, message):
    with pytest.raises(error, match=message):
        ttlg.plan((3, 4), **strides)


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("torch.float32", "float32"),
        ("torch.bfloat16", "bfloat16"),
        ("torch.float8_e4m3fn", "float8_e4m3fn"),
        ("torch.complex64", "complex64"),
        ("bfloat16", "bfloat16"),
        (ml_dtypes.bfloat16, "bfloat16"),
        ("float32", "float32"),
        (float, "float64"),
        (np.dtype(">i4"), ">i4"),
        (">f4", ">f4"),
        (np.float16, "float16"),
        (np.dtype("M8[s]"), "datetime64[s]"),
        ("V5", "void40"),
    ],
)
def test_dtypes(dtype, name):
    assert ttlg.plan((2, 3), dtype=dtype).dtype == name


def test_names_of_torch_do_not_need_it(run_python):
    done = run_python(
        """
        import sys
        sys.modules["torch"] = None
        del sys.modules["torch"]
        import ttlg
        assert ttlg.plan((2, 3), dtype="torch.bfloat16").nbytes == 12
        assert ttlg.plan((2, 3), dtype="torch.int64").nbytes == 48
        assert "torch" not in sys.modules
        try:
            ttlg.plan((2, 3), dtype="torch.float")  # 4 bytes in PyTorch, 8 in NumPy
        except TypeError as error:
            print(error)
        """
    )
    assert done.stdout.startswith("'torch.float' is no dtype; pass one of NumPy's, PyTorch's")


def test_dtypes_of_torch():
    torch = pytest.importorskip("torch")
    for name in ("float32", "bfloat16", "bool", "complex32", "float8_e5m2", "uint16"):
        plan = ttlg.plan((2, 3), dtype=getattr(torch, name))
        assert plan == ttlg.plan((2, 3), dtype=f"torch.{name}")
        assert plan.nbytes == 6 * getattr(torch, name).itemsize
        assert plan.dtype == name


def test_dtypes_of_jax():
    numpy = pytest.importorskip("jax.numpy")
    for name in ("float32", "bfloat16", "int8", "float8_e4m3fn", "complex64"):
        assert ttlg.plan((2, 3), dtype=getattr(numpy, name)).dtype == name


@pytest.mark.parametrize("dtype", [None, "torch.nn", "torch.", np, np.zeros(3), "", (0, 1)])
def test_what_is_no_dtype(dtype):
    if dtype is np and np.lib.NumpyVersion(np.__version__) < "2.4.0":
        pytest.skip("this NumPy takes what has an attribute dtype for object, with a warning")
    with pytest.raises(TypeError, match=r"is no dtype; pass one of .* 'torch.float32'"):
        ttlg.plan((2, 3), dtype=dtype)


def test_devices_that_there_are(monkeypatch):
    def choices():
        with pytest.raises(ValueError, match="cannot plan for device 'gpu'") as caught:
            ttlg.plan((2, 3), device="gpu")
        return str(caught.value).partition("choose one of ")[2]

    monkeypatch.setattr(_core, "cuda_config", lambda: {"devices": []})
    models = "'nvidia-h100-80gb-hbm3', 'nvidia-h200', 'tesla-k40c'"
    models += ", or the path of a model's file, which ends in '.json'"
    assert choices() == f"'cpu', {models}"
    monkeypatch.setattr(_core, "cuda_config", lambda: {"devices": [{}, {}]})
    assert choices() == f"'cpu', 'cuda:0', 'cuda:1', {models}"
