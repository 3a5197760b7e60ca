// How Orthogonal-Arbitrary addresses its slice in shared memory. Device code includes this file.
#pragma once

#include <cstdint>

#include "plan/cuda/policy.hpp"

namespace ttlg::cuda {

// Where the elements of a slice lie so that reading them in output order meets few bank conflicts:
// every row (see padded_row_length) begins `row_padding` elements later than packed ones would, or
// every line of 128 bytes is rotated by this number of banks for each line, and for each page of as
// many lines as there are banks, before it.
struct SharedLayout {
  std::uint32_t row_padding = 0;
  std::uint32_t line_rotation = 0;
  std::uint32_t page_rotation = 0;

  bool operator==(const SharedLayout&) const = default;
};

// Whether 16-byte accesses that are aligned in a slice without padding, in rows of that many
// elements of at least 4 bytes, stay together and aligned, so that they move at once.
constexpr bool keeps_vectors(const SharedLayout& layout, std::int64_t row_elements,
                             std::int64_t element_bytes) {
  const std::int64_t wide = kMaxAccessBytes;
  const std::int64_t rotations = layout.line_rotation | layout.page_rotation;
  const std::int64_t row_bytes = (layout.row_padding | row_elements) * element_bytes;
  return rotations * element_bytes % wide == 0 &&
         (layout.row_padding == 0 || row_bytes % wide == 0);
}

// Where the byte lies that would be at `byte` if lines were not rotated.
constexpr std::uint32_t swizzle(const SharedLayout& layout, std::uint32_t bank_bytes,
                                std::uint32_t byte) {
  const std::uint32_t line = byte / kSharedLineBytes;
  const std::uint32_t page = line * bank_bytes / kSharedLineBytes;
  const std::uint32_t rotation =
      bank_bytes * (layout.line_rotation * line + layout.page_rotation * page);
  return line * kSharedLineBytes + (byte + rotation) % kSharedLineBytes;
}

}  // namespace ttlg::cuda
