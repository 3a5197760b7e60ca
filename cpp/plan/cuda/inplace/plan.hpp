// The plan of a transposition in place on a CUDA device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plan/cuda/inplace/step.hpp"
#include "plan/cuda/model/device_model.hpp"
#include "plan/cuda/plan.hpp"
#include "plan/inplace/plan.hpp"
#include "plan/plan_base.hpp"

namespace ttlg::cuda {

struct InplacePlan : BasicInplacePlan<InplaceStep> {
  using BasicInplacePlan<InplaceStep>::BasicInplacePlan;

  std::shared_ptr<const DeviceModel> model{};
  // Where a measurement has chosen the plan, all that took part in it, the planner's own choice
  // first.
  std::vector<ttlg::Timed<std::vector<InplaceStep>>> measured{};

  bool operator==(const InplacePlan& other) const {
    return is_same(other) && is_same_model(model, other.model);
  }
};

// What the planner chooses from.
struct InplaceOptions {
  std::optional<std::int64_t> workspace{};  // the most bytes besides the array: see steps_within
  std::optional<InplaceKernel> forced{};

  bool operator==(const InplaceOptions&) const = default;
};

// Chooses the steps. Throws std::invalid_argument for an array with gaps, and where nothing can be
// done in this workspace or by this kernel.
InplacePlan make_inplace_plan(const Request& request, std::shared_ptr<const DeviceModel> model,
                              const InplaceOptions& options);

// The ways that the planner has for this plan's request, device and workspace, the fastest first.
std::vector<InplacePlan> inplace_candidates(const InplacePlan& plan);

// The plan with exactly these steps. Throws std::invalid_argument if they do not carry the request
// out.
InplacePlan build_inplace_plan(const Request& request, std::vector<InplaceStep> steps,
                               std::shared_ptr<const DeviceModel> model,
                               std::int64_t workspace_limit);

}  // namespace ttlg::cuda
