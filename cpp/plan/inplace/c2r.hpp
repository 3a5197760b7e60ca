// The decomposition of in-place transposition: C2R and R2C (Catanzaro et al., PPoPP 2014). C2R
// makes of an m x n matrix, row after row, its transpose; R2C, on the n x m matrix seen as m x n,
// is the inverse. Both permute rows and columns on their own, so that memory for a few of them is
// enough.
#pragma once

#include <cstdint>
#include <numeric>

namespace ttlg {

// x * y mod m for 0 <= x, y < m: products of 64 bits need 128.
constexpr std::int64_t multiply_mod(std::int64_t x, std::int64_t y, std::int64_t m) {
  __extension__ typedef __int128 Wide;
  return static_cast<std::int64_t>(Wide{x} * y % m);
}

constexpr std::int64_t floor_mod(std::int64_t x, std::int64_t m) {
  const std::int64_t rest = x % m;
  return rest < 0 ? rest + m : rest;
}

// x^-1 mod m for coprime x and m; 0 for m = 1, where every number is congruent to it.
constexpr std::int64_t inverse_mod(std::int64_t x, std::int64_t m) {
  std::int64_t r0 = m, r1 = x % m, t0 = 0, t1 = 1;
  while (r1 != 0) {
    const std::int64_t quotient = r0 / r1;
    const std::int64_t r2 = r0 - quotient * r1, t2 = t0 - quotient * t1;
    r0 = r1, r1 = r2, t0 = t1, t1 = t2;
  }
  return floor_mod(t0, m);
}

struct C2r {
  constexpr C2r(std::int64_t rows, std::int64_t columns)
      : m(rows), n(columns), c(std::gcd(m, n)), a(m / c), b(n / c), a_inverse(inverse_mod(a, b)) {}

  std::int64_t m;
  std::int64_t n;
  std::int64_t c;
  std::int64_t a;
  std::int64_t b;
  std::int64_t a_inverse;  // mod b

  // q(i) = (i n - floor(i / a)) mod m (Eq. 33): the row that C2R moves to row i, and where R2C
  // moves row i to.
  constexpr std::int64_t q(std::int64_t i) const {
    return floor_mod(multiply_mod(i, n % m, m) - i / a, m);
  }
};

// q(i), q(i + 1), ... without a multiplication or division.
class RowOrder {
 public:
  constexpr RowOrder(const C2r& c2r, std::int64_t i)
      : q_(c2r.q(i)), step_(c2r.n % c2r.m), m_(c2r.m), a_(c2r.a), left_(a_ - i % a_) {}

  constexpr std::int64_t operator*() const { return q_; }

  constexpr RowOrder& operator++() {
    q_ += step_;
    if (--left_ == 0) {
      left_ = a_;
      --q_;
    }
    if (q_ >= m_) q_ -= m_;
    if (q_ < 0) q_ += m_;
    return *this;
  }

 private:
  std::int64_t q_;
  std::int64_t step_;
  std::int64_t m_;
  std::int64_t a_;
  std::int64_t left_;
};

// Steps around a circle. The points 0, s, 2s, ... modulo b cut it into gaps of at most three
// lengths (Sós 1958), and of two for as many points as there are on the way of Euclid's algorithm
// from s and b to 1. So b elements of which every s-th one belongs together are two rectangles: for
// each point the elements from there to the next one.
struct CircleGaps {
  // Points 0 to first_points - 1 are followed by first_gap elements each, as many as second_points
  // after them by second_gap.
  std::int64_t first_points = 1;
  std::int64_t first_gap = 1;
  std::int64_t second_points = 0;
  std::int64_t second_gap = 0;
};

// The gaps whose rectangles cost the least: cost(points, gap) for each. 0 <= s < b, coprime to b.
template <typename Cost>
constexpr CircleGaps cheapest_gaps(std::int64_t s, std::int64_t b, const Cost& cost) {
  CircleGaps best{1, b, 0, 0};
  double min_cost = cost(1, b);
  // Point `up` lies by its gap above 0, and point `down` below it.
  std::int64_t up = 1, above = s;
  std::int64_t down = 1, below = b - s;
  while (above > 0 && below > 0) {
    const double now = cost(down, above) + cost(up, below);
    if (now < min_cost) {
      min_cost = now;
      best = {down, above, up, below};
    }
    if (above > below) {
      above -= below;
      up += down;
    } else {
      below -= above;
      down += up;
    }
  }
  return best;
}

}  // namespace ttlg
