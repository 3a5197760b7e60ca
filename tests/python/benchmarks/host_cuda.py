"""CUDA kernels on the host: compiled by the host's compiler, a thread after the other.

It stands in for CuPy, for kernels whose blocks may have any number of threads: here they have one,
which makes barriers needless.
"""

import ctypes
import shutil
import subprocess
import types

import numpy as np

_HEADER = """
#include <cstddef>
#include <type_traits>
#include <utility>
struct Index1 { long long x; };
static Index1 blockIdx, gridDim;
static const Index1 threadIdx{0}, blockDim{1};
struct uint4 { unsigned x, y, z, w; };
#define __global__
#define __device__
static void __syncthreads() {}
static void __threadfence() {}
static unsigned atomicOr(unsigned* word, unsigned bits) {
  const unsigned before = *word;
  *word |= bits;
  return before;
}
template <typename T>
T argument(long long value) {
  if constexpr (std::is_pointer_v<T>) return reinterpret_cast<T>(value);
  else return value;
}
template <typename... T, std::size_t... n>
void call(void (*kernel)(T...), const long long* given, std::index_sequence<n...>) {
  kernel(argument<T>(given[n])...);
}
template <typename... T>
void launch(void (*kernel)(T...), long long blocks, const long long* given) {
  gridDim.x = blocks;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    call(kernel, given, std::index_sequence_for<T...>{});
  }
}
"""


def compiler():
    return shutil.which("c++")


def buffers_of(dtype, shape, axes):
    """Return buffers of random bytes, the last of which are a NaN's, in memory of the host."""
    import torch

    from ttlg.benchmarks.gpu.device import Buffers

    size = dtype.itemsize * int(np.prod(shape))
    bytes_ = [np.random.default_rng(n).integers(0, 256, size, np.uint8) for n in range(2)]
    bytes_[0][-dtype.itemsize :] = 0xFF
    inputs = [torch.from_numpy(each).view(dtype).view(shape) for each in bytes_]
    out = tuple(shape[axis] for axis in axes)
    return Buffers(inputs, [torch.zeros(out, dtype=dtype) for _ in range(2)])


class HostCupy(types.ModuleType):
    """Arrays of NumPy, and kernels in a shared library that is built in a folder."""

    def __init__(self, folder):
        super().__init__("cupy")
        self._folder = folder
        self.allocated, self.launched = [], []

    def _array(self, host):
        self.allocated.append(host)
        return types.SimpleNamespace(host=host, data=types.SimpleNamespace(ptr=host.ctypes.data))

    def asarray(self, host):
        return self._array(host.copy())

    def zeros(self, shape, dtype):
        return self._array(np.zeros(shape, dtype))

    def empty(self, shape, dtype):
        return self._array(np.full(shape, 0xA5, dtype))

    def RawModule(self, code, options, name_expressions):  # noqa: N802
        names = {name: f"kernel_{number}" for number, name in enumerate(name_expressions)}
        entries = (
            f'extern "C" void {entry}(long long blocks, const long long* given) '
            f"{{ launch(&{name}, blocks, given); }}"
            for name, entry in names.items()
        )
        source, built = self._folder / "kernels.cpp", self._folder / "kernels.so"
        source.write_text("\n".join([_HEADER, code, *entries]))
        command = [compiler(), *options, "-O1", "-fPIC", "-shared", "-o", built, source]
        subprocess.run(command, check=True, timeout=120)
        library = ctypes.CDLL(str(built))

        def get_function(name):
            entry = library[names[name]]

            def launch(grid, block, arguments):
                assert block == (1,)
                self.launched.append(name.partition("<")[0])
                given = (ctypes.c_longlong * len(arguments))(*arguments)
                entry(ctypes.c_longlong(*grid), given)

            return launch

        return types.SimpleNamespace(get_function=get_function)
