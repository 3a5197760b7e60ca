"""Plans with parameters that a caller gives: those of the JSON reader, and the planner's rest."""

import itertools
import json
import math
import pickle

import numpy as np
import pytest

import ttlg

H200 = "nvidia-h200"
ALL_AXES = [axes for rank in (1, 2, 3) for axes in itertools.permutations(range(rank))]
SHAPES = {1: [(4096,)], 2: [(70, 33), (64, 64), (3, 700)], 3: [(20, 18, 31), (7, 64, 64)]}
WORLD = [(shape, axes) for axes in ALL_AXES for shape in SHAPES[len(axes)]]


def numbers(shape, dtype="f8"):
    return np.arange(math.prod(shape), dtype=dtype).reshape(shape)


def edited(plan, kernel, parameters):
    """Do the same by hand."""
    record = json.loads(plan.to_json())
    record["kernel"] = kernel or plan.kernel
    record["parameters"] |= parameters
    return ttlg.Plan.from_json(json.dumps(record))


def round_trips(plan, shape, axes, dtype, **options):
    """Count the candidates of a plan that are made again from their kernels and parameters."""
    ways = {repr(each[:2]): each[:2] for each in plan.candidates()}
    for kernel, parameters in [(plan.kernel, plan.parameters), *ways.values()]:
        again = ttlg.plan(shape, axes, dtype, kernel=kernel, parameters=parameters, **options)
        assert again == edited(plan, kernel, parameters)
        assert (again.kernel, again.parameters) == (kernel, parameters)
        assert again.predicted_time == edited(plan, kernel, parameters).predicted_time
    return len(ways)


@pytest.mark.parametrize(
    ("dtypes", "options", "least"),
    [
        (["u1", "f8"], {}, 400),
        (["f4"], {"device": H200}, 400),
        (["u1", "f8"], {"inplace": True}, 150),
        (["u1", "f8"], {"device": H200, "inplace": True}, 150),
    ],
    ids=repr,
)
def test_every_candidate_is_made_again(dtypes, options, least):
    count = 0
    for dtype, (shape, axes) in itertools.product(dtypes, WORLD):
        plan = ttlg.plan(shape, axes, dtype, **options)
        count += round_trips(plan, shape, axes, dtype, **options)
    assert count > least


@pytest.mark.parametrize("kernel", ttlg._core.CPU_KERNELS)
def test_every_kernel_on_the_cpu_is_made_again(kernel):
    shape, axes = ((4096,), (0,)) if kernel == "copy" else ((70, 33), (1, 0))
    plan = ttlg.plan(shape, axes, "u1", kernel=kernel)
    again = ttlg.plan(shape, axes, "u1", kernel=kernel, parameters=plan.parameters)
    assert (again, again.kernel) == (plan, kernel)


def test_all_schemas_and_their_parameters_take_part():
    seen = set()
    for shape, axes in [
        ((4096,), (0,)),
        ((64, 64, 8), (1, 0, 2)),
        ((64, 64, 600), (1, 0, 2)),
        ((300, 200), (1, 0)),
        ((7, 9, 11), (2, 1, 0)),
    ]:
        plan = ttlg.plan(shape, axes, "f4", device=H200)
        round_trips(plan, shape, axes, "f4", device=H200)
        seen |= {each.kernel for each in plan.candidates()}
    assert seen == {*ttlg._core.CUDA_KERNELS}


@pytest.mark.parametrize(
    ("width", "order"),
    [(0, "row by row"), (1, "in bands of 1 slice"), (8, "in bands of 8 slices")],
)
def test_bands_and_slices(width, order):
    given = {"in_block": 64, "out_block": 64, "stages": 1, "band_width": width}
    plan = ttlg.plan((3000, 5000), device=H200, kernel="orthogonal_distinct", parameters=given)
    assert given.items() <= plan.parameters.items()
    assert plan == edited(plan, None, given)
    assert plan != edited(plan, None, given | {"band_width": 5})
    assert f"each a slice of 64 x 64, taken {order}\n" in plan.explain()


def test_a_given_slice_has_the_bands_that_the_planner_chooses_for_it():
    for block in (16, 32, 64, 96):
        given = {"in_block": block, "out_block": block}
        plan = ttlg.plan((3000, 5000), device=H200, parameters=given)
        record = json.loads(plan.to_json())
        del record["parameters"]["band_width"]  # as older versions wrote it: the planner's
        assert plan == ttlg.Plan.from_json(json.dumps(record))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        *(
            ({"device": H200}, each)
            for each in ("in_block", "out_block", "stages", "coarsened_mode")
        ),
        *(({"threads": 1}, each) for each in ("block", "loop_order", "staged", "streaming")),
        ({"threads": 1}, "prefetch"),
    ],
    ids=repr,
)
def test_one_parameter_leaves_the_others_to_the_planner(options, name):
    shape, axes = ((40, 50, 60), (2, 1, 0)) if "device" in options else ((150, 90, 120), (2, 0, 1))
    least = {}
    for each in ttlg.plan(shape, axes, **options).candidates():
        value = each.parameters[name]
        least[value] = min(each.seconds, least.get(value, math.inf))
    for value, seconds in least.items():
        plan = ttlg.plan(shape, axes, parameters={name: value}, **options)
        assert plan.parameters[name] == value
        assert plan.predicted_time <= seconds * (1 + 1e-12)


def test_nothing_given_is_the_planners_choice():
    for options in ({}, {"device": H200}, {"inplace": True}, {"device": H200, "inplace": True}):
        plan = ttlg.plan((50, 60), **options)
        assert ttlg.plan((50, 60), parameters={}, **options) == plan
        name = "threads" if "threads" in plan.parameters else None
        if name:
            given = {name: plan.parameters[name]}
            assert ttlg.plan((50, 60), parameters=given, **options) == plan
        assert "given" not in plan.explain()


def test_blocks_of_any_extents():
    x = numbers((3, 4, 5), "f4")
    for block in itertools.product(range(1, 6), range(1, 5), range(1, 4)):
        plan = ttlg.plan(x.shape, (2, 1, 0), parameters={"block": block}, kernel="tile")
        assert plan.parameters["block"] == block
        assert (plan(x) == x.transpose(2, 1, 0)).all()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_on_the_cpu_are_exact(threads):
    x = numbers((30, 40))
    plan = ttlg.plan((30, 40), dtype="f8", parameters={"threads": threads})
    assert plan.threads == threads
    assert (plan(x) == x.T).all()
    inplace = ttlg.plan((30, 40), dtype="f8", inplace=True, parameters={"threads": threads})
    assert inplace.threads == threads
    expected = x.T.copy()
    assert (inplace(x) == expected).all()


@pytest.mark.parametrize("kernel", ["square_v1b", "square_sg"])
@pytest.mark.parametrize("threads", [64, 1024])
def test_widths_and_threads_of_steps_in_place(kernel, threads):
    options = {"device": H200, "inplace": True, "kernel": kernel}
    plan = ttlg.plan((2000, 2000), parameters={"width": 5, "threads": threads}, **options)
    (step,) = plan.parameters["steps"]
    assert (step["kernel"], step["width"], step["threads"]) == (kernel, 5, threads)
    given = [{"width": 5, "threads": threads}]
    assert ttlg.plan((2000, 2000), parameters={"steps": given}, **options) == plan
    assert plan == edited(plan, None, {"steps": [{**step, "width": 5}]})


def test_several_steps_each_with_their_own():
    shape, axes = (12, 18, 20, 30), (3, 1, 0, 2)
    plan = ttlg.plan(shape, axes, inplace=True, threads=1)
    candidate = next(each for each in plan.candidates() if " + " in each.kernel)
    steps = [{"kernel": step["kernel"]} for step in candidate.parameters["steps"]]
    again = ttlg.plan(shape, axes, inplace=True, threads=1, parameters={"steps": steps})
    assert [step["kernel"] for step in again.parameters["steps"]] == [
        step["kernel"] for step in steps
    ]


SHAPE = (64, 48, 20)
ERRORS = [
    ({}, {"tile": 3}, "unknown parameter 'tile'; kernel '.*' has block, loop_order, staged"),
    ({"device": H200}, {"block": 3}, "unknown parameter 'block'; .* has in_modes, out_modes"),
    ({"inplace": True}, {"block": 3}, "unknown parameter 'block'; .* has steps, threads, work"),
    ({"inplace": True}, {"steps": [{"tile": 3}]}, "unknown parameter 'tile' of a step; steps have"),
    ({}, {"block": (1, 2)}, "block must have one extent for each of the 3 modes"),
    ({}, {"block": (21, 1, 1)}, "block along mode 0 must be from 1 to 20, its extent, not 21"),
    ({}, {"block": (20, 48, 0)}, "block along mode 2 must be from 1 to 64, its extent, not 0"),
    ({}, {"block": (20, 48, 64), "loop_order": (1,)}, r"than its block \(none\), not 1"),
    ({}, {"threads": 0}, "threads must be from 1 to 1024, not 0"),
    ({"inplace": True}, {"threads": 1025}, "threads must be from 1 to 1024, not 1025"),
    ({}, {"prefetch": 17}, "prefetch must be from 0 to 16 blocks ahead, not 17"),
    ({"kernel": "shuffle"}, {"streaming": True, "staged": False}, "streaming needs"),
    ({"device": H200}, {"in_block": 21, "in_modes": 1}, "from 1 to its extent, 20"),
    ({"device": H200}, {"in_modes": 9}, "a slice combines from 1 to"),
    ({"device": H200}, {"stages": 3}, "stages must be 1, or up to 2"),
    ({"device": H200}, {"band_width": -1}, "the width of a band must be at least 1 slice"),
    (
        {"device": H200, "kernel": "orthogonal_arbitrary"},
        {"band_width": 1},
        "the width of a band must be at least 1 slice of orthogonal_distinct, or 0 for none",
    ),
    ({"device": H200}, {"coarsened_mode": 7}, "the coarsened mode must lie outside the slice"),
    (
        {"device": H200, "kernel": "orthogonal_arbitrary"},
        {"in_modes": 2, "in_block": 48, "out_modes": 2, "out_block": 48},
        "the elements of a slice may be at most",
    ),
    ({"inplace": True}, {"workspace_limit": 1}, "workspace"),
]


@pytest.mark.parametrize(("options", "given", "message"), ERRORS, ids=repr)
def test_what_cannot_be_is_refused_with_the_range(options, given, message):
    with pytest.raises(ValueError, match=message) as error:
        ttlg.plan(SHAPE, (2, 1, 0), parameters=given, **options)
    if "threads" not in given and "workspace_limit" not in given:
        assert "cannot plan shape (64, 48, 20) by axes (2, 1, 0) with kernel" in str(error.value)


@pytest.mark.parametrize(
    ("kernel", "given", "message"),
    [
        ("square_v1b", {"width": 63}, "width of kernel 'square_v1b' must be from 1 to 31 here"),
        ("square_sg", {"width": 64}, "width of kernel 'square_sg' must be from 1 to 32 here"),
        ("square_v1", {"width": 1}, "width of kernel 'square_v1' must be 0 here, not 1"),
        ("square_sg", {"threads": 96}, "threads of kernel 'square_sg' must be a power of two fr"),
        ("c2r", {"threads": 64}, "threads must be 0 for kernel 'c2r'"),
        (
            "square_sg",
            {"workspace_limit": -1},
            "workspace_limit must be an integer of 64 bits from 0",
        ),
        ("square_sg", {"steps": [{}, {}]}, "steps\\[0\\].kernel is missing"),
        (
            "square_sg",
            {"steps": [{"kernel": "square_v1", "width": 0}]},
            "these steps is 'square_v1",
        ),
        ("square_sg", {"steps": [{"rows": 3}]}, "do not carry the transposition out"),
    ],
    ids=repr,
)
def test_steps_that_cannot_be_are_refused_with_the_range(kernel, given, message):
    with pytest.raises(ValueError, match=message):
        ttlg.plan((2000, 2000), inplace=True, device=H200, kernel=kernel, parameters=given)


@pytest.mark.parametrize(
    ("options", "given", "error", "message"),
    [
        ({}, [("threads", 1)], TypeError, "parameters must be a dict"),
        ({}, {"block": "wide"}, TypeError, "block"),
        (
            {},
            {"staged": "maybe"},
            ValueError,
            "parameters.staged must be true or false, not 'maybe'",
        ),
        ({}, {"threads": "2"}, TypeError, "threads must be an integer"),
        ({"device": H200}, {"in_block": 1.5}, ValueError, "parameters.in_block must be an integer"),
        ({"inplace": True}, {"steps": 3}, TypeError, "steps must be a list of dicts"),
        (
            {"inplace": True},
            {"width": "x"},
            ValueError,
            r"parameters.steps\[0\].width must be an integer",
        ),
        (
            {"inplace": True},
            {"width": 1 << 70},
            ValueError,
            r"parameters.steps\[0\].width must be an int",
        ),
    ],
    ids=repr,
)
def test_values_of_other_types(options, given, error, message):
    with pytest.raises(error, match=message):
        ttlg.plan(SHAPE, (2, 1, 0), parameters=given, **options)


@pytest.mark.parametrize("tune", ["measure", "learn"])
@pytest.mark.parametrize(("make", "x"), [(ttlg.plan, (4, 5)), (ttlg.plan_for, np.ones((4, 5)))])
def test_measuring_chooses_what_is_given(tune, make, x):
    with pytest.raises(ValueError, match=f"tune='{tune}' chooses the parameters, which are given"):
        make(x, parameters={"prefetch": 1}, tune=tune)


def test_limits_are_not_given_twice():
    with pytest.raises(ValueError, match="threads=2 and the parameter 'threads' contradict"):
        ttlg.plan((40, 50), threads=2, parameters={"threads": 1})
    with pytest.raises(ValueError, match="workspace=99 and the parameter 'workspace_limit' contr"):
        ttlg.plan((40, 50), inplace=True, workspace=99, parameters={"workspace_limit": 99})


def test_the_cache_keeps_the_planners_plan():
    ttlg.cache_clear()
    plan = ttlg.plan((300, 400), threads=1)
    other = ttlg.plan((300, 400), kernel=plan.kernel, parameters={"block": (4, 4), "threads": 1})
    assert other != plan
    assert ttlg.plan((300, 400), threads=1) == plan
    assert ttlg.plan((300, 400), threads=1, kernel=plan.kernel) == plan
    with ttlg.learning(False):
        assert ttlg.plan_for(np.ones((300, 400), "f4"), threads=1) == ttlg.plan(
            (300, 400), threads=1
        )


@pytest.mark.parametrize("options", [{}, {"device": H200}, {"inplace": True}], ids=repr)
def test_a_plan_says_what_was_given(options):
    names = {"inplace": "width", "device": "in_block"}
    name = next((names[each] for each in options), "block")
    value = (5, 6) if name == "block" else 5
    plan = ttlg.plan((200, 300), parameters={name: value}, **options)
    for twin in (plan, ttlg.Plan.from_json(plan.to_json()), pickle.loads(pickle.dumps(plan))):
        assert twin.explain().endswith(f"\nparameters that were given: {name}")
        assert twin.candidates()[0][:2] == (plan.kernel, plan.parameters)
        assert twin.candidates()[0].seconds == plan.predicted_time
        assert len({repr(each[:2]) for each in twin.candidates()}) == len(twin.candidates())
    assert "given" in plan._repr_html_() or options == {"inplace": True}
    assert "given" not in ttlg.plan((200, 300), **options).to_json()


def test_plans_for_arrays():
    x = numbers((60, 70), "f4")[::2]
    out = np.empty((70, 30), "<f4", order="F")
    given = {"block": (8, 8)}
    plan = ttlg.plan_for(x, parameters=given, kernel="tile")
    assert plan == ttlg.plan(x.shape, strides=x.strides, parameters=given, kernel="tile")
    assert (plan(x) == x.T).all()
    into = ttlg.plan_for(x, out=out, parameters={"threads": 3})
    assert (into.threads, into.out_strides) == (3, out.strides)
    inplace = ttlg.plan_for(x.copy(), inplace=True, parameters={"threads": 2})
    assert inplace == ttlg.plan(x.shape, inplace=True, parameters={"threads": 2})
    with pytest.raises(ValueError, match=r"shape \(30, 70\) by axes \(1, 0\) with kernel 'tile'"):
        ttlg.plan_for(x, parameters={"block": (0, 1)}, kernel="tile")


def test_calls_in_place_with_a_kernel_and_parameters():
    for kernel, given in [("c2r", {"width": 3}), ("cells", None), (None, {"threads": 2})]:
        x = numbers((40, 50))
        expected = x.T.copy()
        assert (ttlg.transpose_inplace(x, kernel=kernel, parameters=given) == expected).all()


@pytest.mark.parametrize(
    ("kernel", "given", "message"),
    [
        ("tile", None, "unknown kernel 'tile'"),
        ("square", None, "kernel 'square' cannot carry out"),
        ("c2r", {"width": 51}, "width of kernel 'c2r' must be from 1 to 50 here, not 51"),
        ("c2r", {"tile": 51}, "unknown parameter 'tile'"),
        (None, {"threads": 0}, "threads must be from 1 to 1024"),
    ],
)
def test_calls_in_place_that_are_refused_write_nothing(kernel, given, message):
    x = numbers((40, 50))
    before = x.copy()
    with pytest.raises(ValueError, match=message):
        ttlg.transpose_inplace(x, kernel=kernel, parameters=given)
    assert (x == before).all()
