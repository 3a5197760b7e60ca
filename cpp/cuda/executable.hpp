// A plan lowered to what its kernel is launched with. What depends on the plan alone is worked out
// here once; a call binds two addresses to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/inplace/lower.hpp"
#include "cuda/launch.hpp"
#include "plan/cuda/inplace/plan.hpp"
#include "plan/cuda/plan.hpp"

namespace ttlg::cuda {

struct Executable : Plan {
  // Throws std::invalid_argument for a plan whose grid would take too many launches.
  explicit Executable(Plan plan);

  // The launch for these pointers to element (0, ..., 0) of the request's arrays; where they are
  // aligned as planned it allocates nothing. Throws std::invalid_argument where they are not
  // aligned as planned.
  Launch bind(const std::byte* in, const std::byte* out) const;

  LaunchGrid grid;

 private:
  Launch bind_match(std::int64_t word_bytes) const;
  Launch bind_orthogonal(std::int64_t in_alignment, std::int64_t out_alignment) const;
  Launch bind_worse(std::int64_t worse_alignment) const;
  void keep_resident_blocks(Launch& launch) const;
  Launch lower_slices(const SlicedProblem& slices, const SharedLayout& shared_layout) const;
  Launch lower_match(std::int64_t word_bytes) const;

  // For pointers aligned as planned; of the Orthogonal kernels, as well as can be.
  Launch launch_;
  std::int64_t widest_word_ = 0;  // of the FVI kernels, whatever the pointers
  // Whether contiguous runs of FVI-Match-Large may be moved in wide words that are shifted where
  // there are only narrow ones. One launch then has one pair of addresses.
  bool may_shift_ = false;
};

struct InplaceExecutable : InplacePlan {
  explicit InplaceExecutable(InplacePlan plan);

  // The launches for an array at this address, one after another.
  std::vector<InplaceLaunch> bind(const std::byte* data) const;

 private:
  std::vector<InplaceLaunch> lower(std::int64_t address) const;

  std::vector<InplaceLaunch> launches_;  // for an array that begins with a line, as libraries' do
};

}  // namespace ttlg::cuda
