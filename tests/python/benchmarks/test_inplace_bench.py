"""What takes part in place works in the memory, any number of times, or says why it does not."""

import gc
import json
import sys
import weakref

import numpy as np
import pytest

import ttlg
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.contenders import Contender
from ttlg.benchmarks.inplace import contenders as module
from ttlg.benchmarks.inplace import libraries
from ttlg.benchmarks.inplace.libraries import LeftOutError
from ttlg.benchmarks.measure import random_array, verify

MATRIX = Case("inplace-random", "matrix", (37, 52), (1, 0), "float64")
SHAPES = [
    ((37, 52), (1, 0)),
    ((64, 64), (1, 0)),
    ((1000, 3), (1, 0)),
    ((3, 1000), (1, 0)),
    ((6, 7, 8), (2, 1, 0)),
    ((5, 6, 7, 8), (3, 2, 1, 0)),
    ((5, 6, 7, 8), (0, 1, 3, 2)),
    ((2, 3, 4, 5, 6), (4, 2, 0, 1, 3)),
]


@pytest.fixture
def load_again():
    """Let a test find other libraries than those that are loaded."""
    loads = libraries.openblas, libraries.fftw
    for load in loads:
        load.cache_clear()
    yield
    for load in loads:
        load.cache_clear()


def installed(load, *args):
    try:
        return load(*args)
    except LeftOutError as error:
        pytest.skip(str(error))


def check(entrants, x, axes):
    """Verify contenders, each twice on what the one before has left; return their names."""
    memory = np.empty(x.size, x.dtype)
    names = []
    for entrant in entrants(memory):
        once = np.ascontiguousarray(x.transpose(axes))
        verify(entrant, memory, once, x)
        entrant.call()
        np.testing.assert_array_equal(memory, once.reshape(x.shape).transpose(axes).ravel())
        names.append(entrant.name)
    return names


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_every_contender_is_right(shape, axes, dtype, threads):
    case = Case("inplace-tensors", "any", shape, axes, dtype)
    x = random_array(shape, dtype)
    names = check(lambda memory: module.contenders(case, memory, threads), x, axes)
    assert {"ttlg", "numpy-back", "ttlg-back"} <= set(names) <= {"ttlg", *module.PEERS}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_openblas_of_numpy_is_right(monkeypatch, load_again, dtype, threads):
    """NumPy's wheel spells its names another way than the system's library does."""
    monkeypatch.setattr(libraries, "find", lambda *names: None)
    library = installed(libraries.openblas)
    x = random_array((5, 9), dtype)
    call = library.imatcopy
    check(lambda memory: [Contender("", call(memory.reshape(x.shape), threads))], x, (1, 0))
    assert library._function("openblas_get_num_threads")() == threads
    assert library.version.startswith("OpenBLAS")


def test_openblas_takes_no_part_where_it_would_end_the_process(monkeypatch):
    library = installed(libraries.openblas)
    monkeypatch.setattr(libraries, "_physical_bytes", lambda: 2 * 8 * 100 * 100)
    library.imatcopy(np.zeros((100, 3)), 1)
    library.imatcopy(np.zeros((3, 101)), 1)
    with pytest.raises(LeftOutError, match="allocate"):
        library.imatcopy(np.zeros((101, 3)), 1)


def test_memory_is_given_back_with_the_contenders():
    """At once, not when Python looks for cycles: it may be gigabytes."""
    gc.disable()
    try:
        memory = np.empty(MATRIX.bytes // 8)
        entrants = list(module.contenders(MATRIX, memory, 1))
        for entrant in entrants:
            entrant.call()
        given_back = weakref.ref(memory)
        del memory, entrants, entrant
        assert given_back() is None
    finally:
        gc.enable()


def test_who_is_absent_or_refused_takes_no_part_and_says_why(monkeypatch, load_again):
    def names():
        return [each.name for each in module.contenders(MATRIX, np.empty(MATRIX.bytes // 8), 1)]

    monkeypatch.setattr(libraries, "find", lambda *names: None)
    monkeypatch.setattr(libraries, "find_in_numpy", lambda: None)
    monkeypatch.setitem(sys.modules, "fastremap", None)
    assert names() == ["ttlg", "c2r", "r2c", "numpy-back", "ttlg-back"]
    found = module.describe()
    assert found["OpenBLAS"] == "left out: no libopenblas found"
    assert found["FFTW float32"] == "left out: no libfftw3f with threads found"
    assert found["fastremap"] == "left out: fastremap is not installed"
    assert not found["forced kernels"].startswith("left out")
    assert json.loads(json.dumps(found)) == found
    real = ttlg.plan

    def refuse(*args, inplace=False, **kwargs):
        if inplace:
            raise ValueError("no kernel 'c2r' for this")
        return real(*args, **kwargs)

    monkeypatch.setattr(ttlg, "plan", refuse)
    assert names() == ["ttlg", "numpy-back", "ttlg-back"]
    assert module.describe()["forced kernels"] == "left out: no kernel 'c2r' for this"


@pytest.mark.parametrize("suite", ["inplace-landscape", "inplace-random"])
def test_forced_kernels_are_planned_once(suite, spy):
    case = Case(suite, "matrix", MATRIX.shape, (1, 0), "float64")
    asked = spy(ttlg, "plan", lambda plan, *given, **options: (given, options))
    x = random_array(case.shape, case.dtype)
    names = check(lambda memory: module.contenders(case, memory, 2), x, (1, 0))
    assert names[:3] == ["ttlg", "c2r", "r2c"]
    assert ("numpy-back" in names) == (suite == "inplace-random")
    forced = [{"inplace": True, "kernel": name, "threads": 2} for name in module.FORCED]
    given = (case.shape, (1, 0), "float64")
    assert asked[:2] == [(given, options) for options in forced]
    assert not any(options.get("inplace") for _, options in asked[2:])
