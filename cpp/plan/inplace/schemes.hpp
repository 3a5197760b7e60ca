// The enumeration schemes of Gorawski and Lorek: orders in which the entries of a matrix, or those
// below its diagonal, are numbered, so that a grid of one dimension visits just these entries, and
// a banded one touches few pages at a time. x is the column, y the row.
//
// All of it is exact: square roots in floating point are estimates that comparisons of integers
// correct, so neither their precision nor fast-math options matter.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "tensor/integer.hpp"

// Functions that the host and a kernel share: nvcc compiles them for both.
#ifdef __CUDACC__
#define TTLG_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define TTLG_HOST_DEVICE inline
#endif

namespace ttlg {

enum class Scheme : std::uint8_t {
  v1,    // below the diagonal, row by row, from left to right (section 4.3)
  v1r,   // the same, from right to left (section 4.4)
  v1d,   // the same as V1, and the diagonal
  v2,    // below the diagonal, column by column, from top to bottom
  v1b,   // below the diagonal, in vertical bands, each of them row by row (section 5)
  v1bf,  // a whole rectangle in such bands (section 6)
};

template <typename Index>
struct Entry {
  Index x;
  Index y;

  bool operator==(const Entry&) const = default;
};

// 0 + 1 + ... + (t - 1), the paper's S-(t); its S+(t) is that of t + 1. The even one of t and t - 1
// is halved first, so nothing larger than the result has to fit.
template <typename Index>
TTLG_HOST_DEVICE constexpr Index sum_below(Index t) {
  return ((t - 1) | 1) * (t >> 1);
}

// The root of n, rounded, or a neighbour of that, from an approximation of 1 / sqrt(n) to 20 bits.
// Those are enough for 32-bit numbers. The root of a larger one is found to within 2^11 and then
// improved by a step of Newton's method, whose difference is taken in integers.
template <typename Index>
TTLG_HOST_DEVICE std::make_signed_t<Index> rounded_root(Index n, float inverse_root) {
  using Signed = std::make_signed_t<Index>;
  const float root = static_cast<float>(n) * inverse_root;
  if constexpr (sizeof(Index) == 4) {
    return static_cast<Signed>(root + 0.5f);
  } else {
    const auto near = static_cast<Signed>(root);
    const float step = static_cast<float>(n - near * near) * (0.5f * inverse_root);
    return near + static_cast<Signed>(std::floor(step + 0.5f));
  }
}

// The estimate in use, which takes a single instruction for the root on a GPU.
struct RootEstimate {
  template <typename Index>
  TTLG_HOST_DEVICE std::make_signed_t<Index> operator()(Index n) const {
#ifdef __CUDA_ARCH__
    return rounded_root(n, rsqrtf(static_cast<float>(n)));
#else
    return rounded_root(n, 1 / std::sqrt(static_cast<float>(n)));
#endif
  }
};

// The row of the k-th entry below the diagonal, counted row by row: the y with
// S-(y) <= k < S-(y + 1). As 2k + 1 lies between the squares of y - 1/2 and y + 1/2, that is its
// root, rounded; the root of 8k + 1 in the paper's Eq. 8 takes two bits more. Ends for any
// estimate, and soon for one that is a few steps off.
template <typename Index, typename Root>
TTLG_HOST_DEVICE Index row_below_diagonal(Index k, Root root) {
  using Signed = std::make_signed_t<Index>;
  auto y = static_cast<Index>(std::max(root(static_cast<Index>(2 * k + 1)), Signed{1}));
  while (sum_below<Index>(y) > k) --y;
  while (sum_below<Index>(y + 1) <= k) ++y;
  return y;
}

// A scheme for a matrix of some size. The host makes it, with all that would need a division; a
// kernel gets it as a parameter. With std::int64_t for triangles of order up to 2^31, and with
// std::uint32_t, which is cheaper on a GPU, for fewer than 2^31 entries.
template <typename Index>
class Enumeration {
 public:
  using Entry = ttlg::Entry<Index>;

  // What V1BF numbers is m wide and n high; the other schemes' matrix is square, of order m. Bands
  // are w wide, or as wide as the matrix if that is less. Reversed, the last entry comes first.
  struct Size {
    std::int64_t m = 1;
    std::int64_t n = 1;
    std::int64_t w = 1;
    bool reversed = false;
  };

  Enumeration(Scheme scheme, const Size& size)
      : scheme_(scheme), reversed_(size.reversed), m_(as_index(size.m)), n_(as_index(size.n)) {
    if (size.m < 1 || size.n < 1) throw std::invalid_argument("an enumeration of no entries");
    const bool is_whole = scheme == Scheme::v1bf;
    if (!is_whole && size.m > kMaxOrder) {
      throw std::overflow_error("a triangle is enumerated up to order 2^31");
    }
    const std::int64_t order = scheme == Scheme::v1d ? size.m + 1 : size.m;
    const std::int64_t count = is_whole ? checked_mul(size.m, size.n) : sum_below(order);
    if (sizeof(Index) == 4 && count > INT32_MAX) {
      throw std::overflow_error("an enumeration with 32 bits has fewer than 2^31 entries");
    }
    const std::int64_t w = std::min(size.w, size.m);
    count_ = as_index(count);
    width_ = Divisor(w);
    if (is_whole) {
      last_band_ = as_index((size.m - 1) / w);
      last_width_ = Divisor(size.m - (size.m - 1) / w * w);
      band_ = Divisor(w * size.n);
    }
  }

  TTLG_HOST_DEVICE Index count() const { return count_; }

  // The k-th entry.
  template <typename Root = RootEstimate>
  TTLG_HOST_DEVICE Entry at(Index k, Root root = {}) const {
    return at<Scheme::v1, Scheme::v1r, Scheme::v1d, Scheme::v2, Scheme::v1b, Scheme::v1bf>(k, root);
  }

  // The k-th entry, for code that is compiled for these schemes alone.
  template <Scheme kScheme, Scheme... kOthers, typename Root = RootEstimate>
  TTLG_HOST_DEVICE Entry at(Index k, Root root = {}) const {
    if constexpr (sizeof...(kOthers) > 0) {
      if (scheme_ != kScheme) return at<kOthers...>(k, root);
    }
    if (reversed_) k = count_ - 1 - k;
    if constexpr (kScheme == Scheme::v1bf) {
      return in_rectangle(k);
    } else if constexpr (kScheme == Scheme::v1b) {
      return in_bands(k, root);
    } else if constexpr (kScheme == Scheme::v2) {
      // What is left after an entry is numbered as by V1, from the other end of the diagonal.
      const Entry left = in_rows(count_ - 1 - k, root);
      return {m_ - 1 - left.y, m_ - 1 - left.x};
    } else {
      const Entry entry = in_rows(k, root);
      if constexpr (kScheme == Scheme::v1r) return {entry.y - 1 - entry.x, entry.y};
      if constexpr (kScheme == Scheme::v1d) return {entry.x, entry.y - 1};
      return entry;
    }
  }

  // The k of an entry, which has to be one of those that are numbered.
  TTLG_HOST_DEVICE Index number_of(const Entry& entry) const {
    const Index k = forward_number_of(entry);
    return reversed_ ? count_ - 1 - k : k;
  }

  // The entry after this one in V1B, not reversed; after the last, one outside of the matrix. Costs
  // less than to decode each number.
  Entry next(Entry entry) const {
    assert(scheme_ == Scheme::v1b && !reversed_);
    const Index x0 = begin_of_band(entry.x);
    if (++entry.x < std::min<Index>(entry.y, x0 + w())) return entry;
    if (++entry.y < m_) return {x0, entry.y};
    return {x0 + w(), x0 + w() + 1};
  }

 private:
  using Divisor = std::conditional_t<sizeof(Index) == 4, FastDivisor32, FastDivisor>;

  // 2k + 1 then fits in 63 bits.
  static constexpr std::int64_t kMaxOrder = std::int64_t{1} << 31;

  static Index as_index(std::int64_t value) { return static_cast<Index>(value); }

  TTLG_HOST_DEVICE Index w() const { return width_.divisor(); }
  TTLG_HOST_DEVICE Index begin_of_band(Index x) const { return width_.quotient(x) * w(); }
  // Entries of all columns before this one.
  TTLG_HOST_DEVICE Index first_at(Index x0) const { return count_ - sum_below<Index>(m_ - x0); }

  // Section 4.3, Eqs. 5 and 8.
  template <typename Root>
  static TTLG_HOST_DEVICE Entry in_rows(Index k, Root root) {
    const Index y = row_below_diagonal(k, root);
    return {k - sum_below<Index>(y), y};
  }

  // Section 5. A band begins at the number where its first column would begin in V2, so the column
  // in which V2 has this number tells the band (Eq. 15). It is a triangle of w rows and then a
  // rectangle, but the last one may be narrower and then ends within such a triangle.
  template <typename Root>
  TTLG_HOST_DEVICE Entry in_bands(Index k, Root root) const {
    const Index x0 = begin_of_band(m_ - 1 - row_below_diagonal(count_ - 1 - k, root));
    const Index in_band = k - first_at(x0);
    const Index triangle = sum_below<Index>(w() + 1);
    if (in_band < triangle) {
      const Entry entry = in_rows(in_band, root);
      return {entry.x + x0, entry.y + x0};
    }
    const Index row = width_.quotient(in_band - triangle);
    return {in_band - triangle - row * w() + x0, row + x0 + w() + 1};
  }

  // Section 6.
  TTLG_HOST_DEVICE Entry in_rectangle(Index k) const {
    const Index band = band_.quotient(k);
    const Index in_band = k - band * band_.divisor();
    const Divisor& width = band == last_band_ ? last_width_ : width_;
    const Index y = width.quotient(in_band);
    return {in_band - y * width.divisor() + band * w(), y};
  }

  TTLG_HOST_DEVICE Index forward_number_of(const Entry& entry) const {
    const auto [x, y] = entry;
    switch (scheme_) {
      case Scheme::v1:
        return sum_below<Index>(y) + x;
      case Scheme::v1r:
        return sum_below<Index>(y + 1) - x - 1;
      case Scheme::v1d:
        return sum_below<Index>(y + 1) + x;
      case Scheme::v2:
        return first_at(x) + y - x - 1;
      case Scheme::v1b: {
        const Index x0 = begin_of_band(x);
        const Index row = y - x0 - 1;
        const Index above = std::min(row, w());  // rows of the triangle
        return first_at(x0) + sum_below<Index>(above + 1) + (row - above) * w() + (x - x0);
      }
      default: {
        const Index x0 = begin_of_band(x);
        const Index width = std::min<Index>(w(), m_ - x0);
        return x0 * n_ + y * width + (x - x0);
      }
    }
  }

  Scheme scheme_;
  bool reversed_;
  Index m_;
  Index n_;
  Index count_ = 0;
  Index last_band_ = 0;
  Divisor width_;
  Divisor last_width_;
  Divisor band_;
};

}  // namespace ttlg
