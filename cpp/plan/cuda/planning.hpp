// Plans for CUDA devices as the planner cache keeps them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "plan/cuda/planner.hpp"
#include "plan/plan_cache.hpp"

namespace ttlg::cuda {

// What a plan depends on besides the layout, and how it is made. Models of one name are the same to
// the cache.
struct Planning {
  using Plan = cuda::Plan;
  struct Choice {
    std::int64_t alignment;  // of both pointers, see word_form
    std::shared_ptr<const DeviceModel> model;
    std::optional<Schema> forced{};

    bool operator==(const Choice& other) const {
      return alignment == other.alignment && model->name == other.model->name &&
             forced == other.forced;
    }
    std::uint64_t hash() const {
      return std::hash<std::string>{}(model->name) + static_cast<std::uint64_t>(alignment) * 16 +
             number_of(forced);
    }
  };

  Plan operator()(const Request& request, const Choice& choice) const {
    return make_plan(request, choice.alignment, *choice.model, choice.forced);
  }
};

using PlanCache = ttlg::PlanCache<Planning>;

}  // namespace ttlg::cuda
