// Transposition as it is written first, to measure other kernels against. Matrices are row-major,
// with m rows and n columns, and all indices have 64 bits.

using Index = long long;

// A thread for each element of the output, which finds its place in the input by a division for
// every axis. `extents` are the output's and `strides` the input's along the output's axes, in
// elements.
template <typename T>
__global__ void naive(const T* x, T* y, const Index* extents, const Index* strides, Index rank,
                      Index elements) {
  const Index own = Index(blockIdx.x) * blockDim.x + threadIdx.x;
  if (own >= elements) return;
  Index rest = own, from = 0;
  for (Index axis = rank - 1; axis >= 0; --axis) {
    from += rest % extents[axis] * strides[axis];
    rest /= extents[axis];
  }
  y[own] = x[from];
}

// In place along the cycles of the permutation, with a bit for each element that says whether it
// has left its place. Each thread starts at an element, carries it to where it belongs, picks up
// what is there and goes on with that, until some thread has picked it up before. `left` is zero at
// first.
//
// An element is read before its bit is set and overwritten after, so who sets the bit has read it
// before anyone overwrites it; who does not set it forgets what it has read.
__device__ inline bool picks_up(unsigned* left, Index element) {
  const unsigned bit = 1u << (element % 32);
  __threadfence();
  const bool first = (atomicOr(left + element / 32, bit) & bit) == 0;
  __threadfence();
  return first;
}

template <typename T>
__global__ void cycles(T* x, unsigned* left, Index m, Index n) {
  volatile T* const elements = x;
  Index at = Index(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= m * n) return;
  T carried = elements[at];
  bool carries = picks_up(left, at);
  while (carries) {
    at = at % n * m + at / n;  // from row i and column j to row j and column i
    const T found = elements[at];
    carries = picks_up(left, at);
    elements[at] = carried;
    carried = found;
  }
}

// The three passes of Algorithm 1 of Catanzaro, Keller and Garland (PPoPP 2014): C2R without any
// optimisation of section 4. Thread blocks take one column, or one row, after the other, write it
// in its new order to a part of `temporary` of their own, max(m, n) elements, and copy it back. a =
// m / gcd(m, n) and b = n / gcd(m, n).
template <typename T>
__device__ T* own_part(T* temporary, Index m, Index n) {
  return temporary + blockIdx.x * (m > n ? m : n);
}

template <typename T>
__device__ void copy_back(const T* part, T* line, Index length, Index stride) {
  __syncthreads();
  for (Index k = threadIdx.x; k < length; k += blockDim.x) line[k * stride] = part[k];
  __syncthreads();
}

// Eq. 23. All columns stay as they are where gcd(m, n) is 1.
template <typename T>
__global__ void rotate_columns(T* x, T* temporary, Index m, Index n, Index b) {
  T* const part = own_part(temporary, m, n);
  for (Index j = blockIdx.x; j < n; j += gridDim.x) {
    for (Index i = threadIdx.x; i < m; i += blockDim.x) part[i] = x[(i + j / b) % m * n + j];
    copy_back(part, x + j, m, n);
  }
}

// Eq. 24, a scatter.
template <typename T>
__global__ void shuffle_rows(T* x, T* temporary, Index m, Index n, Index b) {
  T* const part = own_part(temporary, m, n);
  for (Index i = blockIdx.x; i < m; i += gridDim.x) {
    for (Index j = threadIdx.x; j < n; j += blockDim.x) {
      part[((i + j / b) % m + j * m) % n] = x[i * n + j];
    }
    copy_back(part, x + i * n, n, 1);
  }
}

// Eq. 26.
template <typename T>
__global__ void shuffle_columns(T* x, T* temporary, Index m, Index n, Index a) {
  T* const part = own_part(temporary, m, n);
  for (Index j = blockIdx.x; j < n; j += gridDim.x) {
    for (Index i = threadIdx.x; i < m; i += blockDim.x) {
      part[i] = x[(j + i * n - i / a) % m * n + j];
    }
    copy_back(part, x + j, m, n);
  }
}
