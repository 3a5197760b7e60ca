"""The main job on two real tensors: checked, timed beside NumPy and a copy, and explained."""

from ttlg._planning import plan
from ttlg.benchmarks.measure import Result, bandwidth, measure
from ttlg.benchmarks.suites import Case

ROUNDS = 5
CASES = (
    Case("demo", "image batch NHWC -> NCHW", (64, 224, 224, 3), (0, 3, 1, 2), "float32"),
    # A[a,m,b,n,c,p] -> A[m,n,p,a,b,c]: with the summed modes m, n, p together and the free ones
    # together, the contraction is one matrix product.
    Case(
        "demo",
        "rank-6 contraction operand",
        (16, 20, 12, 18, 10, 20),
        (1, 3, 5, 0, 2, 4),
        "float64",
    ),
)


def run(threads: int) -> list[Result]:
    """Transpose the tensors with ttlg, NumPy and, for the ceiling, plain copies.

    Parameters
    ----------
    threads : int
        The most threads to use.

    Returns
    -------
    list of Result
        One for each tensor.

    Raises
    ------
    ttlg.benchmarks.measure.WrongResultError
        A result differs from NumPy's in a bit.
    """
    return [measure(case, [threads], ROUNDS, peers=("numpy",))[0] for case in CASES]


def table(results: list[Result]) -> str:
    """Lay the results out, speeds as 2 x bytes / second, and explain the plans.

    Parameters
    ----------
    results : list of Result
        What `run` returned: all of them right to the bit.

    Returns
    -------
    str
        Several lines.
    """
    lines = [f"{'':28}{'size':>10}{'ttlg':>12}{'NumPy':>12}{'copy':>12}  of copy  x NumPy  bits"]
    plans = []
    for result in results:
        case, seconds = result.case, result.seconds
        times = (seconds["ttlg-plan"], seconds["numpy"], result.ceiling)
        speeds = "".join(f"{bandwidth(case, time):7.2f} GB/s" for time in times)
        lines.append(
            f"{case.name:28}{case.bytes / 1e6:7.1f} MB{speeds}{result.share('ttlg-plan'):9.0%}"
            f"{seconds['numpy'] / seconds['ttlg-plan']:9.1f}  equal"
        )
        plans.append(plan(case.shape, case.axes, case.dtype, threads=result.threads).explain())
    lines.append(
        f"Speed is 2 x bytes / time, median of {ROUNDS} rounds in which all take turns; copy is the "
        "fastest of NumPy's copy, ttlg's and ttlg's with streaming stores."
    )
    return "\n\n".join(["\n".join(lines), *plans])
