"""What a calibration found."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ttlg._calibrate.errors import Errors, Regret
from ttlg._calibrate.fit import Array


@dataclass(repr=False)
class Report:
    """How well a fitted time model predicts this machine.

    Attributes
    ----------
    train, held_out : dict of str to Errors
        Relative errors of the predicted seconds by kernel, of the problems that the model was
        fitted to and of those that it has not seen.
    all_held_out : Errors
        Of all kernels.
    regret : Regret
        By how much the plan that is predicted to be the fastest misses the fastest that was
        measured, over the problems held out.
    cached_bytes : int
        What a process gets of the caches, as it fits best.
    low, high : float
        Quantiles of measured by predicted time, 5 and 95 per cent, of the problems held out.
    measured_seconds, predicted_seconds : ndarray
        Of every measurement of these.
    kernels : list of str
        Of the same.
    path : Path or None
        The file that keeps the model.
    """

    train: dict[str, Errors]
    held_out: dict[str, Errors]
    all_held_out: Errors
    regret: Regret
    cached_bytes: int
    low: float
    high: float
    measured_seconds: Array
    predicted_seconds: Array
    kernels: list[str]
    path: Path | None = None

    def __repr__(self) -> str:
        """Write a table."""
        lines = [
            "relative error of predicted seconds",
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
            f"the first choice is slower than the best of {regret.cases} cases by",
            f"  {regret.median:.1%} in the median, {regret.mean:.1%} in the mean,",
            f"  {regret.p90:.1%} at the 90th percentile, {regret.p95:.1%} at the 95th",
            f"a process gets {self.cached_bytes / 2**20:.0f} MiB of the caches",
        ]
        if self.path is not None:
            lines.append(f"kept in {self.path}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the errors as plain values for JSON."""
        return {
            "train": {kernel: asdict(each) for kernel, each in self.train.items()},
            "held_out": {kernel: asdict(each) for kernel, each in self.held_out.items()},
            "all_held_out": asdict(self.all_held_out),
            "regret": asdict(self.regret),
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
    ax.legend()
    return ax
