"""Ablations vary one thing, verify it, and mark what the planner would take."""

import itertools
import json
import statistics

import pytest

import ttlg
from ttlg.benchmarks import ablations
from ttlg.benchmarks.ablations import ABLATIONS, Ablation, run
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.contenders import COPIES

TINY = Case("ablation", "tiny", (40, 50, 60), (2, 0, 1), "float32")


def plan_of(case):
    return ttlg.plan(case.shape, case.axes, case.dtype, threads=2)


def variants(name, case):
    return dict(ABLATIONS[name].variants(plan_of(case)))


def varied(plans):
    """Names of the parameters, and the kernel, in which plans differ."""
    records = [{"kernel": plan.kernel, **plan.parameters} for plan in plans]
    return {name for name in records[0] if len({str(record[name]) for record in records}) > 1}


BLOCKS = {"block", "loop_order", "staged", "streaming", "prefetch"}
VARIED = {
    "prefetch": {"prefetch"},
    "loops": {"loop_order"},
    "blocks": BLOCKS,
    "streaming": BLOCKS,
    "kernels": {"kernel", *BLOCKS},
    "shuffle": {"kernel", *BLOCKS},
}


def need_streaming(case):
    if not plan_of(case).parameters["streaming"]:
        pytest.skip("the caches of this machine hold the case")


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name in VARIED for case in ABLATIONS[name].cases]
)
def test_variants_can_be_built_and_differ_in_one_thing(name, case):
    if name == "streaming":
        need_streaming(case)
    found = variants(name, case)
    assert len(set(found.values())) == len(found)
    assert len({repr(plan) for plan in found.values()}) == len(found)
    assert plan_of(case) in found.values()
    assert varied(found.values()) <= VARIED[name]
    for plan in found.values():
        assert (plan.shape, plan.axes) == (case.shape, case.axes)
    if name == "loops":
        orders = [plan.parameters["loop_order"] for plan in found.values()]
        assert len(case.shape) == 4
        assert len(orders[0]) >= 3
        assert orders == list(itertools.permutations(sorted(orders[0])))


def test_maps_bring_four_to_no_modes_into_a_vector():
    for new, case in zip((4, 3, 2, 1, 0), ABLATIONS["shuffle"].cases, strict=True):
        plan = variants("shuffle", case)["shuffle"]
        assert plan.kernel == "shuffle"
        assert len(plan.extents) == len(case.shape)  # nothing fuses
        assert len({*plan.perm[:4]} - {0, 1, 2, 3}) == new


def test_a_run_marks_the_planners_choice(monkeypatch, one_call):
    monkeypatch.setitem(ABLATIONS, "tiny", Ablation("", (TINY,), ABLATIONS["kernels"].variants))
    (row,) = run("tiny", 2, 1)
    assert set(row.seconds) == {*COPIES, "tile", "shuffle", "strided_copy"}
    assert (row.ablation, row.case, row.threads, row.chosen) == ("tiny", TINY, 2, "tile")
    assert row.predicted.keys() == {"tile", "shuffle", "strided_copy"}
    assert row.predicted["tile"] == plan_of(TINY).predicted_time
    (cut,) = run("tiny", 2, 1, limit=TINY.bytes // 2)
    assert cut.case == TINY.cut(TINY.bytes // 2)


def test_levels_take_turns_in_processes_of_their_own_and_the_median_counts(monkeypatch):
    asked = []

    def child(command, *, env, stdout, check):
        asked.append(env["TTLG_SIMD_LEVEL"])
        seconds = {"copy-numpy": 1.0, asked[-1]: float(len(asked))}
        return type("Done", (), {"stdout": json.dumps([seconds])})

    monkeypatch.setattr(ablations.subprocess, "run", child)
    monkeypatch.setitem(ABLATIONS, "levels", Ablation("", (TINY,), None))
    found = ttlg.show_config()["cpu"]["simd_found"]
    (row,) = run("levels", 1, 3)
    assert (asked, row.chosen) == (found * 3, ttlg.show_config()["cpu"]["simd_used"])
    for number, level in enumerate(found, 1):
        assert row.seconds[level] == statistics.median(
            number + repeat * len(found) for repeat in range(3)
        )


def test_streaming_and_staging_vary_alone():
    large = ABLATIONS["streaming"].cases[0]
    need_streaming(large)
    fits = ablations._edited(plan_of(large), block=(32, 64), staged=True)  # the staging buffer
    plans = dict(ABLATIONS["streaming"].variants(fits))
    assert varied([plans["staged and streamed"], plans["staged"]]) == {"streaming"}
    assert varied([plans["staged"], plans["neither"]]) == {"staged"}
    assert varied([plans["streamed"], plans["neither"]]) == {"streaming"}
    assert "block" in varied([plans["neither, blocks for the caches"], plans["neither"]])
