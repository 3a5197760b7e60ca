// Kernels that users might write with the public header, for tools/check_kernels.sh, which looks at
// what the compiler makes of them.
#include <ttlg/coalesced_ptr.cuh>

namespace {

template <int words>
struct Structure {
  unsigned word[words];
};

__device__ int own_number() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

template <int words>
__global__ void load(const Structure<words>* from, unsigned* to, int n) {
  const int i = own_number();
  if (i >= n) return;
  const Structure<words> value = *ttlg::coalesced_ptr<const Structure<words>>(from + i);
  unsigned sum = 0;
#pragma unroll
  for (int w = 0; w < words; ++w) sum = 3 * sum + value.word[w];
  to[i] = sum;
}

template <int words>
__global__ void store(const unsigned* from, Structure<words>* to, int n) {
  const int i = own_number();
  if (i >= n) return;
  Structure<words> value;
#pragma unroll
  for (int w = 0; w < words; ++w) value.word[w] = from[i] * w;
  *ttlg::coalesced_ptr<Structure<words>>(to + i) = value;
}

template <int words>
__global__ void copy(const Structure<words>* from, Structure<words>* to, int n) {
  const int i = own_number();
  if (i >= n) return;
  ttlg::coalesced_ptr<Structure<words>>(to + i).store(
      ttlg::coalesced_ptr<const Structure<words>>(from + i).load());
}

template <int words>
__global__ void gather(const Structure<words>* from, Structure<words>* to, const int* at) {
  const int i = own_number();
  const ttlg::coalesced_ptr<const Structure<words>> in(from);
  ttlg::coalesced_ptr<Structure<words>>(to + i).store(in[at[i]]);
}

template <int words>
__global__ void scatter(const Structure<words>* from, Structure<words>* to, const int* at) {
  const int i = own_number();
  const ttlg::coalesced_ptr<Structure<words>> out(to);
  out[at[i]] = ttlg::coalesced_ptr<const Structure<words>>(from + i).load();
}

template <int... words>
void use() {
  const void* const kernels[] = {
      reinterpret_cast<const void*>(load<words>)...,
      reinterpret_cast<const void*>(store<words>)...,
      reinterpret_cast<const void*>(copy<words>)...,
      reinterpret_cast<const void*>(gather<words>)...,
      reinterpret_cast<const void*>(scatter<words>)...,
  };
  static_cast<void>(kernels);
}
template void use<1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 31, 32, 48, 63, 64>();

}  // namespace
