// Software prefetch of the block that is moved next. Its lines are requested a few at a time while
// this block is worked on, so that memory is never idle and its queues never overflow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/block.hpp"

namespace ttlg::cpu {

class LineRequests {
 public:
  LineRequests() = default;
  LineRequests(const std::byte* next, const Block& block)
      : next_(next), pieces_(block.pieces), piece_bytes_(block.piece_bytes) {}

  // Into L2: lines of a block may alias in L1, and they are read only after this block has left.
  void request(std::int64_t lines) {
    for (; lines > 0 && piece_ < pieces_.size(); --lines) {
      const std::byte* piece = next_ + pieces_[piece_];
      if (byte_ < piece_bytes_) {
        __builtin_prefetch(piece + byte_, 0, 2);
        byte_ += kLineBytes;
      } else {
        __builtin_prefetch(piece + piece_bytes_ - 1, 0, 2);
        byte_ = 0;
        ++piece_;
      }
    }
  }

  void request_all() { request(INT64_MAX); }

 private:
  const std::byte* next_ = nullptr;
  std::span<const std::int64_t> pieces_{};
  std::int64_t piece_bytes_ = 0;
  std::size_t piece_ = 0;
  std::int64_t byte_ = 0;
};

}  // namespace ttlg::cpu
