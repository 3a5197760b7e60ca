// The banded enumeration scheme V1B of the entries below a square matrix's diagonal (Gorawski and
// Lorek, section 5): vertical bands from left to right, in each of them rows from top to bottom, in
// each row from left to right. A band touches few pages at a time, however large the matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ttlg {

class BandedTriangle {
 public:
  struct Entry {
    std::int64_t x;  // column
    std::int64_t y;  // row, x < y

    bool operator==(const Entry&) const = default;
  };

  BandedTriangle(std::int64_t order, std::int64_t width) : m_(order), w_(width) {}

  std::int64_t count() const { return m_ * (m_ - 1) / 2; }

  Entry at(std::int64_t k) const {
    const std::int64_t band = band_of(k);
    const std::int64_t x0 = band * w_;
    const std::int64_t width = std::min(w_, m_ - 1 - x0);
    const std::int64_t in_band = k - first_of(band);
    const std::int64_t triangle = sum_to(width);
    if (in_band < triangle) {
      const std::int64_t row = row_of(in_band);
      return {in_band - sum_below(row) + x0, row + x0};
    }
    const std::int64_t in_rest = in_band - triangle;
    return {in_rest % width + x0, in_rest / width + x0 + width + 1};
  }

  // The entry after this one.
  Entry next(Entry entry) const {
    const std::int64_t x0 = entry.x / w_ * w_;
    const std::int64_t width = std::min(w_, m_ - 1 - x0);
    if (++entry.x < std::min(entry.y, x0 + width)) return entry;
    if (++entry.y < m_) return {x0, entry.y};
    return {x0 + w_, x0 + w_ + 1};
  }

 private:
  static std::int64_t sum_below(std::int64_t t) { return t * (t - 1) / 2; }
  static std::int64_t sum_to(std::int64_t t) { return t * (t + 1) / 2; }

  // Entries of all bands before this one.
  std::int64_t first_of(std::int64_t band) const {
    const std::int64_t columns = std::min(band * w_, m_ - 1);
    return columns * m_ - sum_to(columns);
  }

  // A root in floating point is off by one at most, which comparisons of integers correct.
  std::int64_t band_of(std::int64_t k) const {
    const double d = static_cast<double>(2 * m_ - 1);
    const double root = std::sqrt(std::max(0.0, d * d - 8 * static_cast<double>(k)));
    auto band = static_cast<std::int64_t>((d - root) / static_cast<double>(2 * w_));
    band = std::clamp<std::int64_t>(band, 0, (m_ - 2) / w_);
    while (band > 0 && first_of(band) > k) --band;
    while (first_of(band + 1) <= k && (band + 1) * w_ < m_ - 1) ++band;
    return band;
  }

  static std::int64_t row_of(std::int64_t k) {
    auto row = static_cast<std::int64_t>((std::sqrt(8 * static_cast<double>(k) + 1) + 1) / 2);
    while (sum_below(row) > k) --row;
    while (sum_below(row + 1) <= k) ++row;
    return row;
  }

  std::int64_t m_;
  std::int64_t w_;
};

}  // namespace ttlg
