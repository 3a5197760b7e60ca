"""Times of plans that were not measured: exactly those of a model that is made up."""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from ttlg import _core
from ttlg._calibrate import fit
from ttlg._calibrate.data import Case, Row
from ttlg._calibrate.problems import problems
from ttlg._calibrate.sample import sample

from .. import time_models


@pytest.fixture
def directory(monkeypatch, tmp_path):
    monkeypatch.setenv("TTLG_CACHE_DIR", str(tmp_path))
    with time_models.restored():
        yield tmp_path


@pytest.fixture(scope="session")
def truth():
    def seconds_of(name):
        if name == "call":
            return 1e-7  # of copies too, whose other terms may take no time here
        draw = random.Random(name)  # so that a new term leaves the others as they are
        return 1e-9 * draw.uniform(0.5, 2) * (draw.random() < 0.5)

    return np.array([seconds_of(name) for name in _core.cpu_term_names()])


@pytest.fixture(scope="session")
def rows(truth):
    """Make up times of plans that are exactly those of a model."""
    machine = _core.this_cpu_machine()
    made = []
    for number, problem in enumerate(itertools.islice(problems(0, 1 << 20), 150)):
        for plan in sample(problem, 2, 10, random.Random(number)):
            row = Row(Case(problem, 2), plan.kernel, plan.parameters, (1.0,), 1.0)
            counts = fit.design([row], machine).counts[0]
            made.append(replace(row, samples=(float(counts @ truth),)))
    return made


@pytest.fixture(scope="session")
def points(rows):
    """Return the same as numbers."""
    return fit.design(rows, _core.this_cpu_machine())
