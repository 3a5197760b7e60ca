"""Every schema that is admissible, forced, moves the same bytes as NumPy."""

import itertools

import pytest

import ttlg

from .moves import ODD_WIDTHS, SCHEMAS, WIDTHS, check

pytest.importorskip("torch")


def forced(schema, shape, axes, itemsize):
    """Return a call that uses the schema, or None where it says that it is not admissible."""
    try:
        plan = ttlg.plan(shape, axes, f"V{itemsize}", device="cuda", kernel=schema)
    except ValueError:
        return None
    assert plan.schema == schema
    seconds = [each.seconds for each in plan.candidates() if each.kernel == schema]
    assert plan.predicted_time == min(seconds)
    return lambda x, _axes, out: plan(x, out)


def check_all(schema, problems, itemsize):
    """Move all problems that the schema admits, and return how many these are."""
    calls = [(shape, axes, forced(schema, shape, axes, itemsize)) for shape, axes in problems]
    for shape, axes, call in calls:
        if call is not None:
            check(shape, axes, itemsize, call)
    return sum(call is not None for *_, call in calls)


@pytest.mark.parametrize("itemsize", WIDTHS)
@pytest.mark.parametrize("schema", SCHEMAS)
def test_all_permutations_of_six_modes(schema, itemsize):
    shape = (3, 4, 2, 5, 4, 3)
    moved = check_all(
        schema, [(shape, axes) for axes in itertools.permutations(range(6))], itemsize
    )
    # One permutation is the copy, 120 keep the fastest mode, the others change it; whether there
    # are two second-fastest modes for FVI-Match-Small depends on what fuses into words.
    least = {
        "copy": 1,
        "fvi_match_large": 120,
        "fvi_match_small": 110,
        "orthogonal_distinct": 600,
        "orthogonal_arbitrary": 720,
    }
    assert moved >= least[schema]


@pytest.mark.parametrize("itemsize", [*WIDTHS, *ODD_WIDTHS])
@pytest.mark.parametrize("schema", SCHEMAS)
def test_extents_beside_the_tiles(schema, itemsize):
    problems = [
        ((65, 129), (1, 0)),
        ((128, 64), (1, 0)),
        ((33, 31, 17), (2, 1, 0)),
        ((40, 27, 27), (1, 2, 0)),
        ((9, 33, 65), (1, 0, 2)),
        ((33, 34, 7), (1, 0, 2)),
        ((33, 34, 16), (1, 0, 2)),
        ((9, 8, 7, 6, 5), (4, 1, 3, 0, 2)),
        ((4096,), (0,)),
        ((63, 10_007), (0, 1)),
    ]
    moved = check_all(schema, problems, itemsize)
    # An element of an odd width is a mode of words, the fastest on both sides.
    assert (moved > 0) != (schema == "orthogonal_distinct" and itemsize in ODD_WIDTHS)


@pytest.mark.parametrize("itemsize", [1, 4, 8])
def test_candidates_move_the_same_bytes(itemsize):
    """The slices that the search weighs, and not only those that it takes."""
    from ttlg.benchmarks.gpu.calibrate import plan_of

    for shape, axes in (((27,) * 5, (1, 4, 2, 3, 0)), ((40, 6, 33, 8), (2, 1, 0, 3))):
        plan = ttlg.plan(shape, axes, f"V{itemsize}", device="cuda")
        found = plan.candidates()
        for each in found[:: max(1, len(found) // 12)]:
            chosen = plan_of(plan, each)
            check(shape, axes, itemsize, lambda x, _axes, out, chosen=chosen: chosen(x, out))


@pytest.mark.parametrize("shape", [(3, 70_001, 5), (70_001, 3, 5)], ids=str)
@pytest.mark.parametrize("schema", ["fvi_match_large", "fvi_match_small", "orthogonal_arbitrary"])
def test_large_grids_of_small_slices(schema, shape):
    assert check_all(schema, [(shape, (1, 0, 2))], 4) == 1
