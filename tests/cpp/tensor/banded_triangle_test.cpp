#include "tensor/banded_triangle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ttlg {
namespace {

using Entry = BandedTriangle::Entry;

// Bands from left to right, rows from top to bottom, entries from left to right.
std::vector<Entry> listed(std::int64_t order, std::int64_t width) {
  std::vector<Entry> entries;
  for (std::int64_t begin = 0; begin < order; begin += width) {
    for (std::int64_t y = 0; y < order; ++y) {
      for (std::int64_t x = begin; x < std::min(y, begin + width); ++x) entries.push_back({x, y});
    }
  }
  return entries;
}

TEST(BandedTriangle, ListsEveryEntryOnceBandByBand) {
  for (std::int64_t order = 1; order < 50; ++order) {
    for (std::int64_t width = 1; width < order + 3; ++width) {
      const BandedTriangle triangle(order, width);
      const std::vector<Entry> entries = listed(order, width);
      ASSERT_EQ(triangle.count(), std::ssize(entries));
      for (std::int64_t k = 0; k < triangle.count(); ++k) {
        const Entry entry = triangle.at(k);
        ASSERT_EQ(entry, entries[static_cast<std::size_t>(k)])
            << order << ", " << width << ", " << k;
        if (k + 1 < triangle.count()) {
          ASSERT_EQ(triangle.next(entry), entries[static_cast<std::size_t>(k + 1)]);
        }
      }
    }
  }
}

// Where 32-bit floating point and 32-bit integers would go wrong.
TEST(BandedTriangle, IsExactForLargeOrders) {
  for (const std::int64_t order : {4098, 4105, 23171, 65536, 3000000}) {
    for (const std::int64_t width : {1, 8, 64}) {
      const BandedTriangle triangle(order, width);
      std::int64_t begin = 0;  // of a band
      for (std::int64_t x = 0; x < order - 1; x += width) {
        const Entry first{x, x + 1};
        ASSERT_EQ(triangle.at(begin), first) << order << ", " << width;
        if (begin > 0) {
          ASSERT_EQ(triangle.next(triangle.at(begin - 1)), first);
          ASSERT_EQ(triangle.at(begin - 1), (Entry{x - 1, order - 1}));
        }
        for (std::int64_t j = x; j < std::min(x + width, order - 1); ++j) begin += order - 1 - j;
      }
      ASSERT_EQ(begin, triangle.count());
    }
  }
}

}  // namespace
}  // namespace ttlg
