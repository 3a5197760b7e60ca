"""Plans in place for GPUs, made without one."""

import itertools

import numpy as np
import pytest

import ttlg

from ..plan.test_plan import twins_of

H200 = "nvidia-h200"
SQUARES = tuple(f"square_{order}" for order in ("v1b", "v1", "v1r", "v2", "ip", "sg", "tw"))
CASES = [
    ((500, 500), (1, 0), "float32"),
    ((300, 40, 300), (2, 1, 0), "float64"),
    ((100, 100, 7), (1, 0, 2), "float32"),
    ((1000, 600), (1, 0), "float32"),
    ((64, 224, 224, 3), (0, 3, 1, 2), "uint8"),
    ((5, 6, 7, 8), (2, 0, 3, 1), "complex128"),
    ((), (), "u1"),
    ((0, 3), (1, 0), "f4"),
]


def plan(shape, axes=None, dtype="float32", device=H200, **options):
    return ttlg.plan(shape, axes, dtype, device=device, inplace=True, **options)


def kernels(p):
    return [step["kernel"] for step in p.parameters["steps"]]


@pytest.mark.parametrize(("shape", "axes", "dtype"), CASES, ids=str)
def test_a_plan_is_a_value(shape, axes, dtype):
    p = plan(shape, axes, dtype)
    assert p.device == H200
    assert p.schema is None
    assert p.threads is None
    assert p.gain is None
    assert p == plan(shape, axes, dtype)
    assert p != ttlg.plan(shape, axes, dtype, inplace=True)
    assert {twin.predicted_time for twin in twins_of(p)} == {p.predicted_time}
    assert f"device={H200!r}" in repr(p)
    assert H200 in p._repr_html_()
    assert ttlg.predict_time(shape, axes, dtype, device=H200, inplace=True) == p.predicted_time


@pytest.mark.parametrize(("shape", "axes", "dtype"), CASES[:6], ids=str)
def test_what_it_says_of_itself(shape, axes, dtype):
    p = plan(shape, axes, dtype)
    text = p.explain()
    assert p.kernel == " + ".join(kernels(p))
    assert f"kernel     {p.kernel}, in place" in text
    assert "by physical terms, uncalibrated: no hardware has fitted them" in text
    assert text.count("\n->") == 1
    best, *others = p.candidates()
    assert (best.kernel, best.parameters) == (p.kernel, p.parameters)
    assert all(best.seconds <= each.seconds for each in others)
    assert p.predicted_time >= 2 * p.nbytes / 5e12  # no GPU copies faster


def test_every_permutation_has_steps():
    for axes in itertools.permutations(range(4)):
        p = plan((6, 5, 4, 9), axes, "float64")
        assert bool(kernels(p)) == (axes != (0, 1, 2, 3))


@pytest.mark.parametrize("axes", [(1, 0, 2), (2, 1, 0), (0, 2, 1)])
def test_involutions_are_one_step(axes):
    # Gorawski and Lorek, section 7: T_xzy, T_zyx and T_yxz of a cube.
    p = plan((130, 130, 130), axes)
    assert kernels(p) == ["runs" if axes == (1, 0, 2) else "square_v1b"]
    assert p.workspace_bytes == 0


@pytest.mark.parametrize("kernel", SQUARES)
def test_kernels_of_square_matrices(kernel):
    p = plan((1000, 1000), kernel=kernel)
    assert kernels(p) == [kernel]
    with pytest.raises(ValueError, match=f"kernel '{kernel}' cannot carry out"):
        plan((1000, 999), kernel=kernel)


def test_large_elements_are_cells():
    p = plan((8, 2048, 32, 128), (0, 2, 1, 3), "float16")
    assert kernels(p) == ["cells"]
    assert 0 < p.workspace_bytes < p.nbytes / 60
    assert "saved one of 64" in p.explain()
    assert kernels(plan((7, 9, 64), (1, 0, 2), kernel="cells")) == ["cells"]


@pytest.mark.parametrize("structures", [10_000_000, 9_999_991])
@pytest.mark.parametrize("fields", [2, 7, 31])
def test_structures_take_two_passes(structures, fields):
    for shape in (structures, fields), (fields, structures):
        p = plan(shape, dtype="float64")
        assert kernels(p) == ["skinny"]
        assert p.workspace_bytes < p.nbytes / 60
        assert ": 2 passes" in p.explain()
        assert ", pieces of " in p.explain()
        assert ttlg.Plan.from_json(p.to_json()) == p


def test_longer_rows_go_by_pieces():
    p = plan((10_000_000, 40), dtype="complex128")
    assert kernels(p)[-1] == "cells"
    assert p.workspace_bytes < p.nbytes / 60


def test_more_fields_are_not_skinny():
    assert kernels(plan((1009, 31), kernel="skinny")) == ["skinny"]
    with pytest.raises(ValueError, match="kernel 'skinny' cannot carry out"):
        plan((1009, 32), kernel="skinny")


def test_c2r_and_r2c():
    # Catanzaro et al., section 5.2.
    assert kernels(plan((1000, 600))) == ["c2r"]
    assert kernels(plan((600, 1000))) == ["r2c"]
    assert kernels(plan((600, 1000), kernel="c2r")) == ["c2r"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"kernel": "tile"},
            "unknown kernel 'tile'; in place on a GPU, choose one of 'square_v1b'",
        ),
        ({"workspace": 0}, "workspace must be 1 byte or more"),
        ({"strides": (800, 8)}, "does not fill its memory in C or Fortran order"),
        ({"tune": "measure"}, "tune='measure' needs a GPU of this machine"),
        ({"threads": 2}, "threads= is for device 'cpu'"),
    ],
    ids=repr,
)
def test_what_cannot_be_planned(options, message):
    with pytest.raises(ValueError, match=message):
        plan((40, 50), dtype="float64", **options)


def test_it_is_for_its_device_alone():
    x = np.ones((50, 50), "float32")
    with pytest.raises(ValueError, match="this plan is for the device 'nvidia-h200'"):
        plan((50, 50))(x)
    with pytest.raises(ValueError, match="leave out= out"):
        plan((50, 50))(x, out=x)
    assert (x == 1).all()


def test_the_cache_keeps_plans_apart():
    ttlg.cache_clear()
    made = [plan((70, 70)), ttlg.plan((70, 70), inplace=True), ttlg.plan((70, 70), device=H200)]
    made += [plan((70, 70), kernel="square_ip"), plan((70, 70), device="tesla-k40c")]
    assert ttlg.cache_info().misses == len(made)
    assert plan((70, 70)) == made[0]
    assert ttlg.cache_info().hits == 1


@pytest.mark.parametrize("name", ["rows", "columns", "width", "between"])
def test_steps_that_do_not_fit_are_refused(name):
    p = plan((500, 500))
    text = p.to_json()
    wrong = text.replace(f'"{name}": ', f'"{name}": 1')
    assert wrong != text
    with pytest.raises(ValueError, match="do not carry the transposition out"):
        ttlg.Plan.from_json(wrong)
