// Which kernel transposes a batch of matrices in place, and what that takes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/cuda/inplace/step.hpp"
#include "plan/cuda/model/device_model.hpp"
#include "plan/inplace/matrices.hpp"

namespace ttlg::cuda {

// The predicted time of a step: its launches, and what it moves at the speed of a copy. The bytes
// are counted; nothing has been fitted to measurements.
double step_seconds(const InplaceStep& step, const DeviceModel& model);

// What all steps of a plan have in common, and what follows from it: see
// plan/inplace/decompose.hpp.
struct StepLimits {
  using Step = InplaceStep;
  static constexpr bool kExchanges = true;

  const DeviceModel& model;
  std::int64_t workspace;
  std::int64_t word_bytes;  // a power of two that divides all elements and the array's address
  std::optional<InplaceKernel> forced{};

  // Every kernel that can transpose these matrices in this workspace. Of those of the same
  // predicted time, the first is preferred.
  std::vector<Decomposition<InplaceStep>> step_choices(const Matrices& matrices) const;

  // The choices of step_choices, and steps for squares and their rows, for parts of large elements
  // or for pieces of long rows or columns, where they take less time.
  std::vector<Decomposition<InplaceStep>> matrix_choices(const Matrices& matrices) const;

 private:
  // The largest element that c2r and r2c move, and parts of those that are larger.
  std::int64_t max_element_bytes() const;
  std::vector<std::int64_t> part_bytes(std::int64_t element_bytes) const;
};

}  // namespace ttlg::cuda
