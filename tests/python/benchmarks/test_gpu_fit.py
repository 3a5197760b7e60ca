"""The fit finds the coefficients that made the times; the data set has the paper's strata."""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from ttlg._calibrate.problems import ORDERINGS
from ttlg.benchmarks.gpu.dataset import DTYPES, RANKS, VOLUMES, held_out, problems, sample
from ttlg.benchmarks.gpu.fit import MIN_POINTS, fit, regress, table
from ttlg.benchmarks.gpu.points import Point

# Table II's estimates for Orthogonal-Distinct.
TRUTH = {
    "Volume": 1.278e-11,
    "NumBlocks": 5.001e-08,
    "Input slice": 7.835e-07,
    "Output slice": 1.252e-06,
    "Cycles": -2.692e-11,
}


def synthetic(truth, count, *, noise=0.0, seed=0, schema="orthogonal_distinct"):
    draw = random.Random(seed)
    points = []
    while len(points) < count:
        volume = draw.uniform(16e6, 256e6)
        features = {
            "Volume": volume,
            "NumBlocks": draw.uniform(100, 20_000),
            "Input slice": draw.uniform(32, 512),
            "Output slice": draw.uniform(32, 512),
            "Cycles": draw.uniform(0.5, 2) * volume / 8,
        }
        seconds = sum(truth.get(name, 0) * value for name, value in features.items())
        if seconds > 0:
            case = f"problem {len(points) // 2}"
            points.append(Point(schema, features, seconds * (1 + draw.gauss(0, noise)), case))
    return points


def regressed(points, floor=0, seed=1):
    return regress(points, floor, held_out([point.case for point in points], seed))


def test_noisy_times_give_them_back_within_their_errors():
    found = regressed(synthetic(TRUTH, 4000, noise=0.03))
    for name, each in found.coefficients.items():
        assert abs(each.estimate - TRUTH[name]) < 4 * each.standard_error
        assert each.t == pytest.approx(each.estimate / each.standard_error)
        assert each.p <= 0.05
    # The mean of |noise| is 0.8 of its deviation.
    assert 2 < found.test_error < 3


def test_short_times_weigh_as_much_as_long_ones():
    """A line through points that no line fits: the relative error decides."""
    points = [
        Point("s", {"Volume": volume}, seconds, f"{volume} {number}")
        for number in range(50)
        for volume, seconds in ((1.0, 1.0), (100.0, 200.0))
    ]
    estimate = regressed(points).coefficients["Volume"].estimate
    # Minimises (1 - w)^2 + (1 - w / 2)^2: at 1.2, where plain least squares would give 2.
    assert estimate == pytest.approx(1.2, rel=0.05)


def test_schemas_are_fitted_apart_and_need_points():
    points = [
        *synthetic(TRUTH, 100),
        *synthetic({"Volume": 3e-11}, 100, schema="fvi_match_large"),
        *synthetic(TRUTH, MIN_POINTS - 1, schema="copy"),
    ]
    found = fit(points, 0, seed=1)
    assert set(found) == {"orthogonal_distinct", "fvi_match_large"}
    large = found["fvi_match_large"].coefficients
    assert large["Volume"].estimate == pytest.approx(3e-11)
    lines = table(found)
    assert len(lines) == 3
    assert lines[1].split()[:2] == ["orthogonal_distinct", "100"]


def test_problems_are_fitted_to_or_tested_not_both():
    points = synthetic(TRUTH, 400, noise=0.02)
    tested, other = (held_out([point.case for point in points], seed=seed) for seed in (1, 2))
    assert tested != other
    found = regressed(points)
    assert (found.train_points, found.test_points) == (320, 80)
    spoilt = [
        replace(point, seconds=9 * point.seconds) if point.case in tested else point
        for point in points
    ]
    assert regressed(spoilt).coefficients == found.coefficients
    assert regressed(spoilt).test_error > 80


def test_strata():
    round_length = len(RANKS) * len(VOLUMES) * len(ORDERINGS) * len(DTYPES)
    cases = list(itertools.islice(problems(seed=0), 2 * round_length))
    assert cases == list(itertools.islice(problems(seed=0), 2 * round_length))
    early = {(len(case.shape), case.dtype) for case in cases[: len(RANKS) * len(DTYPES)]}
    assert early == set(itertools.product(RANKS, DTYPES))
    for part in (cases[:round_length], cases[round_length:]):
        assert len({(case.name, case.dtype) for case in part}) == round_length
    assert {case.axes for case in cases if len(case.shape) == 3} == set(
        itertools.permutations(range(3))
    )
    assert {np.dtype(dtype).itemsize for dtype in DTYPES} == {1, 2, 4, 8, 16}
    assert max(VOLUMES) == 2 << 30
    matching = sum(case.axes[-1] == len(case.shape) - 1 for case in cases)
    assert 0.3 < matching / len(cases) < 0.5  # a quarter, and some of the others
    for case in cases:
        volume = int(case.name.split()[2].removesuffix("M")) << 20
        assert 0.7 < case.bytes / volume < 1.4


def test_sample_keeps_the_predicted_best():
    assert sample([1], 5, seed=0) == [1]
    assert sample([], 6, seed=0) == []
    drawn = sample(range(100), 6, seed=0)
    assert (drawn[0], len(set(drawn))) == (0, 6)
    assert drawn == sample(range(100), 6, seed=0)


def test_features_that_do_not_matter_or_say_the_same_are_dropped():
    matters = {name: TRUTH[name] for name in ("Volume", "NumBlocks")}
    points = [
        replace(
            point,
            features=point.features | {"Twice": 2 * point.features["Volume"], "Nothing": 0.0},
        )
        for point in synthetic(matters, 2000, noise=0.05, seed=3)
    ]
    found = regressed(points)
    assert set(found.coefficients) == set(matters)
    assert set(found.dropped) == {"Twice", "Nothing", *TRUTH} - set(matters)
    assert found.coefficients["Volume"].estimate == pytest.approx(TRUTH["Volume"], rel=0.05)


def test_no_prediction_is_below_a_launch():
    points = [Point("s", {"Volume": float(n)}, max(10.0, 2.0 * n), f"{n}") for n in range(1, 200)]
    assert regressed(points, 10.0).test_error < regressed(points, 0.0).test_error
