// What the accesses of warps to shared memory cost.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/cuda/policy.hpp"

namespace ttlg::cuda {

// Extra cycles of an access of these lanes to `access_bytes` each (of 8-byte words in two phases,
// of 16-byte ones in four): the most words that share a bank, a word that several lanes use counted
// once.
inline std::uint32_t bank_conflicts(std::span<const std::uint32_t> byte_of_lane,
                                    std::uint32_t access_bytes) {
  const int shift = std::countr_zero(std::max(access_bytes, 4u));
  const std::uint32_t banks = kSharedLineBytes >> shift;
  std::uint32_t extra = 0;
  for (std::size_t begin = 0; begin < byte_of_lane.size(); begin += banks) {
    std::array<std::uint8_t, kSharedLineBytes / 4> load{};
    std::array<std::uint32_t, kSharedLineBytes / 4> last{};  // one more than the word
    std::uint8_t max_load = 1;
    const std::size_t end = std::min(begin + banks, byte_of_lane.size());
    for (std::size_t lane = begin; lane < end; ++lane) {
      const std::uint32_t word = byte_of_lane[lane] >> shift;
      const std::uint32_t bank = word & (banks - 1);
      // Elements as wide as a bank or wider never share a word.
      if (access_bytes >= 4 || last[bank] != word + 1) {
        max_load = std::max(max_load, ++load[bank]);
      }
      if (access_bytes < 4) last[bank] = word + 1;
    }
    extra += max_load - 1U;
  }
  return extra;
}

}  // namespace ttlg::cuda
