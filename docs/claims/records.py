"""What claims are compared with: committed records, and medians of what they have."""

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import measured

from ttlg.benchmarks.case import Case
from ttlg.benchmarks.measure import Result, bandwidth

_MACHINES = {"h200": "H200", "zen4": "Zen 4"}
_FILES = re.compile(r" --(?:json|plot|csv|outdir) \S+")


@dataclass(frozen=True)
class Claim:
    """What a paper says, where, and what a committed record says of it.

    `command` is what would measure it where there is no record, or the part of a longer run that did.
    """

    paper: str
    where: str
    ours: str = "not measured"
    stem: str = ""
    command: str = ""

    @property
    def cells(self) -> list[str]:
        """Return the row of the table."""
        machine = _MACHINES[self.stem.partition("-")[0]] if self.stem else "-"
        command = self.command or _FILES.sub("", body(self.stem)["machine"]["command"])
        return [self.paper, self.where or "-", self.ours, machine, f"`{command}`"]


def body(stem: str) -> dict[str, Any]:
    """Read a record; of a stage of tools/gpu_verify.sh what was measured."""
    record = measured.record(stem)
    return record if "machine" in record else record["results"]


def timed(stem: str, suite: str, dtype: str = "float64") -> list[Result]:
    """Read the results of a suite and a dtype."""
    return [
        Result(Case(**each["case"]), each.get("threads", 1), "", each["seconds"])
        for each in body(stem)["results"]
        if (each["case"]["suite"], each["case"]["dtype"]) == (suite, dtype) and each["seconds"]
    ]


def rates(results: Sequence[Result], name: str) -> list[float]:
    """Return a contender's GB/s in each result that has it."""
    return [bandwidth(each.case, each.seconds[name]) for each in results if name in each.seconds]


def rate(results: Sequence[Result], name: str) -> str:
    """Write a contender's median GB/s."""
    found = statistics.median(rates(results, name))
    return f"{found:.0f}" if found >= 100 else f"{found:.1f}"


def share(results: Sequence[Result], name: str) -> str:
    """Write a contender's median share of the fastest copy, of whatever names copies have."""
    copies = [min(s for key, s in each.seconds.items() if "copy" in key) for each in results]
    shares = [copy / each.seconds[name] for copy, each in zip(copies, results, strict=True)]
    return f"{statistics.median(shares):.2f}"


def ahead(results: Sequence[Result], ours: str, peer: str) -> str:
    """Write in how many cases we are faster than a peer."""
    both = [each for each in results if peer in each.seconds]
    return f"{sum(each.seconds[ours] < each.seconds[peer] for each in both)} of {len(both)}"


def times(results: Sequence[Result], peer: str) -> str:
    """Write how many times a peer's speed a call of ttlg has, in the median."""
    return f"{statistics.median(each.speed_up(peer) for each in results):.1f}"
