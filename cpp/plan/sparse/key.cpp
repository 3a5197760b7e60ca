#include "plan/sparse/key.hpp"

#include <algorithm>
#include <bit>

namespace ttlg::sparse {

int bits_of(std::int64_t extent) {
  return extent > 1 ? static_cast<int>(std::bit_width(static_cast<std::uint64_t>(extent - 1))) : 0;
}

Key key_of(const Problem& problem, std::span<const int> out_modes) {
  Key key;
  for (auto mode = out_modes.rbegin(); mode != out_modes.rend(); ++mode) {
    const int in_mode = problem.perm[static_cast<std::size_t>(*mode)];
    const std::int64_t extent = problem.extents[static_cast<std::size_t>(in_mode)];
    const int bits = bits_of(extent);
    if (bits == 0) continue;
    key.fields.push_back({.in_mode = in_mode, .out_mode = *mode, .shift = key.bits, .bits = bits});
    key.max |= static_cast<std::uint64_t>(extent - 1) << key.bits;
    key.bits += bits;
  }
  std::ranges::reverse(key.fields);
  return key;
}

SortedBits bits_to_sort(const Key& key, int sorted_modes) {
  // The input's modes with fields, in its order.
  std::vector<int> in_modes;
  for (const Field& field : key.fields) in_modes.push_back(field.in_mode);
  std::ranges::sort(in_modes);

  SortedBits sorted{.low = 0, .high = key.bits};
  for (std::size_t i = 0; i < key.fields.size(); ++i) {
    const Field& field = key.fields[i];
    if (field.in_mode != in_modes[i] || field.in_mode >= sorted_modes) break;
    sorted.high = field.shift;
  }
  int inner = sorted_modes;
  for (auto field = key.fields.rbegin(); field != key.fields.rend(); ++field) {
    if (field->in_mode >= inner || field->shift >= sorted.high) break;
    inner = field->in_mode;
    sorted.low = field->shift + field->bits;
  }
  return sorted;
}

}  // namespace ttlg::sparse
