"""What the tests of measuring and of its file share."""

import pytest

import ttlg
from ttlg import _tune
from ttlg._plan.json import builder_of

# The plan that most tests measure.
SHAPE, AXES = (40, 50, 60), (2, 0, 1)


def tuned(shape=SHAPE, axes=AXES, **options):
    return ttlg.plan(shape, axes, **{"threads": 2, "tune": "measure"} | options)


@pytest.fixture(autouse=True)
def _no_traces(monkeypatch):
    monkeypatch.delenv("TTLG_CACHE_DIR", raising=False)
    ttlg.cache_clear()


@pytest.fixture
def directory(monkeypatch, tmp_path):
    path = tmp_path / "made" / "when missing"
    monkeypatch.setenv("TTLG_CACHE_DIR", str(path))
    return path


@pytest.fixture
def measured(monkeypatch):
    """Count measurements, and let them take no time."""
    plans = []

    def measure(model, threads, kernel):
        plans.append(model)
        name, parameters, _ = model.candidates(threads)[-1]
        return builder_of(model)(name, parameters)

    monkeypatch.setattr(_tune, "_measure", measure)
    return plans
