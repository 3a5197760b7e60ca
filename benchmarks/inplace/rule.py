"""The rule by which Catanzaro et al., section 5.2, choose one of their two algorithms."""

from dataclasses import replace

from ttlg.benchmarks.inplace.contenders import FORCED
from ttlg.benchmarks.measure import Result

RULE = "m > n"


def with_rule(result: Result) -> Result:
    """Add what the rule would have taken, where both of its kernels have been timed.

    It takes C2R for matrices of more rows than columns, and R2C for all others.
    """
    if not set(FORCED) <= set(result.seconds):
        return result
    rows, columns = result.case.shape
    taken = result.seconds["c2r" if rows > columns else "r2c"]
    return replace(result, seconds={**result.seconds, RULE: taken})
