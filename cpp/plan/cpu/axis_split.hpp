// How a block's modes are split among the two axes along which a kernel works.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "plan/cpu/block.hpp"

namespace ttlg::cpu {

// Numbers of a block's modes. Planning looks at many blocks that it drops, so that a list in memory
// of its own would cost more than the rest.
class ModeNumbers {
 public:
  void add(int mode) { numbers_[count_++] = static_cast<std::uint8_t>(mode); }
  std::span<const std::uint8_t> list() const { return std::span(numbers_).first(count_); }

 private:
  std::array<std::uint8_t, kMaxRank> numbers_;
  std::size_t count_ = 0;
};

struct AxisModes {
  ModeNumbers in;
  ModeNumbers out;
  ModeNumbers rest;
};

// Each side takes its own fastest modes, as many as its vectors need; a mode that both sides come
// to goes to the side that has less. `modes` are in the output's order, `in_order` in the input's.
AxisModes split_axes(std::span<const BlockMode> modes, std::span<const int> in_order,
                     std::int64_t element_bytes, AxisSplit split);

}  // namespace ttlg::cpu
