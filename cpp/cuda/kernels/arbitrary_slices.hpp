// How the threads of Orthogonal-Arbitrary go through the slices of their block.
#pragma once

#include "cuda/kernels/grid.hpp"

namespace ttlg::cuda {

inline constexpr int kArbitraryThreads = OrthogonalArbitraryPolicy::kThreads;

// Threads go through their accesses in groups, as far as the slice reaches.
inline constexpr std::uint32_t kGroup = 4;

// Which of a thread's at most 8 accesses to one side lie in a slice: a bit for each in whole
// slices, in the last of the blocked rows, and in the last of the blocked columns; and a mark for
// each.
class Validity {
 public:
  TTLG_DEVICE void add(std::uint32_t k, bool in_whole, bool in_last_rows, bool in_last_columns) {
    bits_ |= std::uint32_t{in_whole} << k | std::uint32_t{in_last_rows} << (kRows + k) |
             std::uint32_t{in_last_columns} << (kColumns + k);
  }
  TTLG_DEVICE void leave_out_of_last_rows(std::uint32_t k) { bits_ &= ~(1u << (kRows + k)); }
  TTLG_DEVICE void leave_out_of_last_columns(std::uint32_t k) { bits_ &= ~(1u << (kColumns + k)); }
  TTLG_DEVICE void mark(std::uint32_t k, bool marked) {
    bits_ |= std::uint32_t{marked} << (kMarks + k);
  }
  TTLG_DEVICE void keep() { bits_ = opaque(bits_); }

  TTLG_DEVICE std::uint32_t marks() const { return bits_ >> kMarks; }
  TTLG_DEVICE std::uint32_t at(const BlockOrigin& origin) const {
    std::uint32_t bits = bits_ & 0xff;
    if (origin.last_row_block) bits &= bits_ >> kRows;
    if (origin.last_column_block) bits &= bits_ >> kColumns;
    return bits;
  }

 private:
  static constexpr std::uint32_t kRows = 8;
  static constexpr std::uint32_t kColumns = 16;
  static constexpr std::uint32_t kMarks = 24;
  std::uint32_t bits_ = 0;
};

TTLG_DEVICE bool has_bit(std::uint32_t bits, std::uint32_t k) { return (bits & 1u << k) != 0; }

// Calls fill(buffer, i) and drain(buffer, i) for the i-th of a block's slices. With two buffers a
// slice is on its way to one of them while the last is written to the output from the other.
template <typename Walk, typename Context, typename Fill, typename Drain>
TTLG_DEVICE void move_slices(Walk& walk, const Context& context, std::uint32_t buffer_bytes,
                             const Fill& fill, const Drain& drain) {
  std::uint32_t filled = 0;  // slices
  bool drains = false;       // whether the last of them is in, or on its way to, the full buffer
  Context full = context.at_shared(kRingBytes);
  Context empty = full.at_shared(buffer_bytes);
  while (true) {
    context.template wait_copies<0>();
    // What was filled is there, and what was drained is free.
    context.barrier();
    const bool exists = walk.exists(filled);
    // With a single buffer, filling and draining take turns.
    const bool fills = exists && !(drains && buffer_bytes == 0);
    if (fills) {
      fill(empty, filled);
      // [budget: first warp]
      walk.announce(filled + 1);
    }
    if (drains) drain(full, filled - 1);
    if (!exists) return;
    drains = fills;
    if (fills) {
      ++filled;
      const Context last = empty;
      empty = full;
      full = last;
    }
  }
}

}  // namespace ttlg::cuda
