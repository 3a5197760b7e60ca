"""Shipped device models: the published table, and plans for a GPU that is nowhere near."""

import json
from importlib import resources

import pytest

import ttlg

# TTLG (IPDPS 2018), Table II.
PUBLISHED = {
    "orthogonal_distinct": {
        "Volume": 1.278e-11,
        "NumBlocks": 5.001e-08,
        "Input slice": 7.835e-07,
        "Output slice": 1.252e-06,
        "Cycles": -2.692e-11,
    },
    "orthogonal_arbitrary": {
        "Volume": -3.018e-11,
        "NumThreads": 2.730e-10,
        "Total Slice": 2.126e-07,
        "Input Stride": -8.880e-12,
        "Output Stride": -1.091e-11,
        "Special Instr": 3.047e-11,
        "Cycles": 5.112e-10,
    },
}


def test_k40c_has_the_published_coefficients():
    text = (resources.files("ttlg") / "models" / "tesla-k40c.json").read_text()
    assert json.loads(text)["coefficients"] == PUBLISHED


def test_k40c_picks_the_slice_of_figure_5():
    # perm 4 1 2 0 3 of the paper, last axis fastest.
    plan = ttlg.plan(
        (27,) * 5, (1, 4, 2, 3, 0), "float64", device="tesla-k40c", kernel="orthogonal_distinct"
    )
    parameters = plan.parameters
    assert (parameters["in_modes"], parameters["in_block"]) == (2, 7)  # 27 x 7 = 189
    assert (parameters["out_modes"], parameters["out_block"]) == (1, 27)
    assert plan.predicted_time == pytest.approx(1.7e-3, rel=0.05)
