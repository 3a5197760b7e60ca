"""The commands that fit the shipped models to files of measurements."""

import json
import re

import numpy as np
import pytest

from ttlg import _core
from ttlg._calibrate import fit
from ttlg._calibrate.errors import regrets, summarize
from ttlg.benchmarks import cpu_model, generic_model

pytest.importorskip("scipy")


@pytest.fixture
def measured(rows, tmp_path):
    """Write the made-up times to a file; return it and what follows it in commands."""
    machine = _core.this_cpu_machine()
    caches = machine.l1_cache_bytes, machine.l2_cache_bytes, machine.last_level_cache_bytes
    file = tmp_path / "blocks.jsonl"
    file.write_text("".join(f"{row.to_json()}\n" for row in rows[::3]))
    return file, [*map(str, caches)]


@pytest.mark.rotating
def test_one_model_serves_machines_of_different_speed(points):
    slower = fit.Design(points.rows, points.counts, 3 * points.seconds)
    seconds = generic_model.fit_generic([points, slower], cases=1000)
    ratios = [fit.ratio_of_choices(each, seconds) for each in (points, slower)]
    assert ratios[1] / ratios[0] == pytest.approx(3)
    assert np.prod(ratios) == pytest.approx(1)
    assert summarize(regrets(points, points.counts @ seconds)).mean < 0.02


def test_the_generic_model_is_printed_as_its_source_has_it(measured, capsys):
    file, caches = measured
    machines = ["--machine", str(file), *caches] * 2
    assert generic_model.main([*machines, "--without", "2", "--cases", "40"]) == 0
    printed = capsys.readouterr().out
    found = re.findall(r'^    \{"(\w+)", ([-+.e\d]+)\},$', printed, re.MULTILINE)
    assert {name for name, _ in found} <= set(_core.cpu_term_names())
    assert float(dict(found)["call"]) > 0
    assert printed.count("blocks.jsonl: loses") == 2


def test_wrong_usage(measured, capsys):
    file, caches = measured
    for program, arguments, message in (
        (generic_model, ["--machine", str(file), *caches[:2]], "--machine"),
        (cpu_model, ["evaluate", str(file), "--keep", "call"], "needs --prior"),
        (cpu_model, ["evaluate", str(file), "--keep", "calling"], "invalid choice: 'calling'"),
    ):
        with pytest.raises(SystemExit):
            program.main(arguments)
        assert message in capsys.readouterr().err


@pytest.mark.rotating
def test_terms_that_no_row_tells_of_are_those_of_the_prior(measured, tmp_path):
    file, caches = measured
    prior = dict.fromkeys(_core.cpu_term_names(), 1e-9) | {"call": 2e-7, "fresh_pages": 3e-7}
    (tmp_path / "prior.json").write_text(json.dumps({"coefficients": prior}))
    command = ["evaluate", str(file), "--caches", *caches, "--prior", str(tmp_path / "prior.json")]
    model = tmp_path / "cpu-mine.json"
    assert cpu_model.main([*command, "--keep", "call", "--model", str(model)]) == 0
    found = json.loads(model.read_text())
    assert found["name"] == "cpu-mine"
    scale = found["coefficients"]["fresh_pages"] / prior["fresh_pages"]
    assert found["coefficients"]["call"] == pytest.approx(scale * prior["call"], rel=0.02)
    assert found["coefficients"]["vectors"] != pytest.approx(scale * prior["vectors"], rel=0.02)
