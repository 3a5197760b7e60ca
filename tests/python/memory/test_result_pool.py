"""Large NumPy results: memory that is used again, and arrays that are like any other."""

import ctypes
import gc
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import ttlg
from ttlg import _core

try:
    from numpy._core import multiarray
except ImportError:  # NumPy 1
    from numpy.core import multiarray

get_handler_name = multiarray.get_handler_name

MIB = 1 << 20
SHAPE = (1024, 2048)  # float64: 16 MiB
BYTES = 16 * MIB
POOL, NUMPYS = "ttlg_result_pool", "default_allocator"


@pytest.fixture(autouse=True)
def _empty_pool():
    """Start with nothing waiting and room for some results, whatever the machine."""
    ttlg.set_result_pool(0)
    ttlg.set_result_pool(256 * MIB)
    _core.set_result_pool_wait(600)
    yield
    _core.set_result_pool_wait(1)
    ttlg.set_result_pool(None)


@pytest.fixture
def x():
    return np.arange(SHAPE[0] * SHAPE[1], dtype=np.float64).reshape(SHAPE)


class Subclass(np.ndarray):
    """Goes the general way, not the fast path."""


def waiting():
    gc.collect()
    return ttlg.show_config()["cpu"]["result_pool_waiting_bytes"]


def limit():
    return ttlg.show_config()["cpu"]["result_pool_limit_bytes"]


def memory_of(result):
    """Return the array whose memory `result` is in."""
    while result.base is not None:
        result = result.base
    return result


CALLS = {
    "transpose": lambda x: ttlg.transpose(x),
    "permute_dims": lambda x: ttlg.permute_dims(x, (1, 0)),
    "plan": lambda x: ttlg.plan(x.shape, None, x.dtype)(x),
    "axes that are no tuple": lambda x: ttlg.transpose(x, iter((1, 0))),
    "subclass": lambda x: ttlg.transpose(x.view(Subclass)),
    "plan, subclass": lambda x: ttlg.plan(x.shape, None, x.dtype)(x.view(Subclass)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_results_come_from_the_pool_and_go_back(x, call):
    result = call(x)
    assert get_handler_name(memory_of(result)) == POOL
    assert np.array_equal(result, x.T)
    assert result.flags.c_contiguous
    assert result.flags.writeable
    address = result.ctypes.data
    assert address % 64 == 0
    assert waiting() == 0
    del result
    assert waiting() == BYTES
    assert call(x + 1).ctypes.data == address


def test_only_large_results_are_pooled(x):
    for bytes_ in (8, (64 << 10) - 8):
        assert get_handler_name(ttlg.transpose(x.reshape(-1)[: bytes_ // 8])) == NUMPYS
    for bytes_ in (64 << 10, 4 * MIB - 8):
        result = ttlg.transpose(x.reshape(-1)[: bytes_ // 8])
        assert get_handler_name(result) == POOL
        assert result.ctypes.data % 64 == 0
        del result
        assert waiting() == 0
    assert get_handler_name(ttlg.transpose(x.reshape(-1)[: MIB // 2])) == POOL
    assert waiting() == 4 * MIB
    assert get_handler_name(ttlg.transpose(np.empty((0, 1 << 40, 3)))) == NUMPYS


def test_what_others_allocate_is_left_alone(x):
    result = ttlg.transpose(x)
    assert result.flags.owndata
    assert get_handler_name() == NUMPYS
    others = [np.empty(SHAPE), result.copy(), result + 1, x.T.copy()]
    assert {get_handler_name(other) for other in others} == {NUMPYS}


def test_the_last_view_frees_the_memory(x):
    result = ttlg.transpose(x)
    view = result[5:7, 3]
    buffer = memoryview(result)
    del result
    assert waiting() == 0
    del buffer
    assert waiting() == 0
    assert view.tolist() == x.T[5:7, 3].tolist()
    del view
    assert waiting() == BYTES


@pytest.mark.parametrize("rows", [1, 1024, 4096, 9000])
def test_results_can_be_resized(x, rows):
    result = ttlg.transpose(x)
    result.resize((rows, SHAPE[0]), refcheck=False)
    kept = min(rows, SHAPE[1])
    assert np.array_equal(result[:kept], x.T[:kept])
    assert not result[kept:].any()
    result.resize((3, 5), refcheck=False)
    assert np.array_equal(result.reshape(-1), x.T.reshape(-1)[:15])
    del result
    assert waiting() >= BYTES


def test_the_limit(x):
    ttlg.set_result_pool(2 * BYTES)
    results = [ttlg.transpose(x) for _ in range(3)]
    results.clear()
    assert waiting() == 2 * BYTES
    ttlg.set_result_pool(2 * BYTES - 1)
    assert waiting() == BYTES
    assert limit() == 2 * BYTES - 1


@pytest.mark.parametrize(
    ("value", "error"),
    [
        *((value, ValueError) for value in (-1, 1 << 63, "16E", "8388608T", "1 parsec", "-1", "")),
        *((value, TypeError) for value in (1.5, float("nan"), True)),
    ],
)
def test_a_refused_limit_changes_nothing(value, error):
    with pytest.raises(error, match=r"result pool|not a size such as|whole number of bytes"):
        ttlg.set_result_pool(value)
    assert limit() == 256 * MIB


def test_a_limit_as_text():
    result = ttlg.set_result_pool("1.5 mb")
    assert (result, str(result), limit()) == (1_500_000, "1500000", 1_500_000)


def test_a_limit_for_a_block(x):
    before = ttlg.transpose(x)
    with ttlg.set_result_pool(0) as inside:
        assert (inside, limit()) == (0, 0)
        with ttlg.set_result_pool("1M"):
            assert limit() == MIB
            ttlg.set_result_pool(5)
        assert limit() == 0
        with pytest.raises(KeyError), ttlg.set_result_pool("1M"):
            raise KeyError
        assert limit() == 0
        result = ttlg.transpose(x)
        assert result.ctypes.data % 64 == 0
        del result, before
        assert waiting() == 0
    assert limit() == 256 * MIB


@pytest.mark.usefixtures("plain_malloc")
def test_memory_that_is_not_used_goes_back_without_another_call(run_python):
    script = """
        import time
        from pathlib import Path

        import numpy as np

        import ttlg

        def resident_bytes():
            return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

        x = np.ones((1024, 2048))
        before = resident_bytes()
        results = [ttlg.transpose(x) for _ in range(10)]
        results.clear()
        end = time.monotonic() + 20
        while resident_bytes() > before + x.nbytes and time.monotonic() < end:
            time.sleep(0.1)
        assert resident_bytes() <= before + x.nbytes
        assert ttlg.show_config()["cpu"]["result_pool_waiting_bytes"] == 0
        assert len(list(Path("/proc/self/task").iterdir())) == 1
    """
    run_python(
        script, TTLG_RESULT_POOL=str(1 << 30), TTLG_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"
    )


def test_environment(run_python):
    show_limit = "import ttlg; print(ttlg.show_config()['cpu']['result_pool_limit_bytes'])"
    for text, limit in {"0": 0, "12345678": 12345678, "1.5G": 3 << 29}.items():
        result = run_python(show_limit, TTLG_RESULT_POOL=text)
        assert result.stdout == f"{limit}\n", result.stderr
    assert 0 < int(run_python(show_limit, TTLG_RESULT_POOL="").stdout) <= 2 << 30


@pytest.mark.parametrize("value", ["-1", "1.5", "512 parsec", "9" * 20])
def test_invalid_environment(run_python, value):
    result = run_python("import ttlg", status=1, TTLG_RESULT_POOL=value)
    assert result.stderr.splitlines()[-1] == (
        f"ValueError: TTLG_RESULT_POOL must be a size such as 256M, 0 to turn the pool off, not "
        f"{value!r}; unset it for the default"
    )


def test_tracemalloc_sees_results_come_and_go(x):
    ttlg.transpose(x)  # waits
    tracemalloc.start()
    try:
        result = ttlg.transpose(x)
        assert BYTES <= tracemalloc.get_traced_memory()[0] < BYTES + MIB
        del result
        assert tracemalloc.get_traced_memory()[0] < MIB
    finally:
        tracemalloc.stop()


def test_too_large_a_result_is_a_memory_error():
    ttlg.set_result_pool((1 << 63) - 1)
    x = np.broadcast_to(np.int8(1), (1 << 47,))
    with pytest.raises(MemoryError):
        ttlg.transpose(x)
    assert get_handler_name() == NUMPYS
    assert waiting() == 0


def test_nothing_leaks():
    for _ in range(100_000):
        _core.new_ndarray((2, MIB), np.dtype(np.float64))
    assert waiting() == BYTES


def test_nothing_waits_across_a_fork(run_python):
    run_python("""
        import os, numpy as np, ttlg
        ttlg.set_result_pool(1 << 28)
        ttlg._core.set_result_pool_wait(600)
        x = np.arange(1 << 21, dtype=float).reshape(1024, 2048)
        result = ttlg.transpose(x)
        ttlg.transpose(x)
        if os.fork() == 0:
            waiting = ttlg.show_config()["cpu"]["result_pool_waiting_bytes"]
            del result  # which the parent has too
            os._exit(0 if waiting == 0 and np.array_equal(ttlg.transpose(x), x.T) else 1)
        assert os.wait()[1] == 0
        assert np.array_equal(result, x.T)
    """)


def test_results_outlive_everything_else(run_python):
    result = run_python("""
        import atexit, sys, numpy as np, ttlg
        x = np.ones((1024, 2048))
        sys.kept = [ttlg.transpose(x)]
        sys.kept.append(sys.kept)
        atexit.register(lambda results=[ttlg.transpose(x)]: results.clear())
        kept = ttlg.transpose(x)[1:]
    """)
    assert result.stderr == ""


def numpy_function(slot, result_type, *argument_types):
    """Return a function of NumPy's C API by its place in the table."""
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    table = pointer_of(multiarray._ARRAY_API, None)
    address = ctypes.c_void_p.from_address(table + slot * ctypes.sizeof(ctypes.c_void_p)).value
    return ctypes.PYFUNCTYPE(result_type, *argument_types)(address)


def test_a_policy_of_the_program_is_kept(x):
    set_handler = numpy_function(304, ctypes.py_object, ctypes.py_object)
    pooled = ttlg.transpose(x)
    # NumPy's own under another name: the structure begins with 127 characters.
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    numpys = numpy_function(305, ctypes.py_object)()
    structure = ctypes.create_string_buffer(
        ctypes.string_at(pointer_of(numpys, b"mem_handler"), 128 + 5 * 8)
    )
    structure[:8] = b"program\0"
    set_handler(new(ctypes.addressof(structure), b"mem_handler", None))
    try:
        result = ttlg.transpose(x)
        assert get_handler_name(result) == get_handler_name() == "program"
        assert np.array_equal(result, pooled)
        del result
    finally:
        set_handler(numpys)
    assert waiting() == 0


def test_the_functions_of_numpy_are_where_its_headers_say():
    source = Path(__file__).parents[3] / "cpp/bindings/new_ndarray.cpp"
    ours = dict(re.findall(r"k(\w+Handler) = (\d+);", source.read_text()))
    assert set(ours) == {"SetHandler", "GetHandler", "DefaultHandler"}
    header = Path(np.get_include()) / "numpy/__multiarray_api.h"
    table = dict(
        re.findall(r"#define PyDataMem_(\w+)\b[^#]*?PyArray_API\[(\d+)\]", header.read_text())
    )
    assert {name: table[name] for name in ours} == ours
