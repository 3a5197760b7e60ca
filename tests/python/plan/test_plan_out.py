"""Plans that are called with an `out` of other strides than theirs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ttlg
from ttlg import _core

from ..arrays import layouts, problems, random_raw


@given(problems(max_rank=5), st.data())
def test_any_output(problem, data):
    layout, axes = problem
    x = layout.of(random_raw(layout.count))
    plan = ttlg.plan_for(x, axes, threads=2)
    target = data.draw(layouts(x.transpose(axes).shape, x.itemsize, broadcast=False))
    raw = random_raw(target.count, seed=1)
    expected = raw.copy()
    target.of(expected)[...] = x.transpose(axes)
    out = target.of(raw)
    assert plan(x, out) is out
    assert raw.tobytes() == expected.tobytes()


X = np.arange(48 * 40 * 64, dtype="<f4").reshape(48, 40, 64)


def spread(extra):
    """Return an output for X reversed, of rows with gaps between them or within."""
    gaps = {"rows": np.s_[:, :, :48], "elements": np.s_[:, :, ::2], "backwards": np.s_[::-1]}
    shapes = {"rows": (64, 40, 60), "elements": (64, 40, 96), "backwards": (64, 40, 48)}
    return np.zeros(shapes[extra], "<f4")[gaps[extra]]


@pytest.mark.parametrize("extra", ["rows", "elements", "backwards"])
@pytest.mark.parametrize("kernel", [None, "tile", "shuffle", "strided_copy", "reference"])
def test_kernels(plans_asked_for, extra, kernel):
    plan = ttlg.plan_for(X, kernel=kernel, threads=2)
    out = spread(extra)
    asked = plans_asked_for("cpu_plan_for")
    assert plan(X, out) is out
    assert np.array_equal(out, X.T)
    used = asked[-1]
    planned = ttlg.plan_for(X, out=out, threads=2)
    if kernel is None:
        assert used == planned._compiled
    elif kernel not in {row[0] for row in asked[0].kernel_reports() if row[1]}:
        assert used.kernel == kernel
    else:
        assert used.kernel == planned.kernel == "strided_copy"


def test_a_plan_asks_for_its_threads_and_no_kernel_that_was_not_forced(spy):
    plan = ttlg.plan_for(X, threads=1)
    out = spread("elements")
    assert ttlg.plan_for(X, out=out, threads=1).kernel != plan.kernel
    asked = spy(_core, "cpu_plan_for", lambda _, *given: given[-2:])
    plan(X, out)
    assert asked == [(1, None)]


def test_it_is_planned_once():
    plan = ttlg.plan_for(X, threads=2)
    ttlg.cache_clear()
    out = spread("rows")
    for _ in range(3):
        plan(X, out)
    assert ttlg.cache_info()[:2] == (2, 1)


def test_a_contiguous_output_runs_the_very_plan(plans_asked_for):
    plan = ttlg.plan_for(X, kernel="strided_copy")
    asked = plans_asked_for("cpu_plan_for")
    for out in (np.zeros((64, 40, 48), "<f4"), np.zeros((64, 40, 48, 1), "<f4")[..., 0]):
        assert np.array_equal(plan(X, out), X.T)
    assert asked == []


def test_a_plan_for_a_strided_output_takes_a_contiguous_one():
    plan = ttlg.plan_for(X, out=spread("rows"))
    out = np.zeros((64, 40, 48), "<f4")
    assert np.array_equal(plan(X, out), X.T)
    with pytest.raises(ValueError, match=r"this plan is for out of byte strides \(9600, 240, 4\)"):
        plan(X)


def test_a_plan_shows_the_strides_of_its_output():
    assert "out_strides=(9600, 240, 4) " in repr(ttlg.plan_for(X, out=spread("rows")))
    assert "strides" not in repr(ttlg.plan_for(X))


def test_what_is_refused_writes_nothing():
    plan = ttlg.plan_for(X)
    overlapping = np.lib.stride_tricks.as_strided(
        np.zeros(64 + 40 + 48, "<f4"), (64, 40, 48), (4,) * 3
    )
    for x, out, message in (
        (X, np.zeros((64, 40, 40), "<f4"), "out has shape"),
        (X, overlapping, "may hold several elements at one place"),
        (X[::-1], spread("rows"), "this plan is for x of byte strides"),
        (X[:, :, :32], np.zeros((32, 40, 48), "<f4")[::-1], "this plan is for x of shape"),
    ):
        with pytest.raises(ValueError, match=message):
            plan(x, out)
        assert not out.any()
