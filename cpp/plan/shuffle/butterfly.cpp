#include "plan/shuffle/butterfly.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>

namespace ttlg::shuffle {
namespace {

using Bits = std::vector<int>;

bool contains(std::span<const int> bits, int bit) {
  return std::ranges::find(bits, bit) != bits.end();
}

Bits those(std::span<const int> bits, const auto& condition) {
  Bits result;
  std::ranges::copy_if(bits, std::back_inserter(result), condition);
  return result;
}

// Appends bits that are not there yet, until there are that many.
void fill_up(Bits& bits, std::span<const int> more, std::size_t count) {
  for (const int bit : more) {
    if (bits.size() == count) return;
    if (!contains(bits, bit)) bits.push_back(bit);
  }
}

Bits first_of(std::span<const int> bits, int count) {
  const auto taken = bits.first(static_cast<std::size_t>(count));
  return {taken.begin(), taken.end()};
}

// The lanes of loaded registers: a row, and above it the highest bits of the columns, so that few
// pieces make whole registers. Those of stored ones: a column, and above it bits that need not
// leave.
struct Ends {
  Bits loaded;
  Bits stored;
};

Ends find_ends(const Tile& tile, std::size_t lane_bits, int row_bits, int column_bits) {
  Ends ends{first_of(tile.in_bits, row_bits), first_of(tile.out_bits, column_bits)};
  Bits columns = ends.stored;
  std::ranges::reverse(columns);
  fill_up(ends.loaded, columns, lane_bits);
  fill_up(ends.loaded, tile.in_bits, lane_bits);
  fill_up(ends.stored, ends.loaded, lane_bits);
  return ends;
}

// The order that lets every step push out the highest bit of its group: bits that stay, in the
// order in which they will be stored, below bits that leave.
Bits arrange(const Ends& ends, std::size_t group) {
  const auto stay_in = [&](std::span<const int> part) {
    return those(part, [&](int bit) { return contains(ends.loaded, bit); });
  };
  const std::span<const int> stored = ends.stored;
  Bits first = stay_in(stored.first(group));
  const Bits leaving = those(ends.loaded, [&](int bit) { return !contains(ends.stored, bit); });
  fill_up(first, leaving, group);
  for (const int bit : stay_in(stored.subspan(group))) first.push_back(bit);
  fill_up(first, leaving, first.size() + leaving.size());
  return first;
}

// Where a new bit comes to lie so that it and those already there are in the order of `stored`.
std::ptrdiff_t place_of(int coming, std::span<const int> lanes, std::span<const int> stored) {
  const auto before =
      stored.first(static_cast<std::size_t>(std::ranges::find(stored, coming) - stored.begin()));
  return std::ranges::count_if(before, [&](int bit) { return contains(lanes, bit); });
}

}  // namespace

Butterfly make_butterfly(const Tile& tile, int lane_bits, int row_bits, int column_bits,
                         int group_bits) {
  const auto lanes = static_cast<std::size_t>(lane_bits);
  const auto group = static_cast<std::size_t>(std::min(group_bits, lane_bits));
  const Ends ends = find_ends(tile, lanes, row_bits, column_bits);
  Butterfly result{.loaded = ends.loaded, .first = arrange(ends, group), .steps = {}};
  Bits inner(result.first.begin(), result.first.begin() + static_cast<std::ptrdiff_t>(group));
  Bits outer(result.first.begin() + static_cast<std::ptrdiff_t>(group), result.first.end());
  const std::span<const int> stored = ends.stored;
  const auto add = [&](int coming, int leaving) {
    Bits all = inner;
    all.insert(all.end(), outer.begin(), outer.end());
    result.steps.push_back({.coming = coming, .leaving = leaving, .lanes = std::move(all)});
  };
  const auto is_coming = [&](int bit) { return !contains(ends.loaded, bit); };
  Bits coming = those(stored.first(group), is_coming);
  std::ranges::reverse(coming);
  for (const int bit : coming) {
    const int leaving = inner.back();
    inner.pop_back();
    inner.insert(inner.begin() + place_of(bit, inner, stored.first(group)), bit);
    add(bit, leaving);
  }
  coming = those(stored.subspan(group), is_coming);
  for (const int bit : coming) {
    const auto leaving =
        std::ranges::find_if(outer, [&](int each) { return !contains(ends.stored, each); });
    const int left = *leaving;
    outer.erase(leaving);
    outer.push_back(bit);
    // Whatever order that made, the last step sets it right.
    if (bit == coming.back())
      outer.assign(stored.begin() + static_cast<std::ptrdiff_t>(group), stored.end());
    add(bit, left);
  }
  return result;
}

}  // namespace ttlg::shuffle
