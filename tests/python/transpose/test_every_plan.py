"""Every plan of the space moves the same bytes, not only the one that the planner chooses."""

import numpy as np
import pytest

from ttlg import _core

from ..arrays import bits, random_array, zeros_in_line

PROBLEMS = [
    ((67, 259), (1, 0)),
    ((256, 128), (1, 0)),  # rows of whole lines, many of them in one set of L1
    ((1024, 67), (1, 0)),  # the output's in one set, the input's not
    ((5, 130, 67), (0, 2, 1)),
    ((4, 96, 7, 8), (3, 1, 0, 2)),
    ((8,) * 5, (4, 1, 3, 2, 0)),
    ((200, 3), (1, 0)),
    ((3, 200), (1, 0)),
]


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8", "c16", "V3", "V12"])
@pytest.mark.parametrize(("shape", "axes"), PROBLEMS)
def test_every_plan(shape, axes, dtype):
    x = random_array(shape, dtype)
    expected = bits(x.transpose(axes))
    request = _core.Request(shape, x.strides, x.itemsize, axes)
    seen = set()
    for kernel, parameters, _ in _core.cached_cpu_plan(request, 2, None).candidates(2, all=True):
        plan = _core.build_cpu_plan(request, kernel=kernel, **parameters)
        for begin in (0, 16, x.itemsize):
            out = zeros_in_line(begin, [shape[axis] for axis in axes], x.dtype)
            assert _core.run_ndarray(plan, x, out) is out
            assert bits(out) == expected, (kernel, parameters, begin)
        seen.add((parameters["streaming"], parameters["staged"]))
    # Plans that stream straight from registers, which the planner's choice may not be, have run.
    if x.itemsize in (1, 2, 4, 8) and np.prod(shape) > 4096 and min(shape) > 3:
        assert seen >= {(True, False), (False, False)}
