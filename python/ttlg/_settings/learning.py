"""Whether the planner learns from the calls that it serves."""

from collections.abc import Iterator
from contextlib import contextmanager

from ttlg import _core
from ttlg._arguments.words import read_variable

_WORDS = {"": True, "1": True, "on": True, "0": False, "off": False}


def _default_learning() -> bool:
    """Read TTLG_LEARN."""
    text = read_variable("TTLG_LEARN")
    if text not in _WORDS:
        raise ValueError(f"TTLG_LEARN must be 1 or 0, not {text!r}; unset it for the default, 1")
    return _WORDS[text]


def set_learning(learns: bool) -> None:
    """Let calls try a few plans for their layout, keep the fastest and correct the model, or not.

    Parameters
    ----------
    learns : bool
        The default is True, or what the environment variable ``TTLG_LEARN`` says: 1 or 0.

    Notes
    -----
    Any plan puts the same bytes into place, so results do not depend on this. From the second call
    of a layout in host memory that takes 0.1 ms or more, `transpose` and what is built on it run
    one of up to eight plans that the planner predicts to be about as fast, or one a step away
    from the fastest of them, time it, and after about 50 calls keep the fastest, as if
    ``ttlg.plan(..., tune="measure")`` had been called. The plan that the model prefers stays where
    no other is 3 % faster. Slow trials are spread over the calls so that these take about 5 %
    longer than without trials at most, on the mean. Where later calls take 1.3 times as long, or
    as short, as the first ones after that, and have for long, the plans are tried again.

    What the calls of these plans took corrects the CPU's time model for layouts that have no plan
    yet: a factor for each of eight costs, at most 3 or a third, is estimated by an extended Kalman
    filter, and changes by at most 1.4 with each layout. So what `predict_time` says of a layout may
    depend on earlier calls of others. Without learning, plans and predictions are those of the
    model alone, whatever calls have learned before.

    A plan of `plan` or `plan_for` never changes once it is made, unless it is made with
    ``tune="learn"``. What was learned is forgotten by `cache_clear`, and with the process; where the
    environment variable ``TTLG_CACHE_DIR`` names a directory, later processes begin with the factors
    and the last of such plans, 256 in all. This function forgets nothing.

    On CUDA devices the same is done for layouts whose launch is predicted to take 30 microseconds
    or more, by events before and after sampled launches, which no call waits for. Calls that are
    captured in a CUDA graph run the plan of the planner cache and record no events. The settled
    plan is not timed again, and GPUs' models are not corrected.

    Calls in place and from within `jax.jit` are not timed. Benchmarks that are to
    show the first calls apart from the later ones do so best under ``learning(False)``, and
    ``ttlg.plan(..., tune="measure")`` does all trials at once.

    Examples
    --------
    >>> import ttlg
    >>> ttlg.set_learning(False)
    >>> ttlg.set_learning(True)
    """
    _core.set_learning(bool(learns))


@contextmanager
def learning(learns: bool) -> Iterator[None]:
    """Let calls learn in a ``with`` block, or in a decorated function, or not.

    Parameters
    ----------
    learns : bool
        What `set_learning` takes. It holds for all threads of the process.

    Returns
    -------
    context manager
        After the block, also after an exception, the setting is as it was before.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> with ttlg.learning(False):
    ...     y = ttlg.transpose(np.zeros((1000, 1000)))  # by the plan that the model prefers
    """
    before = _core.set_learning(bool(learns))
    try:
        yield
    finally:
        _core.set_learning(before)


_core.set_learning(_default_learning())
