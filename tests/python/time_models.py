"""Time models to test with: numbers that no machine has, of the right order of magnitude."""

import contextlib

from ttlg import _core, _models

CALL = 2e-7
COEFFICIENTS = dict.fromkeys(_core.cpu_term_names(), 1e-9) | {
    "call": CALL,
    "team": 5e-6,
    "fresh_pages": 1e-7,
}


def fields(name="cpu-test", **changes):
    """Return what the file of a CPU's model holds."""
    return {
        "name": name,
        "source": "made up",
        "match": {},
        "cached_bytes": 16 << 20,
        "coefficients": COEFFICIENTS,
        "errors": {},
        "low": 0.75,
        "high": 1.5,
        "fitted": {},
    } | changes


@contextlib.contextmanager
def installed(**changes):
    """Plan by such a model, then by the one before."""
    with restored():
        _models.install_cpu_model(fields(**changes))
        yield


@contextlib.contextmanager
def restored():
    """Put back the model that is in use, whatever happens."""
    before = _core.cpu_time_model(), _models._chosen
    try:
        yield
    finally:
        _core.set_cpu_time_model(before[0])
        _models._chosen = before[1]
