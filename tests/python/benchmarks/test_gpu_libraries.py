"""How cuTENSOR, cuTT and TTC are called, with stand-ins that work on the host."""

import ctypes
import gc
import subprocess
import sys
import types

import numpy as np
import pytest

from .host_cuda import buffers_of, compiler

torch = pytest.importorskip("torch")

from ttlg.benchmarks.case import Case
from ttlg.benchmarks.gpu import contenders, libraries
from ttlg.benchmarks.gpu.contenders import FOREIGN, Contender, contender
from ttlg.benchmarks.gpu.device import make_normal
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


# Of cudaDataType_t, and the bits of the precision that goes with it.
TYPES = {0: (np.float32, 32), 1: (np.float64, 64), 5: (np.complex128, 64)}


class Nvmath(types.ModuleType):
    """What nvmath.bindings.cutensor does, on the host, for elements of a few types."""

    Operator = types.SimpleNamespace(OP_IDENTITY=1)
    ComputeDesc = types.SimpleNamespace(COMPUTE_32F=lambda: 32, COMPUTE_64F=lambda: 64)

    def __init__(self):
        super().__init__("nvmath.bindings.cutensor")
        self.made = {}
        self.create = lambda: 7
        destroy = self.made.__delitem__
        self.destroy_plan = self.destroy_operation_descriptor = destroy
        self.destroy_tensor_descriptor = destroy

    def _make(self, *what):
        self.made[number := 1000 + len(self.made)] = what
        return number

    def create_tensor_descriptor(self, handle, rank, extents, strides, kind, alignment):
        assert (handle, len(extents), len(strides), alignment) == (7, rank, rank, 256)
        return self._make(extents, strides, kind)

    def create_permutation(self, handle, a, modes_a, operator, b, modes_b, precision):
        assert (handle, operator) == (7, 1)
        assert precision == TYPES[self.made[a][2]][1]
        return self._make(self.made[a], modes_a, self.made[b], modes_b)

    def create_plan(self, handle, operation, preference, workspace):
        assert (handle, preference, workspace) == (7, 0, 0)
        return self._make(*self.made[operation])

    def permute(self, handle, plan, alpha, a, b, stream):
        assert (handle, stream) == (7, STREAM)
        before, modes, after, out_modes = self.made[plan]
        x, y = self._array(a, *before), self._array(b, *after)
        factor = self._array(alpha, (1,), (0,), before[2])[0]
        # As a multiplication by the factor may do.
        values = np.where(np.isnan(x), np.array(np.nan, x.dtype), x)
        np.copyto(y, np.transpose(factor * values, [modes.index(mode) for mode in out_modes]))

    @staticmethod
    def _array(address, extents, strides, kind):
        dtype = np.dtype(TYPES[kind][0])
        memory = (ctypes.c_char * (int(np.prod(extents)) * dtype.itemsize)).from_address(address)
        return np.ndarray(extents, dtype, memory, 0, [n * dtype.itemsize for n in strides])


@pytest.fixture
def nvmath(monkeypatch):
    module = Nvmath()
    for name in ("nvmath", "nvmath.bindings"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex128], ids=str)
def test_cutensor(nvmath, dtype):
    buffers = buffers_of(dtype, SHAPE, AXES)
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
    buffers = buffers_of(torch.float32, SHAPE, AXES)
    made = contender("cutensor", buffers, AXES)
    with pytest.raises(WrongResultError, match="same gave"):
        verify(Contender("same", made.call), buffers, AXES)
    verify(made, buffers, AXES)
    assert torch.isfinite(buffers.inputs[0]).all()


def test_who_is_not_there_says_why(monkeypatch, device):
    monkeypatch.setitem(sys.modules, "nvmath.bindings.cutensor", None)
    monkeypatch.setenv("TTLG_CUTT", "/nowhere/libcutt.so")
    case = Case("ttc57", "A", (3, 4), (1, 0), "float64")
    found = measure(case, device, 1, ["cutensor", "cutt", "ttc"])
    assert found.failures["cutt"].startswith("OSError: /nowhere/libcutt.so")
    assert {name: reason for name, reason in found.left_out.items() if name in FOREIGN[2:]} == {
        "cutensor": "cuTENSOR is called through nvmath-python, which is not installed",
        "ttc": "the environment variable TTLG_TTC names no library",
    }


def test_cutensor_that_cannot_be_loaded_or_has_no_such_type(nvmath):
    with pytest.raises(LeftOutError, match=r"cuTENSOR permutes no torch\.uint8"):
        contender("cutensor", buffers_of(torch.uint8, SHAPE, AXES), AXES)
    libraries._cutensor.cache_clear()

    def create():
        raise RuntimeError('Failure finding "libcutensor.so"')

    nvmath.create = create
    with pytest.raises(LeftOutError, match="cuTENSOR cannot be loaded: Failure finding"):
        contender("cutensor", buffers_of(torch.float32, SHAPE, AXES), AXES)


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

static void permute(const Plan& plan, const void* from, void* to) {
  std::size_t elements = 1, target = 0;
  for (int extent : plan.extents) elements *= extent;
  for (; target < elements; ++target) {
    std::size_t rest = target, source = 0;
    for (int mode : plan.perm) {
      std::size_t stride = 1;
      for (int each = 0; each < mode; ++each) stride *= plan.extents[each];
      source += rest % plan.extents[mode] * stride;
      rest /= plan.extents[mode];
    }
    std::memcpy((char*)to + target * plan.size, (const char*)from + source * plan.size, plan.size);
  }
}

Status cuttPlan(cuttHandle* handle, int rank, int* dim, int* perm, std::size_t size, CUstream_st* stream) {
  if (rank < 2 || stream != (CUstream_st*)0x5e) return invalid;
  plans[*handle = ++next] = {{dim, dim + rank}, {perm, perm + rank}, size};
  return success;
}
static int plans_measured = 0;
extern "C" int measured() { return plans_measured; }
// Leaves its result in the output, as the plans do that it measures.
Status cuttPlanMeasure(cuttHandle* handle, int rank, int* dim, int* perm, std::size_t size, CUstream_st* stream,
                       void* from, void* to) {
  if (cuttPlan(handle, rank, dim, perm, size, stream) != success || from == to) return invalid;
  ++plans_measured;
  permute(plans[*handle], from, to);
  return success;
}
Status cuttExecute(cuttHandle handle, void* from, void* to) {
  if (plans.count(handle) == 0) return invalid;
  permute(plans[handle], from, to);
  return success;
}
Status cuttDestroy(cuttHandle handle) { return plans.erase(handle) ? success : invalid; }
extern "C" int alive() { return static_cast<int>(plans.size()); }
extern "C" void forget() { plans.clear(); }

template <typename T>
static void transpose(const T* a, T* b, T alpha, const int* size, const int* lda, const int* ldb,
                      const Plan& plan) {
  for (unsigned n = 0; n < plan.extents.size(); ++n) {
    if (size[n] != plan.extents[n] || lda[n] != size[n] || ldb[n] != size[plan.perm[n]]) return;
  }
  permute(plan, a, b);
  if (alpha != 1) *b = alpha;
}
extern "C" void dCuTranspose_1230_4x5x3x2_bz(const double* a, double* b, double alpha, const int* size,
                                            const int* lda, const int* ldb) {
  transpose(a, b, alpha, size, lda, ldb, {{4, 5, 3, 2}, {1, 2, 3, 0}, 8});
}
extern "C" void sCuTranspose_10_3x2_bz(const float* a, float* b, float alpha, const int* size,
                                       const int* lda, const int* ldb) {
  transpose(a, b, alpha, size, lda, ldb, {{3, 2}, {1, 0}, 4});
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
    buffers = buffers_of(dtype, SHAPE, AXES)
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
        contender("cutt", buffers_of(torch.complex128, SHAPE, AXES), AXES)
    with pytest.raises(RuntimeError, match="cuTT returned 1 for a plan"):
        contender("cutt", buffers_of(torch.float32, (6,), (0,)), (0,))
    monkeypatch.setattr(libraries, "_INT_VALUES", 120)
    with pytest.raises(LeftOutError, match="it counts elements in 32 bits"):
        contender("cutt", buffers_of(torch.float32, SHAPE, AXES), AXES)


def test_ttc(stand_ins, monkeypatch):
    monkeypatch.setenv("TTLG_TTC", str(stand_ins))
    for dtype, shape, axes in ((torch.float64, SHAPE, AXES), (torch.float32, (2, 3), (1, 0))):
        buffers = buffers_of(dtype, shape, axes)
        made = contender("ttc", buffers, axes)
        assert made.multiplies
        assert made.clock is contenders._wall_seconds
        verify(made, buffers, axes)
    with pytest.raises(LeftOutError, match="has none for this case"):
        contender("ttc", buffers_of(torch.float32, SHAPE, AXES), AXES)
    with pytest.raises(LeftOutError, match="float32 and float64"):
        contender("ttc", buffers_of(torch.int16, SHAPE, AXES), AXES)


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
