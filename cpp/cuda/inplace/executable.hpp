// A plan in place lowered to what its kernels are launched with.
#pragma once

#include <cstddef>
#include <vector>

#include "cuda/inplace/lower.hpp"
#include "plan/cuda/inplace/plan.hpp"

namespace ttlg::cuda {

struct InplaceExecutable : InplacePlan {
  explicit InplaceExecutable(InplacePlan plan);

  // The launches for an array at this address, one after another.
  std::vector<InplaceLaunch> bind(const std::byte* data) const;

 private:
  std::vector<InplaceLaunch> lower(std::int64_t address) const;

  std::vector<InplaceLaunch> launches_;  // for an array that begins with a line, as libraries' do
};

}  // namespace ttlg::cuda
