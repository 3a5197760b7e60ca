"""How cuTENSOR, cuTT and TTC are called, with stand-ins that work on the host."""

import ctypes
import gc
import subprocess
import sys
import types

import numpy as np
import pytest

from .host_cuda import compiler

torch = pytest.importorskip("torch")

from ttlg.benchmarks.case import Case
from ttlg.benchmarks.gpu import contenders, libraries
from ttlg.benchmarks.gpu.contenders import FOREIGN, Contender, contender
from ttlg.benchmarks.gpu.device import Buffers, make_normal
from ttlg.benchmarks.gpu.measure import measure, verify
from ttlg.benchmarks.inplace.libraries import LeftOutError
from ttlg.benchmarks.measure import WrongResultError

SHAPE, AXES = (2, 3, 5, 4), (3, 0, 1, 2)
STREAM = 0x5E


@pytest.fixture(autouse=True)
def _no_device(monkeypatch):
    stream = types.SimpleNamespace(cuda_stream=STREAM)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: stream)
    for variable in ("TTLG_CUTT", "TTLG_TTC"):
        monkeypatch.delenv(variable, raising=False)
    libraries._cutensor.cache_clear()
    yield
    libraries._cutensor.cache_clear()


def buffers_of(dtype, shape=SHAPE, axes=AXES):
    """Return buffers of random bytes, among which are NaNs."""
    size = dtype.itemsize * int(np.prod(shape))
    bytes_ = [np.random.default_rng(n).integers(0, 256, size, np.uint8) for n in range(2)]
    bytes_[0][-dtype.itemsize :] = 0xFF
    inputs = [torch.from_numpy(each).view(dtype).view(shape) for each in bytes_]
    out = tuple(shape[axis] for axis in axes)
    return Buffers(inputs, [torch.zeros(out, dtype=dtype) for _ in range(2)])


# Of cudaDataType_t, and the bits of the precision that goes with it.
TYPES = {0: (np.float32, 32), 1: (np.float64, 64), 5: (np.complex128, 64)}


class Nvmath(types.ModuleType):
    """What nvmath.bindings.cutensor does, on the host, for elements of a few types."""

    Operator = types.SimpleNamespace(OP_IDENTITY=1)
    ComputeDesc = types.SimpleNamespace(COMPUTE_32F=lambda: 32, COMPUTE_64F=lambda: 64)

    def __init__(self):
        super().__init__("nvmath.bindings.cutensor")
        self.made = {}

    def _make(self, *what):
        self.made[number := 1000 + len(self.made)] = what
        return number

    def _destroy(self, number):
        del self.made[number]

    destroy_plan = destroy_operation_descriptor = destroy_tensor_descriptor = _destroy

    def create(self):
        return 7

    def create_tensor_descriptor(self, handle, rank, extents, strides, kind, alignment):
        assert (handle, len(extents), len(strides), alignment) == (7, rank, rank, 256)
        return self._make(extents, strides, kind)

    def create_permutation(self, handle, a, modes_a, operator, b, modes_b, precision):
        assert (handle, operator) == (7, 1)
        return self._make(self.made[a], modes_a, self.made[b], modes_b, precision)

    def create_plan(self, handle, operation, preference, workspace):
        assert (handle, preference, workspace) == (7, 0, 0)
        return self._make(*self.made[operation])

    def permute(self, handle, plan, alpha, a, b, stream):
        assert (handle, stream) == (7, STREAM)
        (extents, strides, kind), modes, (out_extents, out_strides, _), out_modes, precision = (
            self.made[plan]
        )
        element = TYPES[kind][0]
        assert precision == TYPES[kind][1]
        extent_of = dict(zip(modes, extents, strict=True))
        assert [extent_of[mode] for mode in out_modes] == out_extents
        x, y = (self._array(at, extents, element) for at in (a, b))
        x = np.lib.stride_tricks.as_strided(x, extents, [s * x.itemsize for s in strides])
        y = np.lib.stride_tricks.as_strided(y, out_extents, [s * y.itemsize for s in out_strides])
        factor = self._array(alpha, (1,), element)[0]
        # As a multiplication by the factor may do.
        values = np.where(np.isnan(x), np.array(np.nan, element), x)
        np.copyto(y, np.transpose(factor * values, [modes.index(mode) for mode in out_modes]))

    @staticmethod
    def _array(address, extents, dtype):
        size = int(np.prod(extents)) * np.dtype(dtype).itemsize
        return np.frombuffer((ctypes.c_char * size).from_address(address), dtype)


@pytest.fixture
def nvmath(monkeypatch):
    module = Nvmath()
    for name in ("nvmath", "nvmath.bindings"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex128], ids=str)
def test_cutensor(nvmath, dtype):
    buffers = buffers_of(dtype)
    made = contender("cutensor", buffers, AXES)
    assert made.multiplies
    for i, x in enumerate(buffers.inputs):
        make_normal(x)
        made.call(i)
        assert torch.equal(buffers.outputs[i], x.permute(*AXES))
    assert len(nvmath.made) == 4
    del made
    gc.collect()
    assert nvmath.made == {}, "a plan, its operation and two tensors are destroyed"


def test_who_multiplies_is_verified_on_numbers(nvmath):
    buffers = buffers_of(torch.float32)
    kept = buffers.inputs[0].clone()
    made = contender("cutensor", buffers, AXES)
    same = Contender("same", made.call)
    with pytest.raises(WrongResultError, match="same gave"):
        verify(same, buffers, AXES)
    assert torch.equal(buffers.inputs[0].view(torch.int32), kept.view(torch.int32))
    verify(made, buffers, AXES)
    assert torch.isfinite(buffers.inputs[0]).all()


def test_who_is_not_there_says_why(monkeypatch):
    monkeypatch.setitem(sys.modules, "nvmath.bindings.cutensor", None)
    buffers = buffers_of(torch.float32)
    for name, reason in {
        "cutensor": "cuTENSOR is called through nvmath-python, which is not installed",
        "cutt": "the environment variable TTLG_CUTT names no library",
        "cutt-measure": "the environment variable TTLG_CUTT names no library",
        "ttc": "the environment variable TTLG_TTC names no library",
    }.items():
        with pytest.raises(LeftOutError) as found:
            contender(name, buffers, AXES)
        assert str(found.value) == reason
        assert name in FOREIGN


def test_cutensor_that_cannot_be_loaded_or_has_no_such_type(nvmath, monkeypatch):
    with pytest.raises(LeftOutError, match=r"cuTENSOR permutes no torch\.uint8"):
        contender("cutensor", buffers_of(torch.uint8), AXES)
    libraries._cutensor.cache_clear()

    def create():
        raise RuntimeError('Failure finding "libcutensor.so"')

    monkeypatch.setattr(nvmath, "create", create)
    with pytest.raises(LeftOutError, match="cuTENSOR cannot be loaded: Failure finding"):
        contender("cutensor", buffers_of(torch.float32), AXES)


# What cutt.h declares, and a function as TTC generates it.
STAND_INS = """
#include <cstddef>
#include <cstring>
#include <map>
#include <vector>

struct CUstream_st;
typedef unsigned cuttHandle;
enum Status { success, invalid };
struct Plan { std::vector<int> extents, perm; std::size_t size; };
static std::map<cuttHandle, Plan> plans;
static cuttHandle next;

static void permute(const Plan& plan, const char* from, char* to) {
  const int rank = static_cast<int>(plan.perm.size());
  std::vector<std::size_t> strides(rank, plan.size);
  std::size_t elements = 1;
  for (int mode = 1; mode < rank; ++mode) strides[mode] = strides[mode - 1] * plan.extents[mode - 1];
  for (int extent : plan.extents) elements *= extent;
  for (std::size_t k = 0; k < elements; ++k) {
    std::size_t rest = k, at = 0;
    for (int mode : plan.perm) {
      at += rest % plan.extents[mode] * strides[mode];
      rest /= plan.extents[mode];
    }
    std::memcpy(to + k * plan.size, from + at, plan.size);
  }
}

Status cuttPlan(cuttHandle* handle, int rank, int* dim, int* perm, std::size_t size, CUstream_st* stream) {
  if (rank < 2 || stream != reinterpret_cast<CUstream_st*>(0x5e)) return invalid;
  *handle = ++next;
  plans[*handle] = {{dim, dim + rank}, {perm, perm + rank}, size};
  return success;
}
static int plans_measured = 0;
extern "C" int measured() { return plans_measured; }
// Leaves its result in the output, as the plans do that it measures.
Status cuttPlanMeasure(cuttHandle* handle, int rank, int* dim, int* perm, std::size_t size, CUstream_st* stream,
                       void* from, void* to) {
  if (cuttPlan(handle, rank, dim, perm, size, stream) != success || from == to) return invalid;
  ++plans_measured;
  permute(plans[*handle], static_cast<char*>(from), static_cast<char*>(to));
  return success;
}
Status cuttExecute(cuttHandle handle, void* from, void* to) {
  if (plans.count(handle) == 0) return invalid;
  permute(plans[handle], static_cast<char*>(from), static_cast<char*>(to));
  return success;
}
Status cuttDestroy(cuttHandle handle) { return plans.erase(handle) ? success : invalid; }
extern "C" int alive() { return static_cast<int>(plans.size()); }
extern "C" void forget() { plans.clear(); }

extern "C" void dCuTranspose_1230_4x5x3x2_bz(const double* a, double* b, double alpha, const int* size,
                                            const int* lda, const int* ldb) {
  const int expected[] = {4, 5, 3, 2}, out[] = {5, 3, 2, 4};
  if (alpha != 1 || std::memcmp(size, expected, sizeof expected) != 0) return;
  if (std::memcmp(lda, size, sizeof expected) != 0 || std::memcmp(ldb, out, sizeof out) != 0) return;
  permute({{4, 5, 3, 2}, {1, 2, 3, 0}, 8}, reinterpret_cast<const char*>(a), reinterpret_cast<char*>(b));
}
extern "C" void sCuTranspose_10_3x2_bz(const float* a, float* b, float alpha, const int*, const int*,
                                       const int*) {
  permute({{3, 2}, {1, 0}, 4}, reinterpret_cast<const char*>(a), reinterpret_cast<char*>(b));
  for (int k = 0; k < 6; ++k) b[k] *= alpha;
}
"""


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory):
    if compiler() is None:
        pytest.skip("there is no C++ compiler")
    folder = tmp_path_factory.mktemp("libraries")
    source, built = folder / "stand_ins.cpp", folder / "libstand_ins.so"
    source.write_text(STAND_INS)
    subprocess.run([compiler(), "-shared", "-fPIC", "-o", built, source], check=True, timeout=120)
    return built


@pytest.mark.parametrize("name", ["cutt", "cutt-measure"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32], ids=str)
def test_cutt(stand_ins, monkeypatch, dtype, name):
    monkeypatch.setenv("TTLG_CUTT", str(stand_ins))
    library = ctypes.CDLL(str(stand_ins))
    buffers = buffers_of(dtype)
    measured = library.measured()
    made = contender(name, buffers, AXES)
    assert library.measured() - measured == (name == "cutt-measure")
    assert not made.multiplies
    verify(made, buffers, AXES)
    assert library.alive() == 1
    library.forget()
    with pytest.raises(RuntimeError, match="cuttExecute returned 1"):
        made.call(0)
    made = contender(name, buffers, AXES)
    assert library.alive() == 1
    del made
    gc.collect()
    assert library.alive() == 0


def test_what_cutt_cannot_do(stand_ins, monkeypatch):
    monkeypatch.setenv("TTLG_CUTT", str(stand_ins))
    with pytest.raises(LeftOutError, match="cuTT moves elements of 4 and 8 bytes"):
        contender("cutt", buffers_of(torch.complex128), AXES)
    with pytest.raises(RuntimeError, match="cuTT returned 1 for a plan"):
        contender("cutt", buffers_of(torch.float32, (6,), (0,)), (0,))
    monkeypatch.setattr(libraries, "_INT_VALUES", 120)
    with pytest.raises(LeftOutError, match="it counts elements in 32 bits"):
        contender("cutt", buffers_of(torch.float32), AXES)


def test_ttc(stand_ins, monkeypatch):
    monkeypatch.setenv("TTLG_TTC", str(stand_ins))
    for dtype, shape, axes in (
        (torch.float64, SHAPE, AXES),
        (torch.float32, (2, 3), (1, 0)),
    ):
        buffers = buffers_of(dtype, shape, axes)
        made = contender("ttc", buffers, axes)
        assert made.multiplies
        assert made.clock is contenders._wall_seconds
        verify(made, buffers, axes)
    with pytest.raises(LeftOutError, match="has none for this case"):
        contender("ttc", buffers_of(torch.float32), AXES)
    with pytest.raises(LeftOutError, match="float32 and float64"):
        contender("ttc", buffers_of(torch.int16), AXES)


def test_a_library_that_is_not_there_is_a_peers_failure(monkeypatch, device):
    monkeypatch.setenv("TTLG_CUTT", "/nowhere/libcutt.so")
    case = Case("ttc57", "A", (3, 4), (1, 0), "float64")
    found = measure(case, device, 1, ["cutt", "ttc"])
    assert found.failures["cutt"].startswith("OSError: /nowhere/libcutt.so")
    assert found.left_out["ttc"] == "the environment variable TTLG_TTC names no library"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex128], ids=str)
def test_normal_numbers(dtype):
    size = 4096 * dtype.itemsize
    random = np.random.default_rng(3).integers(0, 256, size, np.uint8)
    random[: size // 4] = 0
    random[-size // 4 :] = 0xFF
    x = torch.from_numpy(random).view(dtype)
    make_normal(x)
    real = (torch.view_as_real(x) if x.is_complex() else x).abs()
    assert real.min() >= torch.finfo(real.dtype).tiny
    assert real.max() < 2
    assert len(real.unique()) > real.numel() / 3
    kept = x.clone()
    make_normal(x)
    assert torch.equal(x, kept)
