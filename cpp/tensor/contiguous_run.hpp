// Bytes that follow one another on one side of a problem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/integer.hpp"

namespace ttlg {

// A run of contiguous bytes that begins as one element and is lengthened mode by mode, from the
// side's fastest mode on. It ends at a mode whose stride leaves a gap, and after one that is cut:
// what comes next then does not follow on the last index taken.
class ContiguousRun {
 public:
  // Indices in either direction that leave out up to `gap` bytes, if any may be left out, count as
  // contiguous while the run has fewer than `loose_bytes`.
  explicit constexpr ContiguousRun(std::int64_t element_bytes, std::int64_t gap = 0,
                                   std::int64_t loose_bytes = INT64_MAX)
      : bytes_(element_bytes), gap_(gap), loose_bytes_(loose_bytes) {}

  // From its first byte to its last.
  constexpr std::int64_t bytes() const { return bytes_; }

  // Whether the next mode, if it has this stride, lengthens the run.
  constexpr bool is_continued_by(std::int64_t byte_stride) const {
    if (!open_) return false;
    const bool is_loose = gap_ > 0 && bytes_ < loose_bytes_;
    return is_loose ? distance(byte_stride) <= bytes_ + gap_ : byte_stride == bytes_;
  }

  // Takes the first `count` of the next mode's `extent` indices; false, and the run has ended, if
  // they do not follow on it.
  constexpr bool extend(std::int64_t byte_stride, std::int64_t count, std::int64_t extent) {
    const bool continued = is_continued_by(byte_stride);
    if (continued) bytes_ += (count - 1) * distance(byte_stride);
    open_ = continued && count == extent;
    return continued;
  }

  // Takes the next mode whole.
  constexpr bool extend(std::int64_t byte_stride, std::int64_t extent) {
    return extend(byte_stride, extent, extent);
  }

 private:
  static constexpr std::int64_t distance(std::int64_t stride) {
    return stride < 0 ? -stride : stride;
  }

  std::int64_t bytes_;
  std::int64_t gap_;
  std::int64_t loose_bytes_;
  bool open_ = true;
};

// Whether the fastest modes of a side, in `order`, have a run of `bytes`, with gaps as above. Calls
// take(mode, count) with how many indices of each mode that needs.
template <typename Mode, typename Take>
constexpr bool fill_run(std::int64_t element_bytes, std::int64_t bytes, std::span<const int> order,
                        std::span<const Mode> modes, std::int64_t Mode::* step, const Take& take,
                        std::int64_t gap = 0) {
  ContiguousRun run(element_bytes, gap);
  for (const int m : order) {
    if (run.bytes() >= bytes) break;
    const Mode& mode = modes[static_cast<std::size_t>(m)];
    const std::int64_t distance = mode.*step < 0 ? -(mode.*step) : mode.*step;
    if (distance == 0) return false;
    const std::int64_t needed = ceil_div(bytes - run.bytes(), distance) + 1;
    const std::int64_t count = mode.extent < needed ? mode.extent : needed;
    if (!run.extend(mode.*step, count, mode.extent)) return false;
    take(static_cast<std::size_t>(m), count);
  }
  return run.bytes() >= bytes;
}

}  // namespace ttlg
