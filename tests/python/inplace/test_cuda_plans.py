"""Plans in place for GPUs, made without one."""

import numpy as np
import pytest

import ttlg

from ..plan.test_plan import twins_of

H200 = "nvidia-h200"
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


def test_parts_of_elements_and_passes_are_told():
    large = plan((8, 2048, 32, 128), (0, 2, 1, 3), "float16")
    structures = plan((9_999_991, 7), dtype="float64")
    assert (kernels(large), kernels(structures)) == (["cells"], ["skinny"])
    assert "saved one of 64" in large.explain()
    assert ": 2 passes" in structures.explain()
    assert ", pieces of " in structures.explain()
    for p in (large, structures):
        assert 0 < p.workspace_bytes < p.nbytes / 60
        assert ttlg.Plan.from_json(p.to_json()) == p


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
