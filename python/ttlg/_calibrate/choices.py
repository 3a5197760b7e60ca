"""Fitting the CPU's time model by what the plans that it prefers lose."""

from collections.abc import Sequence

import numpy as np

from ttlg._calibrate.fit import Array, Design, require_scipy

# Plans whose predicted times differ by this share are preferred almost alike, so that what a choice
# loses changes smoothly with the model.
_SOFTNESS = 0.07
# Losing more than this many times the fastest plan's time counts as losing as much: such a plan
# must not be chosen, however slow it is.
_MAX_LOSS = 3.0
# What errors of the times weigh, relative to losses, and beyond which error, as a logarithm, they
# weigh as their size and not as its square (Huber).
_ERROR_WEIGHT = 0.5
_FAR_OFF = 0.3
# Terms may become as small a share of all time, where the model before has none of them.
_LEAST_SHARE = 1e-4
# No factor of what a term takes is looked for beyond exp(_REACH).
_REACH = 50.0
_ITERATIONS = 800


class _Loss:
    """What choices lose, with its gradient, as a function of the logarithms of the seconds."""

    def __init__(self, data: Design, error_weight: float) -> None:
        cases = dict.fromkeys(row.case for row in data.rows)
        numbers = {case: number for number, case in enumerate(cases)}
        of_rows = np.array([numbers[row.case] for row in data.rows])
        self.order = np.argsort(of_rows, kind="stable")
        of_rows = of_rows[self.order]
        self.starts = np.flatnonzero(np.diff(of_rows, prepend=-1))
        self.of_rows = of_rows
        self.counts = data.counts[self.order]
        self.seconds = np.log(data.seconds[self.order])
        least = np.minimum.reduceat(self.seconds, self.starts)[of_rows]
        self.lost = np.minimum(np.expm1(self.seconds - least), _MAX_LOSS)
        self.error_weight = error_weight

    def __call__(self, logarithms: Array) -> tuple[float, Array]:
        coefficients = np.exp(logarithms)
        predicted = self.counts @ coefficients
        logs = np.log(predicted)
        least = np.minimum.reduceat(logs, self.starts)[self.of_rows]
        preference = np.exp((least - logs) / _SOFTNESS)
        preference /= np.add.reduceat(preference, self.starts)[self.of_rows]
        lost = np.add.reduceat(preference * self.lost, self.starts)
        slope = -preference * (self.lost - lost[self.of_rows]) / (_SOFTNESS * len(self.starts))
        off = logs - self.seconds
        near = np.clip(off, -_FAR_OFF, _FAR_OFF)
        share = self.error_weight / len(off)
        value = float(np.mean(lost) + share * np.sum(near * (off - near / 2)) / _FAR_OFF)
        slope += share * near / _FAR_OFF
        gradient: Array = ((slope / predicted) @ self.counts) * coefficients
        return value, gradient


def solve_choices(
    machines: Sequence[Design], start: Array, error_weight: float = _ERROR_WEIGHT
) -> Array:
    """Fit the seconds of every term by what the plans that they prefer lose.

    The mean over the cases of what the plan of the least predicted time takes longer than the
    fastest one, smoothed by a softmax, and with less weight the errors of the times are minimized.

    Parameters
    ----------
    machines : sequence of Design
        Measurements of several plans for each case, on one machine or more. Each machine counts as
        much as the others. How much slower it is than the first one is fitted with the model.
    start : ndarray
        Seconds of every term as fitted to the times alone.
    error_weight : float, optional
        What errors of times weigh.

    Returns
    -------
    ndarray
        Seconds of every term on the first machine, those of terms that no measurement has as at
        the start.
    """
    require_scipy()
    from scipy.optimize import minimize

    seen = np.any([data.counts.any(axis=0) for data in machines], axis=0)
    usual = np.max([np.mean(d.counts[:, seen] / d.seconds[:, None], axis=0) for d in machines], 0)
    losses = [_Loss(Design(d.rows, d.counts[:, seen], d.seconds), error_weight) for d in machines]
    terms = len(usual)

    def near(logarithms: Array) -> Array:
        # Few or noisy measurements may send a step anywhere.
        return np.clip(logarithms, least - _REACH, least + _REACH)

    def total(logarithms: Array) -> tuple[float, Array]:
        value, gradient = 0.0, np.zeros(len(logarithms))
        for number, loss in enumerate(losses):
            # To scale all seconds scales all predicted times.
            scale = slice(terms + number - 1, terms + number) if number else slice(0)
            own, slope = loss(near(logarithms[:terms] + logarithms[scale].sum()))
            value += own
            gradient[:terms] += slope
            gradient[scale] += slope.sum()
        return value, gradient

    least = np.log(np.maximum(start[seen], _LEAST_SHARE / usual))
    found = minimize(
        total,
        np.concatenate((least, np.zeros(len(machines) - 1))),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _ITERATIONS, "maxfun": 2 * _ITERATIONS},
    )
    result = start.copy()
    result[seen] = np.exp(near(found.x[:terms]))
    return result
