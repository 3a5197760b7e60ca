// From steps in place to kernels' parameters: pure host code.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/launch.hpp"
#include "plan/cuda/inplace/step.hpp"

namespace ttlg::cuda {

// A launch between two places in the array or in the workspace beside it.
struct InplaceLaunch {
  struct Place {
    bool in_workspace = false;
    std::int64_t offset = 0;  // in bytes
  };

  Launch launch;
  Place from{};
  Place to{};
};

// The launches of a step on an array at this address, which may be any.
std::vector<InplaceLaunch> lower_inplace(const InplaceStep& step, const DeviceModel& model,
                                         std::int64_t address);

// The same by one of the kernels for square matrices.
std::vector<Launch> lower_square(const InplaceStep& step, std::int64_t address);

}  // namespace ttlg::cuda
