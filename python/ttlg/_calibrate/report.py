"""What a calibration found."""

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ttlg import _models
from ttlg._arguments.words import count_of
from ttlg._calibrate.comparison import Comparison
from ttlg._calibrate.errors import Errors, Regret, summarize
from ttlg._calibrate.fit import Array
from ttlg._calibrate.noise import Noise

_BY_FORCE = "use 'ttlg calibrate --force', in Python force=True"


@dataclass(repr=False)
class Report:
    """How well a fitted time model predicts this machine, and whether it is kept.

    Attributes
    ----------
    noise : Noise
        What else the machine did. Where that was too much, nothing was measured, unless by force.
    objections : list of str
        Why the model is not kept, or was kept by force alone; empty where it is better.
    comparison : Comparison or None
        The model beside the one in use; None where nothing was measured.
    train, held_out : dict of str to Errors
        Relative errors of the predicted seconds of the plans that are chosen, by kernel, of the
        model and of fits to four fifths of the problems, which each tell of the fifth that they
        have not seen.
    all_held_out : Errors
        Of all kernels.
    regret : Regret
        By how much the plan that is predicted to be the fastest misses the fastest that was
        measured, by the same fits.
    cached_bytes : int
        What a process gets of the caches, as it fits best.
    low, high : float
        Quantiles of measured by predicted time of the plans chosen, 5 and 95 per cent, by the same
        fits.
    measured_seconds, predicted_seconds : ndarray
        Of every measurement, by the same fits.
    kernels : list of str
        Of the same.
    path : Path or None
        The file that keeps the model; None where the one in use stays.
    """

    noise: Noise
    objections: list[str] = field(default_factory=list)
    comparison: Comparison | None = None
    train: dict[str, Errors] = field(default_factory=dict)
    held_out: dict[str, Errors] = field(default_factory=dict)
    all_held_out: Errors = field(default_factory=lambda: Errors(0, *[math.nan] * 3))
    regret: Regret = field(default_factory=lambda: summarize({}))
    cached_bytes: int = 0
    low: float = math.nan
    high: float = math.nan
    measured_seconds: Array = field(default_factory=lambda: np.zeros(0))
    predicted_seconds: Array = field(default_factory=lambda: np.zeros(0))
    kernels: list[str] = field(default_factory=list)
    path: Path | None = None

    def __repr__(self) -> str:
        """Write what was found, and whether the model is kept."""
        because = "; ".join(self.objections)
        if self.comparison is None:
            return f"not measured: {because}; to measure all the same, {_BY_FORCE}"
        lines = [*self._errors(), str(self.comparison), str(self.noise)]
        return "\n".join([*lines, *self._outcome(because)])

    def _outcome(self, because: str) -> list[str]:
        """Say whether the model is kept, why not, and how to have it otherwise."""
        if self.path is not None:
            doubt = f", by force, although {because}" if because else ""
            return [
                f"kept in {self.path}{doubt}",
                "'ttlg calibrate --reset', in Python ttlg.reset_calibration(), removes it again",
            ]
        name = _models.cpu_model_in_use()["name"]
        lines = [f"not kept, {name} stays in use: {because}"]
        if _models.is_narrow(self.low, self.high):
            lines.append(f"to keep it all the same, {_BY_FORCE}")
        return lines

    def _errors(self) -> list[str]:
        """Write a table."""
        lines = [
            "relative error of the predicted seconds of choices",
            f"{'kernel':14}{'rows':>7}{'train':>9}{'held out':>10}{'median':>9}{'signed':>9}",
        ]
        for kernel in sorted({*self.train, *self.held_out}):
            train, tested = self.train.get(kernel), self.held_out.get(kernel)
            rows = sum(each.rows for each in (train, tested) if each)
            fitted = f"{train.mean:9.1%}" if train else f"{'-':>9}"
            lines.append(f"{kernel:14}{rows:7}{fitted}{_columns(tested)}")
        every = self.all_held_out
        lines.append(f"{'all':14}{every.rows:7}{'':9}{_columns(every)}")
        regret = self.regret
        lines += [
            f"90 % of measured times are {self.low:.2f} to {self.high:.2f} of those predicted",
            f"the first choice is slower than the best of {count_of(regret.cases, 'case')} by",
            f"  {regret.median:.1%} in the median, {regret.mean:.1%} in the mean,",
            f"  {regret.p90:.1%} at the 90th percentile, {regret.p95:.1%} at the 95th",
            f"a process gets {self.cached_bytes / 2**20:.0f} MiB of the caches",
        ]
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the errors as plain values for JSON."""
        return {
            "train": {kernel: asdict(each) for kernel, each in self.train.items()},
            "held_out": {kernel: asdict(each) for kernel, each in self.held_out.items()},
            "all_held_out": asdict(self.all_held_out),
            "regret": asdict(self.regret),
            "noise": asdict(self.noise),
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw predicted against measured seconds of the problems held out, by kernel.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.

        Raises
        ------
        ImportError
            matplotlib is missing, which ``pip install 'ttlg[plot]'`` brings.
        """
        return plot_predictions(self.kernels, self.measured_seconds, self.predicted_seconds, ax)


def _columns(found: Errors | None) -> str:
    if found is None:
        return f"{'-':>10}{'-':>9}{'-':>9}"
    return f"{found.mean:10.1%}{found.median:9.1%}{found.signed:+9.1%}"


def plot_predictions(kernels: list[str], measured: Array, predicted: Array, ax: Any = None) -> Any:
    """Draw predicted against measured seconds, a colour for each kernel."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'ttlg[plot]'") from None
    if ax is None:
        ax = Figure(figsize=(6, 5), layout="constrained").subplots()
    for kernel in sorted(set(kernels)):
        own = np.array([each == kernel for each in kernels])
        ax.loglog(measured[own], predicted[own], ".", markersize=3, alpha=0.4, label=kernel)
    ends = [float(measured.min()), float(measured.max())]
    ax.loglog(ends, ends, color="black", linewidth=1)
    ax.set(xlabel="measured seconds", ylabel="predicted seconds")
    for point in ax.legend(markerscale=3).legend_handles:
        point.set_alpha(1)  # a faint point's colour could not be told
    return ax
