// ttlg::coalesced_ptr<T>: a pointer to structures whose loads and stores are coalesced, without
// shared memory (Catanzaro, Keller, Garland: A Decomposition for In-place Matrix Transposition,
// PPoPP 2014, section 6.2). This header needs no other; nvcc and NVRTC compile it, C++17 or later,
// sm_70 or later.
//
//   __global__ void step(Particle* particles, int n) {
//     const int i = blockIdx.x * blockDim.x + threadIdx.x;
//     if (i >= n) return;
//     ttlg::coalesced_ptr<Particle> p(particles + i);
//     Particle particle = *p;
//     ...
//     *p = particle;
//   }
//
// Where all 32 lanes of a warp load or store together, consecutive lanes touch consecutive words,
// and the words change lanes in registers. The lanes' addresses may be any; if they are those of
// consecutive structures, as a vote of the warp finds out, every access is one of consecutive
// words. Elsewhere, in the last warp of a grid or where lanes have diverged, each lane touches its
// own structure word by word: that is as correct, but not coalesced. Lanes that might have diverged
// before are brought together by __syncwarp(). As with plain pointers, a lane sees what it has
// stored, and lanes must not store to the same structure, nor store to one that another lane loads,
// without synchronization.
//
// T is trivially copyable, aligned to 4 bytes or more and of at most 64 words of 4 bytes. Words
// have 8 or 16 bytes if T is aligned so: alignas(16), where the size permits it, takes fewer
// instructions.
#pragma once

#ifndef __CUDACC_RTC__
#include <cstring>
#endif

#if defined(__GNUC__) && !defined(__CUDACC_RTC__)
#define TTLG_MAY_ALIAS [[gnu::may_alias]]
#else
#define TTLG_MAY_ALIAS
#endif
#ifdef __CUDACC__
#define TTLG_LANE __device__ __forceinline__
#define TTLG_UNROLLED _Pragma("unroll")
#else
#define TTLG_LANE inline
#define TTLG_UNROLLED
#endif

namespace ttlg {
namespace in_register {

using Address = unsigned long long;

constexpr unsigned kLanes = 32;

TTLG_LANE constexpr unsigned ceil_log2(unsigned x) {
  unsigned result = 0;
  while ((1u << result) < x) ++result;
  return result;
}

TTLG_LANE constexpr unsigned inverse_mod(unsigned x, unsigned m) {
  for (unsigned y = 1; y < m; ++y) {
    if (x * y % m == 1) return y;
  }
  return 0;
}

// The registers of a warp: m rows, one word of each in a lane. Section 2's names with n = 32.
template <unsigned kRows>
struct Matrix {
  static constexpr unsigned m = kRows;
  static constexpr unsigned c = (m & (~m + 1)) < kLanes ? (m & (~m + 1)) : kLanes;  // gcd(m, n)
  static constexpr unsigned a = m / c;
  static constexpr unsigned b = kLanes / c;
  static constexpr unsigned kLog2C = ceil_log2(c);
  static constexpr unsigned kLog2B = ceil_log2(b);
  static constexpr unsigned a_inverse = inverse_mod(a % b, b);
  // Lanes rotate their registers by less than m, and by less than n.
  static constexpr unsigned kSteps = ceil_log2(m < kLanes ? m : kLanes);

  // q(i) = (i n - floor(i / a)) mod m (Eq. 33).
  static TTLG_LANE constexpr unsigned q(unsigned i) { return (i * kLanes - i / a) % m; }

  // j mod m, of which the first `kSteps` bits count. The reciprocal is exact as j m < 2^11.
  static TTLG_LANE unsigned rotation(unsigned j) {
    return m == c || m > kLanes ? j : j - (j * (2048 / m + 1) >> 11) * m;
  }

  // The structure to which a word of 32 consecutive structures belongs: word / m. The reciprocal is
  // exact as word (m - 1) < 2^20.
  static TTLG_LANE unsigned structure(unsigned word) {
    return word * (((1u << 20) + m - 1) / m) >> 20;
  }

  // d'_i(j) of Eq. 24, modulo n, for which the shuffle instruction sees.
  static TTLG_LANE unsigned shuffled(unsigned i, unsigned j) {
    unsigned row = i + (j >> kLog2B);
    if (m % kLanes != 0 && i + c > m) {  // other rows do not come to m
      row = a == 1 ? row % m : row - (row >= m ? m : 0);
    }
    return row + j * (m % kLanes);
  }

  // Its inverse (Eq. 31), modulo n: j' = e + k b with j' div b = k < c and e < b. As c divides m
  // and b m, Eq. 24 modulo c is k = (j - i) mod c, and what is left of it, divided by c, is e a =
  // (j - i - k) / c (mod b), with a more in the rows that come to m.
  static TTLG_LANE unsigned unshuffled(unsigned i, unsigned j) {
    const unsigned quotient = (j - i % c) >> kLog2C;  // (j - i - k) / c + i / c, modulo b
    unsigned e = (quotient - i / c) * a_inverse;
    if (i + c > m) e += (j >> kLog2C) - quotient;  // 1 if i + k >= m
    if (c == 1) return e;
    return ((j - i) << kLog2B & ~(b - 1)) | (e & (b - 1));
  }
};

// Part of an object of any type.
template <unsigned kBytes>
struct TTLG_MAY_ALIAS alignas(kBytes) Word {
  unsigned part[kBytes / 4];
};

// T as an array of words.
template <typename T>
struct Layout {
  static_assert(__is_trivially_copyable(T), "coalesced_ptr<T>: T must be trivially copyable");
  static_assert(alignof(T) >= 4, "coalesced_ptr<T>: T must be aligned to 4 bytes or more");
  static_assert(sizeof(T) <= 64 * 4, "coalesced_ptr<T>: T must have at most 256 bytes");
  static constexpr unsigned kWordBytes = alignof(T) < 16 ? alignof(T) : 16;
  static constexpr unsigned kWords = sizeof(T) / kWordBytes;
  using WordType = Word<kWordBytes>;
};

// Room for a T that needs no constructor.
template <typename T>
union Value {
  TTLG_LANE Value() {}
  T value;
};

// What follows is written for one lane of a warp, which all make the same calls. `Lanes` is what a
// lane can do.

// x[i] = x[(i + by) mod m], or x[(i - by) mod m] if not kUp, for by < 2^kSteps: a barrel of selects
// whose register indices are static (section 6.2.2).
template <unsigned kSteps, bool kUp, typename W, unsigned m, typename Lanes>
TTLG_LANE void rotate(W (&x)[m], unsigned by, const Lanes& lanes) {
  TTLG_UNROLLED
  for (unsigned step = 0; step < kSteps; ++step) {
    const bool moves = (by >> step & 1) != 0;
    const unsigned distance = (1u << step) % m;
    W y[m];
    TTLG_UNROLLED
    for (unsigned i = 0; i < m; ++i) {
      y[i] = lanes.select(moves, x[(kUp ? i + distance : i + m - distance) % m], x[i]);
    }
    TTLG_UNROLLED
    for (unsigned i = 0; i < m; ++i) x[i] = y[i];
  }
}

// From word 32 r + lane of 32 structures in register r to word i of the lane's own structure in
// register i: R2C by gathers (Eqs. 34, 35, 24, 36).
template <typename W, unsigned m, typename Lanes>
TTLG_LANE void r2c(W (&x)[m], const Lanes& lanes) {
  using M = Matrix<m>;
  const unsigned j = lanes.lane();
  W y[m];
  TTLG_UNROLLED
  for (unsigned i = 0; i < m; ++i) y[M::q(i)] = x[i];  // renames registers
  rotate<M::kSteps, false>(y, M::rotation(j), lanes);
  TTLG_UNROLLED
  for (unsigned i = 0; i < m; ++i) x[i] = lanes.shuffle(y[i], M::shuffled(i, j));
  if constexpr (M::c > 1) rotate<M::kLog2C, false>(x, j >> M::kLog2B, lanes);
}

// Back: C2R by gathers (Eqs. 23, 31, 32, 33).
template <typename W, unsigned m, typename Lanes>
TTLG_LANE void c2r(W (&x)[m], const Lanes& lanes) {
  using M = Matrix<m>;
  const unsigned j = lanes.lane();
  W y[m];
  if constexpr (M::c > 1) rotate<M::kLog2C, true>(x, j >> M::kLog2B, lanes);
  TTLG_UNROLLED
  for (unsigned i = 0; i < m; ++i) y[i] = lanes.shuffle(x[i], M::unshuffled(i, j));
  rotate<M::kSteps, true>(y, M::rotation(j), lanes);
  TTLG_UNROLLED
  for (unsigned i = 0; i < m; ++i) x[i] = y[M::q(i)];
}

// Where the array begins of which this lane's structure would be number `lane`. It is the same for
// all lanes if and only if their structures are consecutive, and word 32 r + lane of them is
// 32 r + lane words behind that of the structure that holds it.
template <typename T, typename Lanes>
TTLG_LANE Address origin(const T* own, const Lanes& lanes) {
  return reinterpret_cast<Address>(own) - lanes.lane() * Address(sizeof(T));
}

// Calls access(pointer, r) for word 32 r + lane of the warp's structures, for all r. `W` is the
// type of a word, const where it is only read.
template <typename W, typename T, typename Lanes, typename Access>
TTLG_LANE void for_each_word(T* own, const Lanes& lanes, const Access& access) {
  using M = Matrix<Layout<T>::kWords>;
  const unsigned j = lanes.lane();
  const Address first = origin(own, lanes);
  if (lanes.all(lanes.shuffle(first, 0) == first)) {
    // From `own`, so that the compiler still knows which kind of memory this is.
    W* const words = reinterpret_cast<W*>(own) - static_cast<int>(j * (M::m - 1));
    TTLG_UNROLLED
    for (unsigned r = 0; r < M::m; ++r) access(words + r * kLanes, r);
  } else {
    TTLG_UNROLLED
    for (unsigned r = 0; r < M::m; ++r) {
      const Address other = lanes.shuffle(first, M::structure(r * kLanes + j));
      access(reinterpret_cast<W*>(other + j * Address(sizeof(W))) + r * kLanes, r);
    }
  }
}

template <typename T, typename Lanes>
TTLG_LANE T load(const T* own, const Lanes& lanes) {
  using W = typename Layout<T>::WordType;
  W x[Layout<T>::kWords];
  if (Layout<T>::kWords == 1 || !lanes.whole()) {
    TTLG_UNROLLED
    for (unsigned i = 0; i < Layout<T>::kWords; ++i) {
      x[i] = lanes.load(reinterpret_cast<const W*>(own) + i);
    }
  } else if constexpr (Layout<T>::kWords > 1) {
    lanes.sync();
    for_each_word<const W>(own, lanes, [&](const W* from, unsigned r) { x[r] = lanes.load(from); });
    r2c(x, lanes);
  }
  Value<T> result;
  memcpy(static_cast<void*>(&result.value), x, sizeof(T));
  return result.value;
}

template <typename T, typename Lanes>
TTLG_LANE void store(T* own, const T& value, const Lanes& lanes) {
  using W = typename Layout<T>::WordType;
  W x[Layout<T>::kWords];
  memcpy(x, &value, sizeof(T));
  if (Layout<T>::kWords == 1 || !lanes.whole()) {
    TTLG_UNROLLED
    for (unsigned i = 0; i < Layout<T>::kWords; ++i)
      lanes.store(reinterpret_cast<W*>(own) + i, x[i]);
  } else if constexpr (Layout<T>::kWords > 1) {
    c2r(x, lanes);
    lanes.sync();
    for_each_word<W>(own, lanes, [&](W* to, unsigned r) { lanes.store(to, x[r]); });
    lanes.sync();
  }
}

#ifdef __CUDACC__

// A lane of the warp that runs this.
struct DeviceLanes {
  TTLG_LANE unsigned lane() const {
    unsigned result;
    asm("mov.u32 %0, %%laneid;" : "=r"(result));
    __builtin_assume(result < kLanes);
    return result;
  }

  // Whether all lanes make this call together. Lanes that do all learn so, and thus make all the
  // calls that follow.
  TTLG_LANE bool whole() const { return __activemask() == ~0u; }

  // Orders the lanes' accesses before and after it: words that one lane loads or stores here belong
  // to structures that another may access by itself.
  TTLG_LANE void sync() const { __syncwarp(); }

  TTLG_LANE bool all(bool value) const { return __all_sync(~0u, value) != 0; }

  TTLG_LANE Address shuffle(Address value, unsigned lane) const {
    return __shfl_sync(~0u, value, static_cast<int>(lane));
  }

  template <unsigned kBytes>
  TTLG_LANE Word<kBytes> shuffle(const Word<kBytes>& word, unsigned lane) const {
    Word<kBytes> result;
    TTLG_UNROLLED
    for (unsigned p = 0; p < kBytes / 4; ++p) {
      result.part[p] = __shfl_sync(~0u, word.part[p], static_cast<int>(lane));
    }
    return result;
  }

  template <unsigned kBytes>
  TTLG_LANE Word<kBytes> select(bool first, const Word<kBytes>& x, const Word<kBytes>& y) const {
    Word<kBytes> result;
    TTLG_UNROLLED
    for (unsigned p = 0; p < kBytes / 4; ++p) result.part[p] = first ? x.part[p] : y.part[p];
    return result;
  }

  template <typename W>
  TTLG_LANE W load(const W* from) const {
    return *from;
  }

  template <typename W>
  TTLG_LANE void store(W* to, const W& word) const {
    *to = word;
  }
};

#else
struct DeviceLanes;
#endif

template <typename T>
struct WithoutConst {
  using Type = T;
};
template <typename T>
struct WithoutConst<const T> {
  using Type = T;
};

}  // namespace in_register

// What `*p` gives: a T when read, and a store when assigned to.
template <typename T, typename Lanes = in_register::DeviceLanes>
class coalesced_ref {
 public:
  using value_type = typename in_register::WithoutConst<T>::Type;

  TTLG_LANE coalesced_ref(T* own, const Lanes& lanes) : own_(own), lanes_(lanes) {}
  coalesced_ref(const coalesced_ref&) = default;

  TTLG_LANE operator value_type() const { return in_register::load<value_type>(own_, lanes_); }

  TTLG_LANE const coalesced_ref& operator=(const value_type& value) const {
    in_register::store(own_, value, lanes_);
    return *this;
  }
  TTLG_LANE const coalesced_ref& operator=(const coalesced_ref& other) const {
    return *this = static_cast<value_type>(other);
  }

 private:
  T* own_;
  Lanes lanes_;
};

// A lane's own pointer, of which a warp's loads and stores are coalesced. Tests run it with other
// `Lanes` than a device's.
template <typename T, typename Lanes = in_register::DeviceLanes>
class coalesced_ptr {
 public:
  using reference = coalesced_ref<T, Lanes>;
  using value_type = typename reference::value_type;

  TTLG_LANE explicit coalesced_ptr(T* own, const Lanes& lanes = Lanes())
      : own_(own), lanes_(lanes) {}

  TTLG_LANE T* get() const { return own_; }

  TTLG_LANE reference operator*() const { return {own_, lanes_}; }
  TTLG_LANE reference operator[](long long i) const { return {own_ + i, lanes_}; }
  TTLG_LANE coalesced_ptr operator+(long long i) const { return coalesced_ptr(own_ + i, lanes_); }
  TTLG_LANE coalesced_ptr& operator+=(long long i) {
    own_ += i;
    return *this;
  }

  TTLG_LANE value_type load() const { return **this; }
  TTLG_LANE void store(const value_type& value) const { **this = value; }

 private:
  T* own_;
  Lanes lanes_;
};

}  // namespace ttlg

#undef TTLG_MAY_ALIAS
#undef TTLG_LANE
#undef TTLG_UNROLLED
