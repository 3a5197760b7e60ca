// How a block's modes are split among the two axes along which a kernel works.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "plan/cpu/parameters.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

// A mode along which a block holds more than one index.
struct BlockMode {
  std::int64_t extent;  // of the whole mode
  std::int64_t block;   // of a full block
  std::int64_t in_step;
  std::int64_t out_step;
  std::int64_t staging_step;  // in the staging buffer
  int loop;                   // the loop over its blocks; -1: there is one
};

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

// The modes of a block that hold more than one index, without the tables of a Block.
class BlockModes {
 public:
  BlockModes(const Problem& folded, std::span<const std::int64_t> extents);

  std::span<const BlockMode> list() const { return std::span(modes_).first(rank_); }
  std::span<const int> in_order() const { return std::span(in_order_).first(rank_); }

 private:
  std::array<BlockMode, kMaxRank> modes_;  // the output's fastest first
  std::array<int, kMaxRank> in_order_;     // their numbers, the input's fastest first
  std::size_t rank_ = 0;
};

struct AxisModes {
  ModeNumbers in;
  ModeNumbers out;
  ModeNumbers rest;
  // Whether each index of the in axis is a whole row of the output, some lines long, that begins
  // where the one before ends, and is the next element in the input.
  bool rows_adjoin = false;
};

// Each side takes its own fastest modes, as many as its vectors need; a mode that both sides come
// to goes to the side that has less. `modes` are in the output's order, `in_order` in the input's.
AxisModes split_axes(std::span<const BlockMode> modes, std::span<const int> in_order,
                     std::int64_t element_bytes, AxisSplit split);

}  // namespace ttlg::cpu
