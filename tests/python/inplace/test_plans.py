"""Plans in place: what they say of themselves holds, and what cannot be is refused."""

import itertools
import json
import math
import re

import numpy as np
import pytest

import ttlg
from ttlg import _core

from ..arrays import bits, random_array
from ..plan.test_plan import twins_of

KERNELS = _core.CPU_INPLACE_KERNELS


def plan(shape=(40, 50), axes=(1, 0), dtype="float64", **options):
    return ttlg.plan(shape, axes, dtype, inplace=True, **options)


def check(p, x):
    expected = x.transpose(p.axes).copy()
    result = p(x)
    assert result.ctypes.data == x.ctypes.data
    assert bits(result) == bits(expected)


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("order", "CF")
def test_calls_transpose_in_place(axes, order):
    x = np.asarray(random_array((30, 20, 14), "<f4"), order=order)
    p = plan(x.shape, axes, x.dtype, strides=x.strides)
    assert p == ttlg.plan_for(x, axes, inplace=True)
    result = np.empty(p.out_shape, x.dtype, order=order)
    assert p.out_strides == result.strides
    check(p, x)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_can_be_forced(kernel):
    shape = (300, 300) if kernel == "square" else (4096, 6)
    p = plan(shape, kernel=kernel)
    assert p.kernel == kernel
    check(p, random_array(shape, "<f8"))


def test_every_candidate_transposes():
    p = plan((12, 18, 20, 30), (3, 1, 0, 2), "<f8", threads=2)
    candidates = p.candidates()
    assert (p.kernel, p.parameters) == candidates[0][:2]
    assert p.predicted_time == candidates[0].seconds
    assert [each.seconds for each in candidates] == sorted(each.seconds for each in candidates)
    assert len({each.parameters["steps"][0]["kernel"] for each in candidates}) > 2
    for each in candidates:
        record = json.loads(p.to_json()) | {"kernel": each.kernel, "parameters": each.parameters}
        check(ttlg.Plan.from_json(json.dumps(record)), random_array(p.shape, "<f8"))


def test_no_sequence_of_steps_is_predicted_faster():
    """The search finds the least of all sequences of up to three steps."""
    shape, axes = (12, 40, 9), (2, 1, 0)
    best = plan(shape, axes, threads=1).predicted_time

    def least(order, steps):
        if order == axes:
            return 0.0
        if steps == 0:
            return float("inf")
        return min(
            plan(tuple(shape[i] for i in order), move, threads=1, workspace=2 << 20)
            .candidates()[0]
            .seconds
            + least(tuple(order[i] for i in move), steps - 1)
            for move in ((0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1))
        )

    assert best == pytest.approx(least((0, 1, 2), 3))


def test_a_plan_survives_json_and_pickle():
    p = plan((70, 80, 90), (2, 0, 1))
    for other in twins_of(p):
        assert (other.parameters, other.predicted_time) == (p.parameters, p.predicted_time)
        check(other, random_array(p.shape, "<f8"))
    assert p != plan((70, 80, 90), (2, 0, 1), threads=1, kernel="cells")
    assert p != ttlg.plan((70, 80, 90), (2, 0, 1), "float64")


@pytest.mark.parametrize(
    "change",
    [
        {"batch": 2},
        {"rows": 80},
        {"rows": -40, "batch": -1},
        {"rows": 1 << 62, "columns": 4},
        {"element_bytes": 0},
        {"kernel": "tile"},
        {"rows": 50, "columns": 40},
        {"kernel": "square", "width": 8},
        *({"kernel": "c2r", "width": width} for width in (51, 0, -1, 1 << 32)),
    ],
    ids=repr,
)
def test_json_that_is_no_plan(change):
    record = json.loads(plan().to_json())
    record["parameters"]["steps"][0] |= change
    with pytest.raises(ValueError, match=r"do not carry|unknown kernel"):
        ttlg.Plan.from_json(json.dumps(record))


def test_json_without_steps():
    record = json.loads(plan().to_json())
    for steps in ([], record["parameters"]["steps"] * 2):
        record["parameters"]["steps"] = steps
        with pytest.raises(ValueError, match="do not carry"):
            ttlg.Plan.from_json(json.dumps(record))


def test_facts():
    p = plan((500, 300), threads=1, workspace=10**5)
    assert p.threads == 1
    assert 0 < p.workspace_bytes <= 10**5 == p.parameters["workspace_limit"]
    assert p.gain is None
    assert p.schema is None
    assert p.device == "cpu"
    assert p.nbytes == 500 * 300 * 8
    expected = ttlg.plan((500, 300), None, "f8", inplace=True).predicted_time
    assert ttlg.predict_time((500, 300), None, "f8", inplace=True) == expected
    told = ttlg.predict_time((500, 300), None, "f8", inplace=True, threads=1, full=True)
    assert told.kernel == plan((500, 300), threads=1).kernel
    assert "inplace" in repr(p)
    assert f"{p.workspace_bytes} bytes" in p._repr_html_()


def test_explain_names_every_step():
    p = plan((40, 50, 60, 70), (3, 1, 0, 2), threads=1)
    text = p.explain()
    steps = p.parameters["steps"]
    assert len(steps) > 1
    for number, step in enumerate(steps, 1):
        assert f"\n {number}  {step['kernel']} " in text
    passes = sum(
        int(line.split(": ")[1].split()[0])
        for line in text.splitlines()
        if " pass" in line and line[1].isdigit()
    )
    assert f"in place: {passes} passes over memory" in text
    assert f"workspace  {p.workspace_bytes} bytes" in text
    assert text.count("\n->") == 1


@pytest.mark.parametrize("kernel", ["buffered", "c2r", "cells", "pieces"])
def test_explain_marks_a_forced_kernel_among_or_below_the_best(kernel):
    p = plan((12, 18, 20, 30), (1, 3, 0, 2), threads=1, kernel=kernel)
    rows = p.explain().partition("all ways:\n")[2].splitlines()
    (number,) = [number for number, row in enumerate(rows) if row.startswith("->")]
    assert len(rows) == max(5, number + 1)
    assert all(step["kernel"] in rows[number] for step in p.parameters["steps"])
    assert f"{p.workspace_bytes} bytes" in rows[number]


def test_explain_counts_matrices():
    assert " 1  buffered 2 x (30 x 40) of 8 bytes:" in plan((2, 30, 40), (0, 2, 1)).explain()
    assert " 1  buffered (30 x 40) of 8 bytes:" in plan((1, 30, 40), (0, 2, 1)).explain()
    options = {"device": "nvidia-h200", "kernel": "square_tw"}
    threads = "blocks of 256 threads"
    text = plan((64, 2, 64), (2, 1, 0), **options).explain()
    assert f"(64 x 2 x 64) of 8 bytes, {threads}:" in text
    assert f"(64 x 64) of 8 bytes, {threads}:" in plan((64, 64), **options).explain()


def test_a_workspace_may_be_text_and_exceed_64_bits():
    assert plan((500, 300), workspace="64K").parameters["workspace_limit"] == 65536
    assert plan(workspace=1 << 70).parameters == plan(workspace=(1 << 63) - 1).parameters


def test_nothing_to_move():
    for shape in [(), (0, 5), (1, 7), (5,)]:
        p = plan(shape, None)
        assert p.kernel == "none"
        assert "0 passes" in p.explain()
        check(p, random_array(shape, "<f8"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "square"}, "kernel 'square' cannot carry out"),
        ({"kernel": "tile"}, "unknown kernel 'tile'; in place, choose one of 'buffered'"),
        ({"workspace": 5}, "a workspace of 5 bytes is too small"),
        ({"workspace": 0}, "workspace must be 1 byte or more"),
        ({"tune": "measure"}, "plans in place are measured on GPUs alone"),
        ({"device": "nvidia-h200", "threads": 1}, "threads= is for device 'cpu'"),
        ({"strides": (800, 8)}, "does not fill its memory in C or Fortran order"),
        ({"inplace": False, "workspace": 500}, "workspace= is for plans in place"),
    ],
    ids=repr,
)
def test_what_cannot_be_planned(options, message):
    with pytest.raises(ValueError, match=message):
        ttlg.plan(**{"shape": (40, 50), "dtype": "float64", "inplace": True} | options)


@pytest.mark.parametrize("kernel", [None, "c2r"])
@pytest.mark.parametrize(
    ("shape", "device"),
    [
        ((400, 500), "cpu"),
        ((401, 503), "cpu"),
        ((1001, 3000, 8), "cpu"),
        ((30, 41, 22, 13), "cpu"),
        ((1001, 400000), "nvidia-h200"),
    ],
)
def test_the_least_workspace_is_named(shape, kernel, device):
    def plan_within(workspace):
        options = {} if device == "nvidia-h200" else {"threads": 2}
        axes = range(len(shape))[::-1]
        return ttlg.plan(
            shape, axes, inplace=True, workspace=workspace, device=device, kernel=kernel, **options
        )

    way = f"kernel '{kernel}'" if kernel else "any way"
    with pytest.raises(
        ValueError, match=f"a workspace of 3 bytes is too small for {way}"
    ) as caught:
        plan_within(3)
    least, megabytes = re.search(
        r"pass at least (\d+) bytes \((\d+\.\d{3}) MB\)", str(caught.value)
    ).groups()
    assert 0 <= float(megabytes) * 1e6 - int(least) < 1000.5
    enough = plan_within(int(least))
    assert enough.workspace_bytes <= int(least)
    if device == "cpu":
        check(enough, random_array(shape, "<f4"))
    assert plan_within(megabytes + "MB").workspace_bytes <= int(least) + 1000
    with pytest.raises(ValueError, match=f"of {int(least) - 1} bytes is too small"):
        plan_within(int(least) - 1)


@pytest.mark.parametrize("text", ["1 parsec", "-1", "", "nan", "1e3", "1.5", "1iB", "K"])
def test_text_that_is_no_workspace(text):
    with pytest.raises(ValueError, match=f"workspace of {text!r} is not a size such as 268435456"):
        ttlg.transpose_inplace(np.ones((4, 5)), workspace=text)


@pytest.mark.parametrize("value", [True, 2.5, float("nan"), b"1K"])
def test_what_is_no_number_of_bytes(value):
    with pytest.raises(TypeError, match="workspace must be a whole number of bytes, not"):
        ttlg.plan((4, 5), inplace=True, workspace=value)


def test_calls_that_are_refused():
    p, x = plan(), np.ones((40, 50))
    with pytest.raises(ValueError, match="leave out= out"):
        p(x, out=np.ones((50, 40)))
    with pytest.raises(ValueError, match="stream= is for arrays on a CUDA device"):
        p(x, stream=1)
    with pytest.raises(ValueError, match="this plan is for x of shape"):
        p(np.ones((50, 40)))
    with pytest.raises(ValueError, match="out= and inplace=True"):
        ttlg.plan_for(x, out=np.ones((50, 40)), inplace=True)
    assert (x == 1).all()


@pytest.mark.parametrize("itemsize", [5, 8, 16])
@pytest.mark.parametrize("shape", [(600, 400), (400, 600), (300, 900), (900, 300)])
def test_squares_of_a_common_divisor(shape, itemsize):
    x = random_array(shape, f"V{itemsize}")
    p = ttlg.plan_for(x, (1, 0), inplace=True, workspace=x.nbytes // 8, threads=2)
    steps = p.parameters["steps"]
    divisor = math.gcd(*shape)
    assert len(steps) == 2 + all(extent > divisor for extent in shape)
    assert [(step["rows"], step["columns"]) for step in steps].count((divisor, divisor)) == 1
    assert ttlg.Plan.from_json(p.to_json()) == p
    check(p, x)


def test_divisors_across_modes():
    # 120 divides 60 x 50, but 60 and 50 are modes apart from each other in the result.
    for axes in itertools.permutations(range(4)):
        x = random_array((60, 50, 7, 120), "<u2")
        p = ttlg.plan_for(x, axes, inplace=True, workspace=x.nbytes // 8, threads=1)
        assert ttlg.Plan.from_json(p.to_json()) == p
        check(p, x)


@pytest.mark.parametrize("device", ["cpu", "nvidia-h200"])
def test_plans_are_equal_where_their_parameters_are(device):
    def within(workspace):
        return plan((64, 64), device=device, workspace=workspace)

    assert within(10_000) == within(10_000)
    assert within(10_000).parameters["steps"] == within(20_000).parameters["steps"]
    assert within(10_000) != within(20_000)
