"""The claims of TTLG."""

import ttlg

from .records import Claim, ahead, body, rate, share, timed

_GPU = "python -m ttlg.benchmarks.gpu --suite"


def claims() -> list[Claim]:
    """List them."""
    sixd = [
        _of_sixd(extent, figures)
        for extent, figures in ((16, "6, 7"), (15, "8, 9"), (17, "10, 11"))
    ]
    every = Claim(
        "all 720 permutations of the three",
        "Figs. 6 to 11",
        command=f"{_GPU} sixd-16 sixd-15 sixd-17",
    )
    on_cpu = [
        _of_cpu("the same on a CPU, which is not in the paper", "zen4-sixd"),
        _of_cpu("a sample of them, prefetched into L2", "zen4-sixd-200"),
    ]
    calls = [
        _of_calls("0 2 5 1 4 3", "always ahead of cuTT"),
        _of_calls("4 1 2 5 3 0", "cuTT-measure ahead after about 500 calls"),
    ]
    return [
        _of_slices(),
        *sixd,
        every,
        *on_cpu,
        *calls,
        _of_volumes(),
        _of_ttc57(),
        _of_regressions(),
    ]


def _of_slices() -> Claim:
    case = "(27,) * 5, (1, 4, 2, 3, 0), 'float64', device='cuda', kernel='orthogonal_distinct'"
    plan = ttlg.plan(
        (27,) * 5, (1, 4, 2, 3, 0), "float64", device="tesla-k40c", kernel="orthogonal_distinct"
    )
    chosen = plan.candidates()[0].features
    return Claim(
        "27^5 by 4 1 2 0 3: predicted times of 31 slices follow those measured, 189 x 27 is the best",
        "Fig. 5",
        f"predicted with Table II: {chosen['Input slice']} x {chosen['Output slice']} is the best, with "
        f"{1e3 * plan.predicted_time:.1f} ms; not measured",
        command=f'python -c "import ttlg; print(*ttlg.plan({case}, '
        "tune='measure').candidates(), sep='\\n')\"",
    )


def _of_sixd(extent: int, figures: str) -> Claim:
    results = timed("h200-bench", f"sixd-{extent}")
    repeated, single = (rate(results, name) for name in ("ttlg-plan", "ttlg-single"))
    return Claim(
        f"{extent}^6, repeated and single use: up to about 200 and 130 GB/s, mostly ahead of cuTT",
        f"Figs. {figures}",
        f"{repeated} and {single} GB/s in the median of {len(results)} permutations, repeated use "
        f"{share(results, 'ttlg-plan')} of a copy, ahead of PyTorch in "
        f"{ahead(results, 'ttlg-plan', 'torch')}; cuTT not measured",
        "h200-bench",
        f"{_GPU} sixd-{extent} --sample {len(results)}",
    )


def _of_cpu(paper: str, stem: str) -> Claim:
    results = timed(stem, "sixd")
    return Claim(
        paper,
        "",
        f"{rate(results, 'ttlg-plan')} and {rate(results, 'ttlg-cold')} GB/s in the median of "
        f"{len(results)}, {share(results, 'ttlg-plan')} and {share(results, 'ttlg-cold')} of a copy; "
        f"NumPy {rate(results, 'numpy')}, PyTorch {rate(results, 'torch')}, HPTT {rate(results, 'hptt')}",
        stem,
    )


def _of_calls(name: str, paper: str) -> Claim:
    (found,) = (each for each in body("h200-bench")["results"] if each["case"]["name"] == name)
    ours, peer = found["curve"]["ttlg"], found["curve"]["torch"]
    ratios = {count: f"{peer[count] / ours[count]:.2f}" for count in ("1", "10", "1000")}
    return Claim(
        f"16^6 by {name}, planned and called n times: {paper}",
        "Fig. 12",
        f"times PyTorch's speed: {ratios['1']} in 1 call, {ratios['10']} in 10, {ratios['1000']} in "
        "1,000; cuTT not measured",
        "h200-bench",
        f"{_GPU} calls",
    )


def _of_volumes() -> Claim:
    by_bytes = sorted(timed("h200-bench", "varying"), key=lambda each: each.case.bytes)
    small, large = by_bytes[0], by_bytes[-1]
    return Claim(
        "low bandwidth of small tensors, for all libraries",
        "Fig. 13",
        f"{rate([small], 'ttlg-plan')} GB/s at {small.case.bytes / 1e3:.0f} KB, "
        f"{rate([large], 'ttlg-plan')} at {large.case.bytes / 1e9:.0f} GB",
        "h200-bench",
        f"{_GPU} varying",
    )


def _of_ttc57() -> Claim:
    results = timed("h200-bench", "ttc57")
    return Claim(
        "TTC's 57 tensors: mostly ahead of cuTT and TTC",
        "Fig. 14",
        f"{rate(results, 'ttlg-plan')} GB/s, {share(results, 'ttlg-plan')} of a copy, ahead of PyTorch "
        f"in {ahead(results, 'ttlg-plan', 'torch')}; cuTT and TTC not measured",
        "h200-bench",
        f"{_GPU} ttc57",
    )


def _of_regressions() -> Claim:
    found = body("h200-calibrate")
    both = [found["regressions"][f"orthogonal_{name}"] for name in ("distinct", "arbitrary")]
    points = " and ".join(str(each["train_points"] + each["test_points"]) for each in both)
    off = " and ".join(f"{each['test_error']:.0f}" for each in both)
    off_terms = found["costs"]["test"]["all"]["mean"]
    return Claim(
        "regressions to 77,502 and 8,042 points, 4.16 and 10.75 % off",
        "section V",
        f"to {points} points, {off} % off; physical terms {100 * off_terms:.0f} %",
        "h200-calibrate",
    )
