"""`ttlg.calibrate`: the planner's time model, fitted to measurements of this machine."""

import math
from typing import TYPE_CHECKING

from ttlg import _models

if TYPE_CHECKING:
    from pathlib import Path

    from ttlg._calibrate.report import Report


def calibrate(
    device: str = "cpu", *, budget: float = 60.0, progress: bool = True, force: bool = False
) -> "Report":
    """Fit the planner's time model to this machine; keep it and plan with it if it is better.

    For a second it is measured what else the machine does. Then problems of all ranks, sizes,
    widths and layouts are drawn and measured, each done in many ways that alternate, until
    `budget` is used up. Non-negative seconds of every term of the model are fitted to all of them,
    and to four fifths, five times, to be tested on the others.

    The model is kept where it does better than the one in use on problems that it was not fitted
    to: its predictions are nearer to what was measured, by more than the standard error over the
    problems, and the plans that it prefers are no slower. There must be 20 problems, which a minute
    is mostly enough for, and the machine must be quiet. Otherwise the model in use stays, and the
    report says why. `reset_calibration` removes a model that was kept.

    Parameters
    ----------
    device : str
        ``"cpu"``. GPUs are calibrated with ``tools/gpu_verify.sh OUTDIR calibrate``.
    budget : float
        Seconds to measure for; the fit takes some seconds more. A problem that is begun is brought
        to its end, and ten are measured at least. Problems have up to 2 MiB a second of budget, up
        to 256 MiB and a sixteenth of the memory, so that short budgets say less about large ones.
    progress : bool
        Show a progress bar, where there is a terminal.
    force : bool
        Measure a busy machine too, and keep the model even if it is not better. Never kept is one
        by whose predictions nine times in ten are not within 0.2 to 5.

    Returns
    -------
    Report
        What else the machine did, errors by kernel, what the planner's choices cost, the comparison
        with the model in use, why the new one is not kept (``objections``), or the file that keeps
        it (``path``). Its ``repr`` is a table, ``plot()`` draws predicted against measured time.

    Warns
    -----
    RuntimeWarning
        The machine is busy, so that nothing is measured, unless by `force`.

    Raises
    ------
    TypeError
        `device` is no string, or `budget` no number.
    ValueError
        `device` is not ``"cpu"``, `budget` is not positive and finite, or the cache directory
        cannot be written to.
    ImportError
        SciPy is missing, which ``pip install 'ttlg[calibrate]'`` brings.
    MemoryError
        There is no room for the arrays.

    Notes
    -----
    Let nothing else run at the same time: no model is kept if on average other programs keep more
    than a quarter of the cores busy. The least of several samples counts, and all ways to do a
    problem alternate in random order, but what lasts as long as a problem's samples is measured
    with them. A call that raises or is interrupted leaves the model in use and its file as they
    were.

    The model is kept in the directory ``TTLG_CACHE_DIR``, or else in ``ttlg`` of the user's cache
    directory, for every process on the same kind of machine. The method is that of TTLG, section V,
    with terms of a CPU's memory and kernels; the fit is the non-negative least squares of Lawson
    and Hanson, *Solving Least Squares Problems*, chapter 23, on relative errors.

    Examples
    --------
    >>> import ttlg
    >>> report = ttlg.calibrate(budget=300)  # doctest: +SKIP
    >>> report.objections  # doctest: +SKIP
    []
    >>> report.regret.mean < 0.1  # doctest: +SKIP
    True
    """
    if not isinstance(device, str):
        raise TypeError(f"device must be a name, not {device!r}")
    if device == "cuda" or device.startswith("cuda:"):
        raise ValueError(
            f"cannot calibrate {device!r} from here; run 'tools/gpu_verify.sh OUTDIR calibrate' of "
            "a checkout, which writes the GPU's model"
        )
    if device != "cpu":
        raise ValueError(f"cannot calibrate device {device!r}; choose 'cpu'")
    try:
        budget = budget + 0.0
    except TypeError:
        raise TypeError(f"budget must be a number of seconds, not {budget!r}") from None
    if not 0 < budget < math.inf:
        raise ValueError(f"budget must be a positive number of seconds, not {budget!r}")
    from ttlg._calibrate.run import run  # what it takes to fit is not for every import of ttlg

    return run(budget, progress, force)


def reset_calibration() -> "Path | None":
    """Remove the time model that `calibrate` has kept for this machine.

    From now on this process plans by the model that comes with ttlg, as later ones do, and
    ``show_config()["cpu"]["time_model"]`` tells which that is.

    Returns
    -------
    Path or None
        The file that the model was removed from; None where it held none for this machine.

    Raises
    ------
    ValueError
        The cache directory cannot be written to.

    Examples
    --------
    >>> import ttlg
    >>> ttlg.reset_calibration()  # doctest: +SKIP
    PosixPath('/home/me/.cache/ttlg/ttlg-cpu-models.json')
    """
    return _models.remove_cpu_model()
