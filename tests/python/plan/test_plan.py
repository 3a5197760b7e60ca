"""A plan is a value that explains itself: compared, printed, written as JSON, pickled, called."""

import copy
import itertools
import json
import pickle

import numpy as np
import pytest
from hypothesis import given

import ttlg

from ..arrays import bits, problems, random_array, random_raw

PLANS = [
    ttlg.plan((4, 5, 6), (2, 0, 1), "float64"),
    ttlg.plan((), (), "u1"),
    ttlg.plan((0, 3), (1, 0)),
    ttlg.plan((64, 64), (0, 1), "complex128"),
    ttlg.plan((7, 1, 5, 3), (2, 1, 0, 3), "V3", threads=2),
    ttlg.plan((8, 9), (1, 0), "i2", strides=(-40, 4), kernel="reference"),
    ttlg.plan((4096, 4096), None, "float32", threads=2),
    ttlg.plan((3, 4), (1, 0), ">M8[us]"),
    ttlg.plan((3, 4), (1, 0), [("a", "u1"), ("b", "<f4", (2,))]),
]


def test_modes_of_extent_one_do_not_count():
    for axes in itertools.permutations(range(6)):
        with_ones = ttlg.plan((2, 1, 3, 1, 4, 5), axes)
        without = ttlg.plan((2, 3, 4, 5), [(0, 0, 1, 0, 2, 3)[a] for a in axes if a not in (1, 3)])
        assert (with_ones.extents, with_ones.perm) == (without.extents, without.perm)


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_index_order(rank):
    # TTLG, section III: P[i] = n-1-p[n-1-i], mode 0 fastest, perm[i] = j: output mode i is input
    # mode j. Padded strides keep every mode apart, so no permutation is fused away.
    shape = (3, 4, 5, 6, 7)[:rank]
    strides = np.empty([extent + 1 for extent in shape], "f4").strides
    for axes in itertools.permutations(range(rank)):
        plan = ttlg.plan(shape, axes, "f4", strides=strides)
        assert plan.extents == shape[::-1]
        assert plan.perm == tuple(rank - 1 - axes[rank - 1 - i] for i in range(rank))
        out_shape = [shape[axis] for axis in axes]
        assert [plan.extents[mode] for mode in plan.perm] == out_shape[::-1]


@pytest.mark.parametrize(
    ("shape", "axes", "strides", "extents"),
    [
        ((2, 3, 4), (0, 1, 2), None, (24,)),
        ((2, 3, 4), (0, 1, 2), (-48, -16, -4), (24,)),
        ((2, 3, 4), (2, 1, 0), (4, 8, 24), (24,)),
        ((2, 3, 4), (0, 1, 2), (0, 0, 0), (24,)),
        ((2, 3, 4), (0, 1, 2), (0, 16, 4), (12, 2)),
        ((2, 3, 4), (1, 2, 0), None, (12, 2)),
        ((2, 3, 4), (2, 1, 0), None, (4, 3, 2)),
        ((1, 1, 1), (2, 1, 0), None, ()),
        ((), (), None, ()),
        ((5, 0, 3), (2, 0, 1), None, (0,)),
    ],
)
def test_fusing(shape, axes, strides, extents):
    assert ttlg.plan(shape, axes, strides=strides).extents == extents


def twins_of(plan):
    """Make plans that are the same in all that they tell."""
    written = plan.to_json()
    for twin in (
        ttlg.Plan.from_json(written),
        ttlg.Plan.from_json(written.encode()),
        pickle.loads(pickle.dumps(plan)),
        copy.copy(plan),
        copy.deepcopy(plan),
    ):
        assert twin == plan
        assert hash(twin) == hash(plan)
        assert repr(twin) == repr(plan)
        assert twin.explain() == plan.explain()
        assert twin.to_json() == written
        yield twin


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_round_trips(plan):
    written = plan.to_json()
    assert len([*twins_of(plan)]) == 5
    assert json.loads(written)["parameters"] == json.loads(json.dumps(plan.parameters))


@given(problems())
def test_round_trips_in_any_layout(problem):
    layout, axes = problem
    x = layout.of(random_raw(layout.count))
    plan = ttlg.plan(x.shape, axes, x.dtype, strides=x.strides)
    twin = ttlg.Plan.from_json(plan.to_json())
    assert twin == plan
    assert bits(twin(x)) == bits(plan(x)) == bits(x.transpose(axes))


def test_equality_is_of_everything_that_decides():
    base = {"shape": (64, 128), "axes": (1, 0), "dtype": "f4", "threads": 1}
    plan = ttlg.plan(**base)
    assert plan == ttlg.plan(**base | {"shape": [64, 128], "axes": [-1, 0]})
    assert plan == ttlg.plan(**base | {"strides": (512, 4)})
    assert plan == ttlg.plan(**base | {"dtype": "i4"})  # the size of an element decides, no more
    for other in (
        {"shape": (128, 64)},
        {"axes": (0, 1)},
        {"dtype": "f8"},
        {"strides": (1024, 4)},
        {"kernel": "strided_copy"},
        {"kernel": "reference"},
    ):
        assert plan != ttlg.plan(**base | other)
    edited = json.loads(plan.to_json())
    edited["parameters"]["prefetch"] ^= 1
    assert plan != ttlg.Plan.from_json(json.dumps(edited))
    assert plan != "a plan"
    assert len({plan, ttlg.plan(**base), ttlg.plan(**base | {"kernel": "strided_copy"})}) == 2


def test_attributes():
    plan = ttlg.plan([4, 5, 6], [-1, 0, 1], np.float64, threads=1)
    assert plan.shape == (4, 5, 6)
    assert plan.axes == (2, 0, 1)
    assert plan.dtype == "float64"
    assert plan.strides == (240, 48, 8)
    assert plan.out_shape == (6, 4, 5)
    assert plan.out_strides == (160, 40, 8)
    assert plan.nbytes == 960
    assert plan.threads == 1
    assert plan.kernel in ("tile", "shuffle", "strided_copy")
    assert plan.extents == (6, 20)
    assert plan.perm == (1, 0)
    assert list(plan.parameters) == [
        "block",
        "loop_order",
        "staged",
        "streaming",
        "prefetch",
        "threads",
    ]
    assert plan.parameters["block"] == plan.extents
    assert plan.parameters["loop_order"] == ()
    assert plan.parameters["threads"] == 1
    with pytest.raises(AttributeError):
        plan.kernel = "strided_copy"
    plan.parameters["threads"] = 99
    assert plan.parameters["threads"] == 1


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_repr_is_one_line_that_tells_plans_apart(plan):
    text = repr(plan)
    assert "\n" not in text
    assert text.startswith(f"<ttlg.Plan {plan.dtype} {plan.shape} axes={plan.axes} ")
    assert ("strides=(-40, 4)" in text) == (plan.kernel == "reference")
    assert text.count("strides=") == (plan.kernel == "reference")
    assert f"kernel={plan.kernel!r}" in text
    for name, value in plan.parameters.items():
        assert f"{name}={value}" in text
    assert len({repr(other) for other in PLANS}) == len(PLANS)


def test_called_often_and_on_every_layout_it_was_made_for():
    base = random_array((6, 10, 7), "<f4")
    x = base[::-1, ::2, 1:]
    plan = ttlg.plan(x.shape, (2, 0, 1), x.dtype, strides=x.strides)
    other = random_array(base.shape, "<f4", seed=1)[::-1, ::2, 1:]
    out = np.empty((6, 6, 5), "<f4")
    for array in (x, other, x.view("<u4"), x):
        assert bits(plan(array)) == bits(array.transpose(2, 0, 1))
        if array.dtype == out.dtype:
            assert plan(array, out=out) is out
            assert bits(out) == bits(array.transpose(2, 0, 1))


def test_extents_of_one_have_no_stride():
    x = np.lib.stride_tricks.as_strided(random_array((4, 5), "<f4"), (4, 1, 5), (20, 999, 4))
    assert bits(ttlg.plan((4, 1, 5), (2, 1, 0), "<f4")(x)) == bits(x.transpose(2, 1, 0))


def test_empty_arrays_fit_whatever_their_strides():
    x = np.zeros((5, 4))[:, :0]
    assert ttlg.plan((5, 0), (1, 0), "<f8")(x).shape == (0, 5)


def parameters(**changes):
    """Return parameters of the plan below, one block of everything, with some of them changed."""
    whole = {"block": [900, 800], "loop_order": [], "staged": False, "streaming": False}
    return {"parameters": {**whole, "prefetch": 0, "threads": 1, **changes}}


@pytest.mark.parametrize(
    "change",
    [
        {"kernel": "nope"},
        {"kernel": "copy"},
        {"axes": [0, 0]},
        {"axes": [0]},
        {"shape": [-8, 9]},
        {"itemsize": -1},
        {"byte_strides": [4]},
        {"out_byte_strides": [4]},
        {"parameters": {}},
        parameters(block=[0, 800], loop_order=[0]),
        parameters(block=[-1, 800], loop_order=[0]),
        parameters(block=[901, 800]),
        parameters(block=[900]),
        parameters(block=[900, 800, 1]),
        parameters(block=["x", 800]),
        parameters(block=9),
        parameters(block=[9, 80], loop_order=[]),
        parameters(block=[9, 80], loop_order=[0]),
        parameters(block=[9, 80], loop_order=[0, 0]),
        parameters(block=[9, 80], loop_order=[0, 2]),
        parameters(block=[9, 80], loop_order=[0, 1], streaming="maybe"),
        parameters(block=[9, 8], loop_order=[0, 1], streaming=True),
        parameters(block=[9, 799], loop_order=[0, 1], kernel="tile", streaming=True),
        parameters(staged=True),
        parameters(prefetch=-1),
        parameters(prefetch=17),
        parameters(prefetch="far"),
        parameters(threads=0),
        parameters(threads=40000),
    ],
    ids=str,
)
def test_json_that_contradicts_itself(change):
    record = json.loads(ttlg.plan((800, 900), (1, 0)).to_json()) | change
    with pytest.raises(ValueError, match=r"\w"):
        ttlg.Plan.from_json(json.dumps(record))


@pytest.mark.parametrize("run", [1, 1024])
@pytest.mark.parametrize("streaming", [False, True])
def test_json_with_prefetch_as_a_flag(run, streaming):
    # Until prefetch was a distance, streaming meant staged but for runs of 1 KiB or more.
    plan = ttlg.plan((200, 300, run), (1, 0, 2), "u1", kernel="strided_copy", threads=1)
    record = json.loads(plan.to_json())
    old = {"block": [30, 200], "loop_order": [0], "staged": False, "threads": 1}
    record["parameters"] = {**old, "streaming": streaming, "prefetch": True}
    read = ttlg.Plan.from_json(json.dumps(record)).parameters
    assert read["prefetch"] == 1
    assert read["streaming"] == streaming
    assert read["staged"] == (streaming and run == 1)


@pytest.mark.parametrize("extent", [100, 4000])
def test_json_of_a_copy_with_prefetch_as_a_flag(extent):
    record = json.loads(ttlg.plan((extent,), (0,), "u1", threads=1).to_json())
    old = {"block": [4096], "loop_order": [], "staged": False, "threads": 1}
    record["parameters"] = {**old, "streaming": True, "prefetch": True}
    read = ttlg.Plan.from_json(json.dumps(record))
    assert (read.kernel, read.parameters["streaming"]) == ("copy", True)
    assert not read.parameters["staged"]


@pytest.mark.parametrize("text", ["", "x", "[]", "{}", "3", "null", None])
def test_what_is_no_json_of_a_plan(text):
    with pytest.raises(ValueError, match="not the JSON of a ttlg plan"):
        ttlg.Plan.from_json(text)


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_a_pickle_that_names_the_module_of_ttlg_0_2(plan):
    old = pickle.dumps(plan, 0).replace(b"ttlg._plan.plan\n", b"ttlg._plan\n")
    assert b"ttlg._plan\nPlan\n" in old
    assert pickle.loads(old) == plan


def test_every_type_of_plan_of_the_core_has_a_class():
    made = [
        ttlg.plan((4, 6), device=device, inplace=inplace)
        for device in ("cpu", "tesla-k40c")
        for inplace in (False, True)
    ]
    assert all(isinstance(plan, ttlg.Plan) for plan in made)
    assert len({type(plan) for plan in made}) == 4
    for plan in made:
        assert type(ttlg.Plan(plan._compiled, plan.dtype)) is type(plan)
