"""DLPack producers that are refused: the message says why, nothing is written, nothing leaks."""

import gc

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array
from .producer import VULKAN, Producer, Silent, exchanging


def check_refused(x, out, error, *words):
    """Expect `error` with all `words`, an untouched `out`, and every export deleted once."""
    before = bits(out.array if isinstance(out, Producer) else out)
    with pytest.raises(error) as caught:
        ttlg.transpose(x, out=out)
    for word in words:
        assert word in str(caught.value)
    assert bits(out.array if isinstance(out, Producer) else out) == before
    # The traceback holds the frames, and with them the borrowed tensors.
    del caught
    gc.collect()
    for array in (x, out):
        assert not isinstance(array, Producer) or array.released_once


@pytest.fixture
def array():
    return random_array((4, 6), "f4")


@pytest.fixture
def out():
    return random_array((6, 4), "f4", seed=1)


VERSIONS = [(0, 8), (2, 0), (3, 1)]
PACKED = [(0, 4, 1), (1, 1, 1), (17, 4, 1), (15, 6, 1), (0, 4, 3)]
OF_32_BITS = [(0, 32, 1), (2, 16, 2), (4, 32, 1)]
REFUSED = [
    *(({"version": v}, BufferError, ("x ", f"{v[0]}.{v[1]}", "version 1")) for v in VERSIONS),
    *(({"dtype": d}, BufferError, (f"{d[1] * d[2]} bits", "unpack")) for d in PACKED),
    *(({"dtype": d}, TypeError, ("out has dtype float32", "converts")) for d in OF_32_BITS),
    ({"null_data": True}, BufferError, ("memory",)),
]


@pytest.mark.parametrize(("fields", "error", "words"), REFUSED)
def test_inputs(array, out, fields, error, words):
    x = Producer(array, **fields)
    check_refused(x, out, error, *words)
    assert x.exported == 1


def test_outputs(array, out):
    check_refused(array, Producer(out, null_data=True), BufferError, "memory")
    elsewhere = Producer(out, device=(VULKAN, 0))
    check_refused(array, elsewhere, BufferError, "out lives on DLPack device type 7")


@pytest.mark.parametrize(
    ("make", "version"),
    [
        (Producer, None),
        (Producer, (1, 1)),
        (Silent, None),
        (Silent, (1, 1)),
        (exchanging(), (1, 1)),
    ],
    ids=["told unversioned", "told", "untold unversioned", "untold", "exchanged"],
)
@pytest.mark.parametrize(
    ("device", "name"),
    [((VULKAN, 0), "DLPack device type 7"), ((10, 2), "DLPack device type 10")],
)
def test_devices_out_of_reach(array, out, make, version, device, name):
    x = make(array, device=device, version=version)
    check_refused(x, out, BufferError, f"x lives on {name}", ".cpu()")
    assert x.exported == (make is not Producer)  # which is asked for its device before


@pytest.mark.parametrize("answer", [None, 1, (1,), (1, 0, 0), ("cpu", 0)])
def test_device_that_is_no_device(array, out, answer):
    class Wrong(Producer):
        def __dlpack_device__(self):
            return answer

    check_refused(Wrong(array), out, TypeError, "__dlpack_device__", repr(answer))


def test_capsule_that_was_used_already(array, out):
    class Stale(Producer):
        kept = None

        def __dlpack__(self, *, max_version=None):
            self.kept = self.kept or self.capsule()
            return self.kept

    x = Stale(array)
    ttlg.transpose(x, out=np.empty((6, 4), "f4"))
    check_refused(x, out, TypeError, "not an unused DLPack capsule")
    assert x.exported == 1


@pytest.mark.parametrize("answer", [None, 3, "dltensor", np.zeros(3)])
def test_capsule_that_is_none(array, out, answer):
    class Wrong(Producer):
        def __dlpack__(self, *, max_version=None):
            return answer

    check_refused(Wrong(array), out, TypeError, "x.__dlpack__()", type(answer).__name__)


@pytest.mark.parametrize("error", [BufferError, RuntimeError, ValueError, KeyboardInterrupt])
def test_errors_of_the_producer_pass(array, out, error):
    class Failing(Producer):
        calls = 0

        def __dlpack__(self, *, max_version=None):
            self.calls += 1
            raise error("no export today")

    x = Failing(array)
    check_refused(x, out, error, "no export today")
    assert x.calls == 1


def test_type_error_of_the_producer_passes_after_the_second_try(array, out):
    class Failing(Producer):
        asked = ()

        def __dlpack__(self, **keywords):
            self.asked += (set(keywords),)
            raise TypeError("no export today")

    x = Failing(array)
    check_refused(x, out, TypeError, "no export today")
    assert x.asked == ({"max_version"}, set())


@pytest.mark.parametrize("axes", [(0, 0), (0, 2), (0,), "01", (0.0, 1.0)])
@pytest.mark.parametrize("version", [None, (1, 1)])
def test_deleter_runs_once_when_the_call_fails_later(array, axes, version):
    x = Producer(array, version=version)
    with pytest.raises((TypeError, ValueError)):
        ttlg.transpose(x, axes, out=np.empty((6, 4), "f4"))
    gc.collect()
    assert x.exported == 1
    assert x.released_once


def test_failing_deleter_hides_no_error(array, out, monkeypatch):
    """A deleter's own exception is reported as unraisable, the call's result stands."""
    reports = []
    monkeypatch.setattr("sys.unraisablehook", reports.append)

    class Failing(Producer):
        def _delete(self, address):
            super()._delete(address)
            raise RuntimeError("the deleter failed")

    x = Failing(array)
    assert ttlg.transpose(x, out=out) is out
    assert bits(out) == bits(array.T)
    check_refused(Failing(array, version=(2, 0)), out, BufferError, "version 1")
    assert [str(report.exc_value) for report in reports] == ["the deleter failed"] * 2
