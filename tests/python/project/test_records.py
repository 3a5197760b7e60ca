"""Committed measurements are of kernels and suites that are there today."""

import gzip
import json
import re
from pathlib import Path

import pytest

import ttlg
from ttlg.benchmarks.suites import SUITES

RESULTS = Path(__file__).parents[3] / "benchmarks" / "results"
# Of the library's choice by itself.
CHOSEN = {"auto"}


def kernels(**options):
    """List the kernels that can be forced, as the error for a name that is none lists them."""
    with pytest.raises(ValueError, match="unknown kernel") as raised:
        ttlg.plan((3, 4), (1, 0), "float64", kernel="none of them", **options)
    return set(re.findall(r"'(\w+)'", str(raised.value)))


def found(record, names):
    """List the texts that stand under some names, anywhere in a record."""
    if isinstance(record, list):
        return [text for each in record for text in found(each, names)]
    if not isinstance(record, dict):
        return []
    own = [text for name, text in record.items() if name in names and isinstance(text, str)]
    return own + [text for each in record.values() for text in found(each, names)]


def records():
    return sorted(RESULTS.glob("*.json"))


@pytest.mark.parametrize("path", records(), ids=lambda path: path.stem)
def test_kernels_are_there_today(path):
    known = CHOSEN | kernels() | kernels(inplace=True)
    known |= kernels(device="tesla-k40c") | kernels(device="tesla-k40c", inplace=True)
    used = found(json.loads(path.read_text()), ("kernel", "schema"))
    steps = {step for kernel in used if kernel for step in kernel.split(" + ")}
    assert steps <= known


@pytest.mark.parametrize("path", records(), ids=lambda path: path.stem)
def test_suites_are_there_today(path):
    pytest.importorskip("torch")
    from ttlg.benchmarks.gpu import suites as on_gpus

    generated = {"twos", "powers", "general", "cubes", "steps", "unrolling", "ends"}
    known = {*SUITES, *on_gpus.SUITES, *on_gpus.inplace.SUITES, "ablation", "loops", *generated}
    assert {*found(json.loads(path.read_text()), ("suite",))} <= known


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.gz")), ids=lambda path: path.name)
def test_kernels_of_the_models_are_there_today(path):
    with gzip.open(path, "rt") as lines:
        used = set(re.findall(r'"kernel": ?"(\w+)"', lines.read()))
    assert used <= kernels()
