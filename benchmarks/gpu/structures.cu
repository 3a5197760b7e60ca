// Threads that store, copy, gather and scatter a structure each (Catanzaro et al., section 6.2,
// Figs. 8 and 9): as the compiler does it, or by coalesced_ptr. Aligned to 16 bytes, the compiler
// takes the native vectors.
#include <ttlg/coalesced_ptr.cuh>

template <int words, int alignment>
struct alignas(alignment) Structure {
  unsigned word[words];
};

template <bool coalesced, typename T>
__device__ T load(const T* from) {
  if constexpr (coalesced) {
    return *ttlg::coalesced_ptr<const T>(from);
  } else {
    return *from;
  }
}

template <bool coalesced, typename T>
__device__ void assign(T* to, const T& value) {
  if constexpr (coalesced) {
    *ttlg::coalesced_ptr<T>(to) = value;
  } else {
    *to = value;
  }
}

__device__ int own_number() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// All take the same arguments: arrays of n structures, and a permutation of their numbers.
template <bool coalesced, int words, int alignment>
__global__ void store(const Structure<words, alignment>*, Structure<words, alignment>* to,
                      const int*, int n) {
  const int i = own_number();
  if (i >= n) return;
  Structure<words, alignment> value;
#pragma unroll
  for (int w = 0; w < words; ++w) value.word[w] = i * words + w;
  assign<coalesced>(to + i, value);
}

template <bool coalesced, int words, int alignment>
__global__ void copy(const Structure<words, alignment>* from, Structure<words, alignment>* to,
                     const int*, int n) {
  const int i = own_number();
  if (i < n) assign<coalesced>(to + i, load<coalesced>(from + i));
}

template <bool coalesced, int words, int alignment>
__global__ void gather(const Structure<words, alignment>* from, Structure<words, alignment>* to,
                       const int* at, int n) {
  const int i = own_number();
  if (i < n) assign<coalesced>(to + i, load<coalesced>(from + at[i]));
}

template <bool coalesced, int words, int alignment>
__global__ void scatter(const Structure<words, alignment>* from, Structure<words, alignment>* to,
                        const int* at, int n) {
  const int i = own_number();
  if (i < n) assign<coalesced>(to + at[i], load<coalesced>(from + i));
}
