"""The program that a plan tells of, carried out in NumPy, permutes as the plan does."""

import itertools
import math

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array


def permute(vectors, program):
    """Make the stored vectors from the loaded ones."""
    if program["sums"]:
        stored = np.zeros((len(program["sums"]), 16), np.uint8)
        for vector, terms in zip(stored, program["sums"], strict=True):
            for source, places in terms:
                vector |= np.where(np.less(places, 0), 0, vectors[source][list(places)])
        return stored
    vectors = vectors[:, program["first"]]
    for run in program["rounds"]:
        halves = vectors.reshape(2, len(vectors) // 2, -1, run)
        vectors = halves.transpose(1, 2, 0, 3).reshape(len(vectors), 16)
    return vectors


def carry_out(plan, x):
    """Move a contiguous array tile by tile; the last tiles along a mode overlap others."""
    program = plan.shuffle_program()
    tile = program["tile"]
    extents = plan.extents[-len(tile) :]
    folded = len(plan.extents) - len(tile)
    perm = [mode - folded for mode in plan.perm[folded:]]
    run = plan.nbytes // math.prod(extents)
    in_steps = [run * math.prod(extents[:m]) for m in range(len(tile))]
    out_steps = [
        run * math.prod(extents[m] for m in perm[: perm.index(mode)]) for mode in range(len(tile))
    ]
    origins = [
        {min(begin, extent - size) for begin in range(0, extent, size)}
        for extent, size in zip(extents, tile, strict=True)
    ]
    source, target = x.view(np.uint8).ravel(), np.zeros(plan.nbytes, np.uint8)
    for origin in itertools.product(*origins):
        loads = np.add.outer(np.dot(origin, in_steps) + program["loads"], np.arange(16))
        stores = np.add.outer(np.dot(origin, out_steps) + program["stores"], np.arange(16))
        target[stores] = permute(source[loads], program)
    return target.tobytes()


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8])
def test_programs_permute(itemsize):
    random = np.random.default_rng(itemsize)
    problems = [((50, 3), (1, 0)), ((3, 50), (1, 0)), ((32, 16), (1, 0)), ((7, 5, 20), (2, 1, 0))]
    for _ in range(60):
        shape = random.integers(2, 6, random.integers(3, 7))
        problems.append((shape, random.permutation(len(shape))))
    kinds = []
    for shape, axes in problems:
        x = random_array(shape, f"V{itemsize}")
        try:
            plan = ttlg.plan(x.shape, axes, x.dtype, kernel="shuffle")
        except ValueError:
            continue
        assert carry_out(plan, x) == bits(x.transpose(axes)), (shape, axes)
        program = plan.shuffle_program()
        kinds.append(bool(program["sums"]))
        rounds = len(program["rounds"]) + (program["first"] != (*range(16),))
        assert f"  shuffles   {1 if program['sums'] else rounds} step" in plan.explain()
    assert len(kinds) > 15
    assert False in kinds
    assert (True in kinds) == (itemsize < 8)  # two elements a vector: powers of two


@pytest.mark.parametrize("options", [{"kernel": "tile"}, {"device": "tesla-k40c"}])
def test_other_kernels_have_no_program(options):
    with pytest.raises(ValueError, match="has no shuffle program; plan for the CPU with kernel="):
        ttlg.plan((64, 64), dtype="float64", **options).shuffle_program()
    with pytest.raises(ValueError, match="'square' has no shuffle program"):
        ttlg.plan((64, 64), dtype="float64", inplace=True).shuffle_program()
