// The widths of the words that kernels move elements as, on every device. Elements of any other
// number of bytes move as several words, or as bytes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ttlg {

inline constexpr std::array<std::int64_t, 5> kWidths{1, 2, 4, 8, 16};
inline constexpr std::int64_t kMaxWidth = kWidths.back();

// Every width is twice the one before, which index and test rely on.
static_assert([] {
  for (std::size_t i = 0; i < kWidths.size(); ++i) {
    if (kWidths[i] != std::int64_t{1} << i) return false;
  }
  return true;
}());

constexpr bool is_width(std::int64_t bytes) {
  return bytes <= kMaxWidth && std::has_single_bit(static_cast<std::uint64_t>(bytes));
}

// The index of a width in tables that have an entry for each; their length for any other number of
// bytes, which tables with one more entry have a kernel for.
constexpr std::size_t width_index(std::int64_t bytes) {
  if (!is_width(bytes)) return kWidths.size();
  return static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(bytes)));
}

// "1, 2, 4 or 8" for all widths up to `last`, for messages.
inline std::string list_of_widths(std::int64_t last = kMaxWidth) {
  std::string text;
  for (const std::int64_t width : kWidths) {
    if (width > last) break;
    if (width > 1) text += width == last ? " or " : ", ";
    text += std::to_string(width);
  }
  return text;
}

}  // namespace ttlg
