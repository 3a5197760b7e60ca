"""Memory: no more than the plan says, no more than was allowed, and an array kept when it fails."""

import json

import pytest

MIB = 1 << 20

MEASURE = """
    import json, math, sys
    import numpy as np
    import ttlg
    from ttlg import _core

    def bytes_of(name):
        with open("/proc/self/status") as file:
            lines = dict(line.split(":", 1) for line in file)
        return int(lines[name].split()[0]) * 1024

    shape, axes, options, function = json.loads(sys.argv[1])
    getattr(ttlg, function)(np.zeros((300, 2000)), **options)  # threads start
    x = np.arange(math.prod(shape), dtype="<u8").reshape(shape)
    plan = _core.cpu_inplace_plan_for(
        _core.view(x, "x"), axes, options["threads"], options.get("workspace"))
    before = bytes_of("VmRSS")
    y = getattr(ttlg, function)(x, axes, **options)
    growth = bytes_of("VmHWM") - before
    assert np.array_equal(y, np.arange(x.size, dtype=x.dtype).reshape(shape).transpose(axes))
    print(json.dumps([growth, plan.workspace_bytes, x.nbytes]))
"""


def measured(run_python, shape, axes, function="transpose_inplace", **options):
    """Return by how much a call grows the process at most, and what its plan says."""
    options = {"threads": 2, **options}
    done = run_python(MEASURE, json.dumps([shape, axes, options, function]))
    return json.loads(done.stdout)


# Beside the workspace: a huge page at its end.
ELSE = 2 * MIB


@pytest.mark.usefixtures("plain_malloc")
@pytest.mark.parametrize(
    ("shape", "axes", "options"),
    [
        ((3500, 3501), (1, 0), {}),
        ((3500, 3501), (1, 0), {"workspace": MIB}),
        ((4_000_037, 3), (1, 0), {}),
        ((3500, 3500), (1, 0), {}),
        ((60, 50, 70, 60), (2, 1, 0, 3), {}),
        ((60, 50, 70, 60), (3, 1, 0, 2), {"workspace": MIB}),
        ((49, 500, 501), (0, 2, 1), {}),
        ((49, 500, 501), (0, 2, 1), {"workspace": MIB}),
    ],
)
def test_the_workspace_is_all_that_is_used(run_python, shape, axes, options):
    growth, workspace, size = measured(run_python, shape, axes, **options)
    assert size > 90 * MIB
    assert workspace <= options.get("workspace", size // 20)
    assert growth <= workspace + ELSE


@pytest.mark.usefixtures("plain_malloc")
def test_a_second_copy_would_show(run_python):
    growth, workspace, size = measured(run_python, (3500, 3501), (1, 0), "transpose")
    assert growth >= size > 2 * (workspace + ELSE)


EXHAUST = """
    import resource
    import numpy as np
    import ttlg

    def address_space():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()

    x = np.arange(1, 8_004_001, dtype="<u8").reshape(2001, 4000)
    before = x.copy()
    ttlg.transpose_inplace(np.zeros((300, 2000)), threads=1)
    limit = address_space() + (16 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    try:
        ttlg.transpose_inplace(x, threads=1, workspace=1 << 30)
    except MemoryError as error:
        print(error)
    assert np.array_equal(x, before)
    y = ttlg.transpose_inplace(x, threads=1, workspace=1 << 20)
    assert np.array_equal(y, before.T)
"""


@pytest.mark.usefixtures("plain_malloc")
def test_too_little_memory_leaves_the_array_as_it_is(run_python):
    done = run_python(EXHAUST)
    assert "needs a workspace of 64032000 bytes" in done.stdout
    assert "pass a smaller workspace=" in done.stdout
