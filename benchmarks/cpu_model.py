"""The data set of the CPU's time model, and how well the model does on it.

``python -m ttlg.benchmarks.cpu_model measure FILE --seconds 80`` adds measurements of this machine
to a file of JSON lines; the same command goes on where the last one stopped.
"""

import argparse
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from ttlg._calibrate import data
from ttlg._calibrate.measure import measure
from ttlg._calibrate.problems import problems
from ttlg.benchmarks.contenders import available_cores


def collect(
    path: Path, *, seconds: float, seed: int, most_bytes: int, sets: int, threads: Sequence[int]
) -> int:
    """Measure problems that are not in a file yet until the time is up, and add them.

    Returns
    -------
    int
        How many rows were added.
    """
    deadline = time.monotonic() + seconds
    known = {row.case.problem for row in data.read(path)} if path.exists() else set()
    added = 0
    with path.open("a") as lines, tqdm(unit="row", disable=None) as bar:
        for number, problem in enumerate(problems(seed, most_bytes)):
            if time.monotonic() >= deadline:
                return added
            if problem in known:
                continue
            rows = measure(problem, threads, sets, random.Random(number))
            lines.write("".join(f"{row.to_json()}\n" for row in rows))
            lines.flush()
            added += len(rows)
            bar.update(len(rows))
    raise AssertionError("problems never end")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; 0 is done."""
    parser = argparse.ArgumentParser(prog="cpu_model", description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("measure", help="add measurements of this machine to a file")
    command.add_argument("file", type=Path)
    command.add_argument("--seconds", type=float, default=80, help="default 80")
    command.add_argument("--seed", type=int, default=0, help="draws the problems; default 0")
    command.add_argument("--most-bytes", type=int, default=256 << 20, help="default 256 MiB")
    command.add_argument(
        "--sets", type=int, default=48, help="parameter sets to draw for each problem; default 48"
    )
    args = parser.parse_args(argv)
    added = collect(
        args.file,
        seconds=args.seconds,
        seed=args.seed,
        most_bytes=args.most_bytes,
        sets=args.sets,
        threads=sorted({1, available_cores()}),
    )
    print(f"{added} rows added to {args.file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
