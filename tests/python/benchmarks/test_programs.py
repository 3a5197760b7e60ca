"""Every program runs once on tiny cases: it measures, prints, records, draws, and finds liars."""

import copy
import importlib
import itertools
import json
import re
import shlex
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from ttlg.benchmarks import cli, redraw
from ttlg.benchmarks.generated import compiled
from ttlg.benchmarks.generated.figures import FIGURES
from ttlg.benchmarks.measure import WrongResultError
from ttlg.benchmarks.report import Report
from ttlg.benchmarks.suites import SUITES

from .conftest import BENCHMARKS, IN_PLACE, main_of, module

ONCE = "--threads 1 --repeats 1"


@dataclass(frozen=True)
class Program:
    """A command line, what it prints and records, and what it needs."""

    module: str
    options: str
    printed: str
    records: str = "results"
    needs: str = ""

    @property
    def line(self):
        program = "ttlg bench" if self.module == "cli" else f"python -m {BENCHMARKS}.{self.module}"
        return f"{program} {self.options}"


def rotating(*arguments, **options):
    """Return one that takes seconds; a faster test has what it measures."""
    return pytest.param(Program(*arguments, **options), marks=pytest.mark.rotating)


PROGRAMS = [
    Program("cli", "--suite tiny --threads 1 2 --repeats 1", "^tiny, 2 threads, 3 cases$"),
    Program("cli", f"--suite call orders fresh {ONCE}", r"^  ttlg-kept +\d"),
    rotating("cli", f"--suite latency gentt cubes --quick {ONCE}", "^cubes, 1 thread, 8 cases$"),
    rotating("cli", f"--suite {' '.join(IN_PLACE)} {ONCE}", r"^  ttlg-back +\d"),
    Program(
        "cli", f"--suite sparse-options --only uber {ONCE}", "^sparse-tensors, 1 thread, 1 case"
    ),
    rotating("cli", f"--suite sparse-options --only uber --memory {ONCE}", "extra bytes/nonzero"),
    Program("cli", f"--suite contractions --only first {ONCE}", "^nine first .*; ratio "),
    Program("cli", "--ablation loops --threads 1 2 --repeats 1", r"^  -> \w+ ", "ablations"),
    rotating("cli", f"--ablation levels {ONCE}", r"^  -> \w+ +\d", "ablations"),
    Program("busy", "--busy 0 --seconds 0.01", "^300x300 float32 in place: of one thread's mean"),
    Program(
        "learning",
        "--models generic zen5 --threads 1 --problems 1 --calls 10",
        r"^zen5 +1 +1 +\d+\.\d% \( *\d+%\) +\d+\.\d% \(",
    ),
    Program(
        "learning",
        "--models zen5 --threads 1 --problems 1 --calls 1 --unseen 1",
        "^zen5, learned +1 +1 ",
    ),
    Program("loops", "--repeats 1", "^  all +4 "),
    Program("zarr_io", "--repeats 1", "^all reordered, zstd, field, 4 cases", needs="zarr"),
    rotating(
        "dask_store",
        "--folder . --shape 6 20 30 3 --axes 0 3 1 2 --chunks 4 20 30 3",
        "^copy .*100% of the copy",
        "runs",
        needs="dask.array",
    ),
    rotating("contraction.networks", "--trials 1 --repeats 1", "^grid of bond", needs="cotengra"),
    *(
        rotating("generated", f"{name} --repeats 1", "times as fast as .* in the median", "rows")
        for name in FIGURES
    ),
    rotating("generated", "ends --repeats 1", "^  blocks fit ", "ends"),
]


def shrink_optional(monkeypatch, program):
    """Let a program that needs optional libraries measure little, or skip the test."""
    if program == "zarr_io":
        zarr_io = module(program)
        monkeypatch.setattr(zarr_io, "_MIN_ARRAY_MB", 2)
        made = [zarr_io.Case(order, "u2", True, 1) for order in zarr_io.ORDERS]
        made.append(zarr_io.Case("F", "u1", True, 1, store="local"))
        monkeypatch.setattr(zarr_io, "cases", lambda quick: made)
    if program == "contraction.networks":
        networks = module(program)
        made = (
            networks.Network("tiny", 2, 8, 3, seed=1),
            networks.Network("grid", 2, lattice=(2, 3)),
        )
        monkeypatch.setattr(networks, "NETWORKS", made)
    if program == "generated" and compiled.compiler() is None:
        pytest.skip("there is no C++ compiler")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.line)
def test_it_measures_prints_records_and_draws(program, tiny, monkeypatch, capsys):
    for name in ("matplotlib", *program.needs.split()):
        pytest.importorskip(name)
    shrink_optional(monkeypatch, program.module)
    more = " --json 'a b.json' --plot figure.png"
    assert main_of(program.module)(shlex.split(program.options + more)) == 0
    printed = capsys.readouterr()
    assert re.search(program.printed, printed.out, re.MULTILINE), printed.out
    assert "it/s" not in printed.err, "a progress bar, but it is no terminal"
    record = json.loads(Path("a b.json").read_text())
    assert record["machine"]["command"] == program.line + more
    assert record[program.records]
    image = Path("figure.png").read_bytes()
    assert image.startswith(b"\x89PNG")
    assert redraw.main(["a b.json", "again.png"]) == 0
    assert Path("again.png").read_bytes() == image


def test_suites_write_rows_and_who_takes_part_in_place(tiny):
    options = f"--suite inplace-random {ONCE} --json a.json --csv a.csv"
    assert cli.main(options.split()) == 0
    report = Report.from_json(Path("a.json").read_text())
    assert [result.case for result in report.results] == list(SUITES["inplace-random"]())
    assert {"OpenBLAS", "FFTW float64", "fastremap", "forced kernels"} <= {
        *report.machine["inplace"]
    }
    assert Path("a.csv").read_text() == report.to_csv()


# What is put in the place of a right result, by this and what was there before; None changes it there.


def one_bit(right, before):
    right.reshape(-1).view(np.uint8)[-1] ^= 1


def last_element(right, before):
    right.reshape(-1)[-1] = before.reshape(-1)[-1]


def nothing(right, before):
    right.reshape(-1)[:] = before.reshape(-1)


def half(right, before):
    right.reshape(-1)[right.size // 2 :] = before.reshape(-1)[right.size // 2 :]


def inverse(right, before):
    right.reshape(-1)[:] = right.transpose(1, 2, 0).ravel()


def rows_shifted(right, before):
    right.indptr[1:-1] += 1


def exchanged(part):
    return part[[*range(5), 6, 5, *range(7, len(part))]]


NUMBERS = {
    "transposed": lambda right, before: right.T,
    "other type": lambda right, before: right.astype(np.float32),
    "less precise": lambda right, before: right.astype(np.float32).astype(np.float64),
    "one element": lambda right, before: right + np.eye(*right.shape) * 1e-12,
    "no numbers": lambda right, before: right * np.nan,
    "off by 1": lambda right, before: right + 1,
}
# Of a list of the coordinates of each mode and, last, of the values.
NONZEROS = [
    lambda parts: [*parts[:-1], exchanged(parts[-1])],
    lambda parts: [*parts[:-1], np.nextafter(parts[-1], np.inf)],
    lambda parts: [*parts[:-1], parts[-1].astype(np.float32)],
    lambda parts: [*map(exchanged, parts)],
    lambda parts: [part[:-1] for part in parts],
    lambda parts: [np.r_[part[:1], part[:-1]] for part in parts],
]


def of_nonzeros(change):
    def lie(right, before):
        *coords, values = change([*right[0], right[1]])
        return coords, values, right[2]

    return lie


def after(calls, lie):
    """Let a function lie from a call on."""

    def replaced(right):
        numbers = itertools.count()

        def lying(x, *arguments, **options):
            before = copy.deepcopy(options.get("out", x))
            result = right(x, *arguments, **options)
            wrong = lie(result, before) if next(numbers) >= calls else None
            return result if wrong is None else wrong

        return lying

    return replaced


def wrong_contraction(right):
    results = itertools.count()

    def made(*arguments, **options):
        plan = right(*arguments, **options)
        plan.run = lambda operands, *_: np.float64(next(results))
        return plan

    return made


def wrong_loops(right):
    return lambda case, name: right(replace(case, axes=tuple(range(len(case.shape)))), name)


def wrong_store(files):
    stored = np.load(files.source).transpose(files.axes).copy()
    stored[3, 2] = stored[3, 3]
    np.save(files.result, stored)


def liars():
    """List programs, a function that is replaced, by what, and what the program says of it."""
    tiny, moving = "cli --suite tiny --threads 1", "ttlg.transpose"
    for lie in (one_bit, last_element, nothing, inverse):
        yield tiny, moving, after(0, lie), r"ttlg gave .* Case\(suite='tiny'.* 1 thread$"
    yield tiny, moving, after(1, one_bit), "ttlg-cold gave"
    for lie in (one_bit, NUMBERS["other type"]):
        yield "cli --suite call --threads 1", moving, after(0, lie), "ttlg gave"
    for lie in (one_bit, half, nothing):
        line = "cli --suite inplace-aos --threads 1"
        yield line, f"{moving}_inplace", after(0, lie), "ttlg gave .* 1 thread$"
    sparse = "ttlg.sparse.transpose"
    for lie in (*map(of_nonzeros, NONZEROS), lambda right, before: before):
        for calls, name in enumerate(("ttlg", "ttlg-fresh")):
            line = "cli --suite sparse-options --only uber --threads 1"
            yield line, sparse, after(calls, lie), f"{name} gave .*uber.* on 1 thread$"
    line = "cli --suite sparse-options --only webbase --threads 1"
    yield line, sparse, after(0, rows_shifted), "ttlg gave"
    line = "cli --suite contractions --threads 1"
    for lie in NUMBERS.values():
        yield line, "ttlg.einsum", after(0, lie), "ttlg gave .*first.* 1 thread$"
    yield line, "ttlg.einsum", after(9, NUMBERS["off by 1"]), "ttlg gave .* off by 1;"
    yield line, "opt_einsum.contract", after(0, NUMBERS["one element"]), "opt_einsum gave"
    yield "busy --busy 0 --seconds 0.01", moving, after(0, one_bit), "default gave"
    line = "learning --models zen5 --threads 1 --problems 1 --calls 2"
    yield line, moving, after(0, one_bit), "wrong result for Problem"
    line = "contraction.networks --trials 1 --repeats 1"
    yield line, "ttlg.contraction", wrong_contraction, "along the two trees differ"
    line = "dask_store --folder . --shape 5 7 --axes 1 0 --chunks 5 7"
    yield line, f"{BENCHMARKS}.dask_store.METHODS", lambda _: {"ttlg": wrong_store}, "is wrong"
    line = "generated shapes --repeats 1"
    yield line, f"{BENCHMARKS}.generated.compiled.loops", wrong_loops, "gcc loops gave"
    nest = lambda _: lambda plan, order: lambda x, out: out.fill(0)
    yield "loops", f"{BENCHMARKS}.loops.measure._nest", nest, "nests 0 1 2 gave"
    copyto = lambda _: lambda dst, src, **_: np.copyto(dst, src[::-1])
    yield "zarr_io --repeats 1", "ttlg.zarr.copyto", copyto, "ttlg read other elements"


NEEDED = {"networks": "cotengra", "dask": "dask.array", "webbase": "scipy.sparse", "zarr": "zarr"}


@pytest.mark.parametrize(("line", "function", "wrong", "message"), [*liars()])
def test_a_liar_is_found(line, function, wrong, message, tiny, monkeypatch, capsys):
    program, *options = line.split()
    owner, _, name = function.rpartition(".")
    for part, needed in NEEDED.items():
        if part in line:
            pytest.importorskip(needed)
    pytest.importorskip(owner)
    shrink_optional(monkeypatch, program)
    if program == "dask_store":  # Another process would not lie.
        here = lambda count, mp_context: ThreadPoolExecutor(count)
        monkeypatch.setattr(module(program), "ProcessPoolExecutor", here)
    monkeypatch.setattr(function, wrong(getattr(importlib.import_module(owner), name)))
    try:
        assert main_of(program)([*options, "--json", "record.json"]) == 1
        said = capsys.readouterr().err
    except (WrongResultError, AssertionError, RuntimeError, SystemExit) as error:
        said = str(error)
    assert re.search(message, said, re.MULTILINE), said
    assert not Path("record.json").exists()
