// Threads that load and store a structure each (Catanzaro et al., section 6.2, Figs. 8 and 9): as
// the compiler does it, by coalesced_ptr, by the same through shared memory, or from an array for
// each field. THREADS is how many a block has.
#include <ttlg/coalesced_ptr.cuh>

template <int words, int alignment>
struct alignas(alignment) Structure {
  unsigned word[words];
};

// What follows are ways to access structure i of an array of n. Aligned to 16 bytes, the compiler
// takes the native vectors.
struct Direct {
  template <typename T>
  static __device__ T load(const T* from, int i, int) {
    return from[i];
  }
  template <typename T>
  static __device__ void store(T* to, int i, int, const T& value) {
    to[i] = value;
  }
};

template <typename Lanes>
struct Coalesced {
  template <typename T>
  static __device__ T load(const T* from, int i, int) {
    return *ttlg::coalesced_ptr<const T, Lanes>(from + i);
  }
  template <typename T>
  static __device__ void store(T* to, int i, int, const T& value) {
    *ttlg::coalesced_ptr<T, Lanes>(to + i) = value;
  }
};
struct Shuffles : Coalesced<ttlg::in_register::DeviceLanes> {};

// Lanes without a shuffle instruction, which exchange one register at a time through shared memory
// that holds a register for each of them (section 6.2.1).
struct SharedLanes : ttlg::in_register::DeviceLanes {
  __device__ unsigned exchange(unsigned own, unsigned other) const {
    __shared__ unsigned registers[THREADS];
    unsigned* const of_warp = registers + (threadIdx.x & ~31u);
    of_warp[lane()] = own;
    sync();
    const unsigned result = of_warp[other % 32];
    sync();
    return result;
  }

  __device__ ttlg::in_register::Address shuffle(ttlg::in_register::Address value,
                                                unsigned other) const {
    const unsigned high = exchange(static_cast<unsigned>(value >> 32), other);
    return ttlg::in_register::Address(high) << 32 | exchange(static_cast<unsigned>(value), other);
  }

  template <unsigned bytes>
  __device__ ttlg::in_register::Word<bytes> shuffle(const ttlg::in_register::Word<bytes>& word,
                                                    unsigned other) const {
    ttlg::in_register::Word<bytes> result;
#pragma unroll
    for (unsigned p = 0; p < bytes / 4; ++p) result.part[p] = exchange(word.part[p], other);
    return result;
  }
};
struct SharedMemory : Coalesced<SharedLanes> {};

// A structure of arrays: field w of structure i is word w * n + i.
struct Fields {
  template <int words, int alignment>
  static __device__ Structure<words, alignment> load(const Structure<words, alignment>* from, int i,
                                                     int n) {
    const unsigned* const fields = reinterpret_cast<const unsigned*>(from);
    Structure<words, alignment> value;
#pragma unroll
    for (int w = 0; w < words; ++w) value.word[w] = fields[static_cast<size_t>(w) * n + i];
    return value;
  }
  template <int words, int alignment>
  static __device__ void store(Structure<words, alignment>* to, int i, int n,
                               const Structure<words, alignment>& value) {
    unsigned* const fields = reinterpret_cast<unsigned*>(to);
#pragma unroll
    for (int w = 0; w < words; ++w) fields[static_cast<size_t>(w) * n + i] = value.word[w];
  }
};

__device__ int own_number() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// All take the same arguments: arrays of n structures, and a permutation of their numbers.
template <typename Access, int words, int alignment>
__global__ void store(const Structure<words, alignment>*, Structure<words, alignment>* to,
                      const int*, int n) {
  const int i = own_number();
  if (i >= n) return;
  Structure<words, alignment> value;
#pragma unroll
  for (int w = 0; w < words; ++w) value.word[w] = i * words + w;
  Access::store(to, i, n, value);
}

template <typename Access, int words, int alignment>
__global__ void copy(const Structure<words, alignment>* from, Structure<words, alignment>* to,
                     const int*, int n) {
  const int i = own_number();
  if (i < n) Access::store(to, i, n, Access::load(from, i, n));
}

template <typename Access, int words, int alignment>
__global__ void gather(const Structure<words, alignment>* from, Structure<words, alignment>* to,
                       const int* at, int n) {
  const int i = own_number();
  if (i < n) Access::store(to, i, n, Access::load(from, at[i], n));
}

template <typename Access, int words, int alignment>
__global__ void scatter(const Structure<words, alignment>* from, Structure<words, alignment>* to,
                        const int* at, int n) {
  const int i = own_number();
  if (i < n) Access::store(to, at[i], n, Access::load(from, i, n));
}

// Of conversion.py, which has one array of structures.
template <typename Access, int words, int alignment>
__global__ void update(const Structure<words, alignment>*, Structure<words, alignment>* array,
                       const int*, int n) {
  const int i = own_number();
  if (i >= n) return;
  Structure<words, alignment> value = Access::load(array, i, n);
#pragma unroll
  for (int w = 0; w < words; ++w) ++value.word[w];
  Access::store(array, i, n, value);
}

template <typename Access, int words, int alignment>
__global__ void sum(const Structure<words, alignment>* array, unsigned* sums, const int* at,
                    int n) {
  const int i = own_number();
  if (i >= n) return;
  const Structure<words, alignment> value = Access::load(array, at[i], n);
  unsigned total = 0;
#pragma unroll
  for (int w = 0; w < words; ++w) total += value.word[w];
  sums[i] = total;
}
