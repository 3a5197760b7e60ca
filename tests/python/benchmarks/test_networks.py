"""Networks are contracted along two trees, whose results have to agree."""

import json
from dataclasses import replace

import numpy as np
import pytest

import ttlg
from ttlg.benchmarks.contraction import networks

pytest.importorskip("cotengra")

TINY = networks.Network("tiny", 2, 8, 3, seed=1)
GRID = networks.Network("grid", 2, lattice=(2, 3))


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(networks, "NETWORKS", (TINY, GRID))


def test_networks_are_the_same_at_every_call():
    assert TINY.build() == TINY.build()
    assert len(TINY.build()[0]) == 8
    assert len(GRID.build()[0]) == 6
    assert set(replace(GRID, bond=5).build()[2].values()) == {5}


def test_both_trees_are_measured_and_recorded(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    path, image = tmp_path / "networks.json", tmp_path / "networks.png"
    options = ["--trials", "2", "--repeats", "1", "--json", str(path), "--plot", str(image)]
    assert networks.main(options) == 0
    assert image.exists()
    lines = capsys.readouterr().out.splitlines()
    assert [text.partition(" of bond")[0] for text in lines] == ["tiny", "grid"]
    results = json.loads(path.read_text())["results"]
    assert [result["name"] for result in results] == ["tiny", "grid"]
    for result in results:
        for name in ("operations", "time"):
            assert all(value > 0 for value in result[name].values())


def test_some_networks(capsys):
    assert networks.main(["--trials", "1", "--repeats", "1", "--only", "grid"]) == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_results_that_differ_are_refused(monkeypatch, capsys):
    plan = ttlg.contraction
    planned = []

    def liar(*arguments, **options):
        contraction = plan(*arguments, **options)
        planned.append(contraction)
        if len(planned) > 1:
            monkeypatch.setattr(contraction, "run", lambda operands, out: np.float64(7))
        return contraction

    monkeypatch.setattr(ttlg, "contraction", liar)
    assert networks.main(["--trials", "1", "--repeats", "1"]) == 1
    assert "the results along the two trees differ" in capsys.readouterr().err
