"""How much memory a sparse transposition needs besides input and result.

A process of its own is run: the peak of this one has been reached by others.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from ttlg.benchmarks.contenders import Array
from ttlg.benchmarks.sparse.case import SparseCase
from ttlg.benchmarks.sparse.contenders import ours
from ttlg.benchmarks.sparse.generate import Nonzeros, generate


def _status(name: str) -> int:
    """Return the bytes that the kernel states for this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    text = next(line for line in lines if line.startswith(f"{name}:"))
    return int(text.split()[1]) * 1024


def _forget_peak() -> None:
    """Let the peak be what is used now, where the kernel allows it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _save(folder: Path, case: SparseCase, nonzeros: Nonzeros) -> None:
    (folder / "case.json").write_text(json.dumps(asdict(case)))
    for number, array in enumerate((*nonzeros.coords, nonzeros.values)):
        np.save(folder / f"{number}.npy", array)


def _load(folder: Path) -> tuple[SparseCase, Nonzeros]:
    case = json.loads((folder / "case.json").read_text())
    shape = tuple(case["shape"])
    arrays = [np.load(folder / f"{number}.npy") for number in range(len(shape) + 1)]
    case |= {"shape": shape, "axes": tuple(case["axes"])}
    return SparseCase(**case), Nonzeros(shape, tuple(arrays[:-1]), arrays[-1])


def extra_bytes(case: SparseCase, threads: int) -> float:
    """Return ttlg's peak in bytes per nonzero, without the input and the result."""
    with tempfile.TemporaryDirectory() as folder:
        _save(Path(folder), case, generate(case))
        command = [sys.executable, "-m", "ttlg.benchmarks.sparse.memory", folder, str(threads)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout) / case.nnz


def _warm_up(case: SparseCase, threads: int) -> None:
    """Start the threads and import what a call needs."""
    few = tuple(np.zeros(1, np.int32) for _ in case.shape)
    (entrant, *_) = ours(case, Nonzeros(case.shape, few, np.ones(1, case.dtype)), threads)
    entrant.call()


def _result_bytes(parts: Sequence[Array]) -> int:
    return sum(array.nbytes for array in parts)


def main(folder: str, threads: str) -> None:
    """Transpose what lies in a folder; print the bytes of the peak besides input and result."""
    case, nonzeros = _load(Path(folder))
    _warm_up(case, int(threads))
    entrant = next(iter(ours(case, nonzeros, int(threads))))
    _forget_peak()
    before = _status("VmHWM")
    result = entrant.call()
    print(_status("VmHWM") - before - _result_bytes(entrant.parts(result)))


if __name__ == "__main__":
    main(*sys.argv[1:])
