"""Time models to test with: numbers that no machine has."""

import contextlib

from ttlg import _core, _models

NANOSECOND = dict.fromkeys(_core.cpu_term_names(), 1e-9)
CALL = 2e-7


def fields(name="cpu-test", **changes):
    """Return what the file of a CPU's model holds: a nanosecond for everything but the call."""
    return {
        "name": name,
        "source": "made up",
        "match": {},
        "cached_bytes": 16 << 20,
        "coefficients": NANOSECOND | {"call": CALL, "fresh_pages": 1e-7},
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
