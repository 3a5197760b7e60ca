"""Plans for GPUs, made without one: the same value as a plan for the CPU, with a predicted time."""

import itertools
import json
from collections import Counter

import numpy as np
import pytest

import ttlg
from ttlg import _core

from .test_plan import twins_of

K40C = "tesla-k40c"
SCHEMAS = _core.CUDA_KERNELS
PLANS = [
    ttlg.plan((27,) * 5, (1, 4, 2, 3, 0), "float64", device=K40C),
    ttlg.plan((), (), "u1", device=K40C),
    ttlg.plan((0, 3), (1, 0), device=K40C),
    ttlg.plan((64, 64), (0, 1), "complex128", device=K40C),
    ttlg.plan((7, 1, 5, 3), (2, 1, 0, 3), "V3", device=K40C),
    ttlg.plan((8, 9), (1, 0), "i2", strides=(-40, 4), device=K40C),
    ttlg.plan((640, 480, 3), (1, 0, 2), "u1", device=K40C),
    ttlg.plan((9, 8, 7, 100), (2, 1, 0, 3), "f4", device=K40C),
    ttlg.plan((64, 128), (1, 0), device=K40C, kernel="orthogonal_arbitrary"),
]


def test_attributes():
    # TTLG, Fig. 5: the slice of 189 x 27; perm 4 1 2 0 3 of the paper, last axis fastest.
    axes, forced = (1, 4, 2, 3, 0), "orthogonal_distinct"
    plan = ttlg.plan((27,) * 5, axes, "float64", device=K40C, kernel=forced)
    assert plan.device == K40C
    assert plan.kernel == plan.schema == "orthogonal_distinct"
    assert (plan.extents, plan.perm) == ((27, 729, 27, 27), (3, 1, 0, 2))
    assert plan.parameters == {
        "in_modes": 2,
        "out_modes": 1,
        "in_block": 7,
        "out_block": 27,
        "coarsened_mode": 2,
        "stages": 1,
        "band_width": 5,
    }
    assert plan.predicted_time == pytest.approx(1.7e-3, rel=0.05)
    assert plan.dtype == "float64"


@pytest.mark.parametrize("extent", [15, 16, 17])
def test_the_schemas_of_720_permutations(extent):
    # TTLG, Alg. 1; where slices overlap, the one or the other Orthogonal kernel, by their predicted
    # times (section V).
    counts = Counter()
    for axes in itertools.permutations(range(6)):
        plan = ttlg.plan((extent,) * 6, axes, "float64", device=K40C)
        rows = plan._compiled.describe()["taxonomy"]
        case = next(name for name, *_, obstacle in rows if obstacle is None)
        counts["overlapping" if case == "overlapping" else plan.schema] += 1
        assert case != "overlapping" or plan.schema.startswith("orthogonal")
    schemas = [schema for schema in SCHEMAS if schema != "orthogonal_arbitrary"]
    assert [counts[name] for name in [*schemas, "overlapping"]] == [1, 23, 96, 288, 312]


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_round_trips(plan):
    for twin in twins_of(plan):
        assert twin.predicted_time == plan.predicted_time
        assert twin.candidates() == plan.candidates()


def test_a_plan_brings_its_model_along():
    record = json.loads(PLANS[0].to_json())
    assert record["device"]["name"] == K40C
    record["device"] |= {"name": "elsewhere", "coefficients": {}, "memory_bytes_per_second": 1e9}
    slow = ttlg.Plan.from_json(json.dumps(record))
    assert slow != PLANS[0]
    assert slow.device == "elsewhere"
    assert slow.predicted_time > 10 * PLANS[0].predicted_time
    assert slow.parameters == PLANS[0].parameters


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_repr_is_one_line_that_names_the_device(plan):
    assert "\n" not in repr(plan)
    mark = "(uncalibrated) " if "uncalibrated" in plan.explain() else ""
    assert f"device='{K40C}' {mark}kernel='{plan.schema}'" in repr(plan)


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_explain_says_where_the_taxonomy_leads(plan):
    text = plan.explain()
    marks = [line for line in text.splitlines() if line.startswith("->")]
    assert plan.schema in marks[-1]
    assert marks[1:] == (
        ["->  instead, forced or because those are slow: orthogonal_arbitrary"]
        if plan is PLANS[-1]
        else []
    )
    assert f"{plan.predicted_time * 1e6:.1f} microseconds on {K40C}" in text
    assert f"{plan.transactions()['in_dram']} to read" in text


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_candidates_hold_the_choice(plan):
    candidates = plan.candidates()
    (chosen,) = [
        each
        for each in candidates
        if (each.kernel, each.parameters) == (plan.kernel, plan.parameters)
    ]
    assert chosen.seconds == plan.predicted_time
    same = [each.seconds for each in candidates if each.kernel == plan.kernel]
    assert chosen.seconds == min(same)
    assert all(each.kernel in SCHEMAS and each.features for each in candidates)
    assert {type(count) for each in candidates for count in each.features.values()} == {int}


def test_measured_plans_show_their_times():
    # As calls that learn leave them: another plan than the planner's choice was the fastest.
    first = ttlg.plan((640, 480, 30), (2, 1, 0), "f4", device=K40C)
    record = json.loads(first.to_json())
    choice, other, slower = ((each.kernel, each.parameters) for each in first.candidates()[:3])
    record["kernel"], record["parameters"] = other
    record["measured"] = [(*choice, 3e-4), (*slower, 4e-4), (*other, 2e-4)]
    plan = ttlg.Plan.from_json(json.dumps(record))
    assert first.gain is None
    assert plan.gain == pytest.approx(1.5)
    candidates = plan.candidates()
    assert [each.measured_seconds for each in candidates[:4]] == [2e-4, 3e-4, 4e-4, None]
    assert len(candidates) == len(first.candidates())
    lines = plan.explain().splitlines()[-5:]
    assert lines[0] == "measured, the fastest of 3:"
    assert lines[1].startswith("->")
    assert "200.0 microseconds" in lines[1]
    assert lines[2].endswith("(the planner's choice)")
    assert lines[4] == "gain over the planner's choice: 1.50 times the speed"
    assert "measured" in plan._repr_html_()
    assert json.loads(plan.to_json())["measured"] == json.loads(json.dumps(record["measured"]))
    assert "measured" not in first.explain()


def test_transactions_are_those_of_table_1():
    # TTLG, Table I: 64 * 128 floats, 32 to a transaction.
    counts = ttlg.plan((64, 128), (1, 0), device=K40C).transactions()
    assert counts == dict.fromkeys(counts, 256)


@pytest.mark.parametrize("kernel", SCHEMAS[1:])
def test_forced_kernels(kernel):
    # A matched fastest mode of 32 suits everything but the two kernels that need none.
    axes = (1, 0, 2) if kernel.startswith("fvi") else (2, 1, 0)
    last = 16 if kernel == "fvi_match_small" else 32
    plan = ttlg.plan((40, 50, last), axes, "f4", device=K40C, kernel=kernel)
    assert plan.schema == kernel
    assert {each.kernel for each in plan.candidates()} >= {kernel}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"kernel": "tile"},
            ValueError,
            "unknown kernel 'tile'; CUDA devices have 'copy', 'fvi_ma",
        ),
        ({"kernel": "copy"}, ValueError, r"cannot plan shape \(40, 50\).*'?copy'?.* one run|copy"),
        ({"threads": 2}, ValueError, "threads= is for device 'cpu', not 'tesla-k40c'"),
        ({"tune": "measure"}, ValueError, "tune='measure' needs a GPU of this machine"),
        ({"strides": (1 << 62, 1 << 62)}, ValueError, "exceeds the 64-bit range"),
        (
            {"device": "tesla"},
            ValueError,
            "cannot plan for device 'tesla'; choose one of 'cpu', .*, or the path.*; did you mean",
        ),
        ({"device": "../tesla-k40c"}, ValueError, "cannot plan for device"),
    ],
    ids=repr,
)
def test_what_cannot_be_planned(arguments, error, message):
    with pytest.raises(error, match=message):
        ttlg.plan(**{"shape": (40, 50), "axes": (1, 0), "device": K40C, **arguments})


@pytest.mark.parametrize("device", ["cuda", "cuda:1", "cuda:999"])
def test_a_gpu_that_is_not_there(device):
    if device != "cuda:999" and ttlg.show_config()["cuda"]["devices"]:
        pytest.skip("there is a GPU")
    with pytest.raises(ttlg.CudaError, match=r"\w"):
        ttlg.plan((40, 50), (1, 0), device=device)
    assert issubclass(ttlg.CudaError, RuntimeError)


def test_what_only_gpus_have():
    plan = ttlg.plan((40, 50), (1, 0))
    assert (plan.schema, plan.device) == (None, "cpu")
    assert plan != ttlg.plan((40, 50), (1, 0), device=K40C)
    # The hint names no GPU that may not be there.
    hint = r"transactions\(\) is for GPUs so far; make .*device='tesla-k40c'\), which needs no GPU$"
    with pytest.raises(ValueError, match=hint):
        plan.transactions()


def test_a_modelled_plan_does_not_run():
    plan = ttlg.plan((4, 6), (1, 0), device=K40C)
    for out in (None, np.zeros((6, 4), "f4")):
        with pytest.raises(
            ValueError, match=r"for the device 'tesla-k40c', but x lives on cpu; mak"
        ):
            plan(np.zeros((4, 6), "f4"), out)


@pytest.mark.parametrize("change", [{"kernel": "copy"}, {"alignment": 3}, {"device": "cuda"}])
def test_json_that_contradicts_itself(change):
    record = json.loads(ttlg.plan((800, 900), (1, 0), device=K40C).to_json()) | change
    with pytest.raises(ValueError, match=r"\w"):
        ttlg.Plan.from_json(json.dumps(record))


def test_plans_are_cached_by_model_and_kernel():
    ttlg.cache_clear()
    shapes = {"shape": (64, 128), "axes": (1, 0)}
    for number, more in enumerate(
        ({"device": K40C}, {"device": K40C, "kernel": "orthogonal_arbitrary"}, {})
    ):
        for _ in range(2):
            ttlg.plan(**shapes, **more)
        info = ttlg.cache_info()
        assert (info.hits, info.misses, info.currsize) == (number + 1,) * 3
    ttlg.cache_resize(1)
    for _ in range(2):
        ttlg.plan(**shapes, device=K40C)
        ttlg.plan((128, 64), device=K40C)
    assert ttlg.cache_info() == (0, 4, 1, 1)
