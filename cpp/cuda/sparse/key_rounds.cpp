#include "cuda/sparse/key_rounds.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace ttlg::cuda::sparse {
namespace {

// The bits that tell 0..extent-1 apart, without the sign of a coordinate.
int bits_of(std::int64_t extent, int index_bytes) {
  if (extent <= 1) return 0;
  const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(extent - 1)));
  return std::min(bits, 8 * index_bytes - 1);
}

// One beyond the last mode of the output that needs sorting. Modes of extent 1 are in any order.
int end_of_sorting(std::span<const int> bits, std::span<const int> perm, bool is_sorted) {
  std::size_t end = perm.size();
  int following = static_cast<int>(perm.size());  // the input mode that comes after this one
  for (; end > 0; --end) {
    if (bits[end - 1] == 0) continue;
    if (!is_sorted || perm[end - 1] > following) break;
    following = perm[end - 1];
  }
  return static_cast<int>(end);
}

}  // namespace

KeyRounds key_rounds(std::span<const std::int64_t> extents, std::span<const int> perm,
                     int index_bytes, bool is_sorted) {
  KeyRounds result;
  for (const int mode : perm) {
    result.bits.push_back(bits_of(extents[static_cast<std::size_t>(mode)], index_bytes));
  }
  const int modes = static_cast<int>(perm.size());
  const int sorted_end = end_of_sorting(result.bits, perm, is_sorted);
  for (int mode = 0; mode < sorted_end;) {
    KeyRound round{.first_mode = mode};
    for (; mode < modes; ++mode) {
      const int bits = result.bits[static_cast<std::size_t>(mode)];
      if (round.end_bit + bits > kKeyBits) break;
      round.end_bit += bits;
      if (mode >= sorted_end) round.begin_bit += bits;
    }
    round.end_mode = mode;
    result.rounds.push_back(round);
  }
  std::ranges::reverse(result.rounds);
  return result;
}

}  // namespace ttlg::cuda::sparse
