"""The suites are the published ones, and the same on every machine."""

import json
import math
import zlib
from dataclasses import asdict

import numpy as np
import pytest

import ttlg
from ttlg.benchmarks import views
from ttlg.benchmarks.contraction import suites as contraction
from ttlg.benchmarks.inplace import suites as inplace
from ttlg.benchmarks.sparse import suites as sparse
from ttlg.benchmarks.suites import DEFAULT_SUITES, SUITES, cases
from ttlg.benchmarks.ttc57 import TTC57

OPTIONS = ({}, {"quick": True}, {"sample": 9}, {"full": True})
# How many cases there are with each of these options, and a checksum of all.
LISTED = {
    "ttc57": ([114, 8, 114, 114], 3480939792),
    "sixd-sample": ([72, 8, 72, 72], 4167422282),
    "sixd": ([2160, 8, 27, 2160], 3504766087),
    "matrices": ([30, 8, 30, 30], 1370843423),
    "skinny": ([24, 8, 24, 24], 4219865397),
    "layouts": ([18, 8, 18, 18], 2793863164),
    "cubes": ([135, 8, 135, 135], 1480451995),
    "gentt": ([21, 8, 21, 21], 1782347879),
    "latency": ([10, 8, 10, 10], 890422028),
    "call": ([9, 8, 9, 9], 1967902791),
    "fresh": ([4, 4, 4, 4], 156034969),
    "orders": ([16, 8, 16, 16], 2983084573),
    "twos": ([64, 8, 64, 64], 1881290914),
    "views": ([203, 8, 203, 203], 978646846),
    "inplace-square": ([28, 8, 28, 28], 652827767),
    "inplace-random": ([30, 8, 9, 1000], 4245529101),
    "inplace-aos": ([48, 8, 18, 20000], 2275873572),
    "inplace-tensors": ([24, 8, 9, 240], 1702295429),
    "inplace-landscape": ([64, 8, 9, 25000], 3560703299),
    "sparse-matrices": ([9, 8, 9, 9], 3622224555),
    "sparse-tensors": ([131, 8, 125, 345], 1841916780),
    "sparse-options": ([18, 8, 18, 18], 1946589627),
    "contractions": ([233, 24, 42, 257], 792610622),
}


@pytest.mark.parametrize("name", LISTED)
def test_cases_are_the_same_everywhere(name):
    """A change of them needs new measurements."""
    listed = [
        contraction.cases(**options) if name == "contractions" else cases([name], **options)
        for options in OPTIONS
    ]
    text = "\n".join(case.described for found in listed for case in found)
    assert all(len({case.label for case in found}) == len(found) for found in listed)
    assert ([*map(len, listed)], zlib.crc32(text.encode())) == LISTED[name]


def test_views_are_what_records_say():
    """Each is another part of its array than the whole, and comes back from JSON."""
    for view in views.views():
        entry = json.loads(json.dumps(asdict(view)))
        assert views.View.from_entry(entry) == view
        x = view.of(np.empty(view.base, view.dtype))
        assert x.shape == view.shape
        assert not x.flags.c_contiguous


def test_arrays_of_zarr_are_the_same_everywhere():
    pytest.importorskip("zarr", minversion="3.1")
    from ttlg.benchmarks.zarr_io import cases

    found = [(case, case.chunks, case.shape) for case in cases(quick=False)]
    assert (len(found), zlib.crc32(repr(found).encode())) == (74, 2469237056)


def test_default_leaves_out_only_the_long_suite_those_in_place_and_sparse_ones():
    assert set(SUITES) - set(DEFAULT_SUITES) == {"sixd", *inplace.SUITES, *sparse.SUITES}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ttc57_is_the_published_list(dtype):
    # The core numbers modes as the sources do, so the plan must give back size and permutation.
    published = [(size, perm) for perm, sizes in TTC57 for size in sizes]
    chosen = [case for case in cases(["ttc57"]) if case.dtype == dtype]
    assert [case.name for case in chosen] == [f"{number:02}" for number in range(1, 58)]
    for case, (size, perm) in zip(chosen, published, strict=True):
        plan = ttlg.plan(case.shape, case.axes, dtype)
        assert (plan.extents, plan.perm) == (size, perm)
        assert size[0] % 16 == size[perm[0]] % 16 == 0
        assert 192 < math.prod(size) * 4 / 2**20 < 231
    # The permutations as TTC's rule writes them, and the elements that the source counts in all.
    rule = """10 021 102 210 0321 2130 2031 1032 3210 04213 32140 20413 13042 43210
        032541 320514 204153 325104 543210"""
    assert [perm for perm, _ in TTC57] == [tuple(map(int, text)) for text in rule.split()]
    assert sum(math.prod(size) for size, _ in published) == 3_077_313_696
    # Written down independently. Number 28: 32 48 28 28 48 by 0 4 2 1 3, column-major, so that the
    # output is 32 48 28 48 28.
    assert (chosen[27].shape, chosen[27].axes) == ((48, 28, 28, 48, 32), (1, 3, 2, 0, 4))
    assert chosen[27].out_shape == (28, 48, 28, 48, 32)
