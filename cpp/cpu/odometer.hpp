// Counts through the blocks of a plan and keeps their offsets.
#pragma once

#include <array>
#include <cstdint>

#include "plan/cpu/plan.hpp"

namespace ttlg::cpu {

class Odometer {
 public:
  Odometer(const Plan& plan, std::int64_t position) : loops_(plan.loops) {
    for (std::size_t i = loops_.size(); i-- > 0;) {
      const std::int64_t rest = loops_[i].count.quotient(position);
      index_[i] = position - rest * loops_[i].count.divisor();
      position = rest;
      in_offset_ += index_[i] * loops_[i].in_byte_step;
      out_offset_ += index_[i] * loops_[i].out_byte_step;
    }
  }

  void step() {
    for (std::size_t i = loops_.size(); i-- > 0;) {
      in_offset_ += loops_[i].in_byte_step;
      out_offset_ += loops_[i].out_byte_step;
      if (++index_[i] < loops_[i].count.divisor()) return;
      in_offset_ -= index_[i] * loops_[i].in_byte_step;
      out_offset_ -= index_[i] * loops_[i].out_byte_step;
      index_[i] = 0;
    }
  }

  std::int64_t index(int loop) const { return index_[static_cast<std::size_t>(loop)]; }
  std::int64_t in_offset() const { return in_offset_; }
  std::int64_t out_offset() const { return out_offset_; }

 private:
  const std::vector<Loop>& loops_;
  std::array<std::int64_t, kMaxRank> index_;
  std::int64_t in_offset_ = 0;
  std::int64_t out_offset_ = 0;
};

}  // namespace ttlg::cpu
