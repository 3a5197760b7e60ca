"""A GPU's time model from launches: costs of the physical terms, and regressions as TTLG's beside them.

``python -m ttlg.benchmarks.gpu.models FILE --outdir DIR`` fits the points of a calibration's record
again, with features and terms as this version counts them; no GPU is needed.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ttlg._calibrate.fit import require_scipy
from ttlg.benchmarks import command
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.gpu import fit, fit_costs
from ttlg.benchmarks.gpu.points import Point, problem_of, recounted

SEED = 0


@dataclass(frozen=True)
class Fits:
    """Both models of the same launches, tested on the same problems."""

    costs: fit_costs.CostFit
    regressions: dict[str, fit.Regression]
    smallest_bytes: int  # of the tensors

    def regressed(self) -> list[str]:
        """Name the kernels that their regression predicts better than the physical terms do."""
        return [
            name
            for name, found in self.regressions.items()
            if name in self.costs.test and found.test_error < 100 * self.costs.test[name].mean
        ]

    def model(self, properties: Mapping[str, Any], source: str) -> dict[str, Any]:
        """Put a device's properties and what was fitted into the form of models/*.json.

        The planner takes the `coefficients`, those of `regressed` kernels. `regressions` has those of
        all kernels, with what the paper's Table II says of each; they may be put there.
        """
        estimates = {
            name: {feature: each.estimate for feature, each in found.coefficients.items()}
            for name, found in self.regressions.items()
        }
        return {
            **properties,
            "overlap": self.costs.overlap,
            "costs": self.costs.costs,
            "coefficients": {name: estimates[name] for name in self.regressed()},
            "regression_bytes": self.smallest_bytes,
            "source": source,
            "errors": {name: asdict(each) for name, each in self.costs.test.items()}
            | {"regret": self.costs.test_regret.to_dict()},
            "regressions": {name: asdict(each) for name, each in self.regressions.items()},
        }

    def table(self) -> list[str]:
        """Write the errors of both, and which of them the planner takes."""
        taken = ", ".join(self.regressed()) or "none"
        return [
            *fit_costs.table(self.costs),
            *fit.table(self.regressions),
            f"kernels whose regression is the better on problems not fitted to: {taken}",
        ]


def fits_of(points: Sequence[Point], launch_seconds: float) -> Fits | None:
    """Fit both models; None where there are too few points."""
    costs = fit_costs.fit_costs(points, launch_seconds, SEED)
    if costs is None:
        return None
    regressions = fit.fit(points, launch_seconds, SEED)
    sizes = (
        Case("", "", shape, (), dtype).bytes
        for shape, _, dtype in map(problem_of, {point.case for point in points})
    )
    return Fits(costs, regressions, min(sizes))


def source_of(machine: Mapping[str, Any], count: int) -> str:
    """Say what a model was fitted to."""
    return f"fitted to {count} launches on {machine['device']}, commit {machine['commit']}"


def main(argv: Sequence[str] | None = None) -> int:
    """Fit a record's points again, write the model and print the errors; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m ttlg.benchmarks.gpu.models", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("record", type=Path, metavar="FILE", help="a calibration's JSON")
    parser.add_argument("--outdir", type=Path, help="where the model is written, if anywhere")
    args = command.parse(parser, argv)
    require_scipy()
    record = json.loads(args.record.read_text())
    record = record.get("results", record)
    known = record["properties"]
    points = list(recounted([Point(**each) for each in record["points"]], known))
    found = fits_of(points, known["launch_seconds"])
    if found is None:
        print(f"{args.program}: {len(points)} points are too few")
        return 1
    if args.outdir:
        model = found.model(known, source_of(record["machine"], len(points)))
        (args.outdir / f"{known['name']}.json").write_text(json.dumps(model, indent=1) + "\n")
    print(f"{len(points)} points", *found.table(), sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
