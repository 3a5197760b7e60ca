// Plans for CUDA devices, lowered, as the planner cache keeps them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cuda/executable.hpp"
#include "plan/cuda/planner.hpp"
#include "plan/plan_cache.hpp"
#include "plan/trials.hpp"

namespace ttlg::cuda {

// What a plan depends on besides the layout, and how it is made.
struct Planning {
  using Plan = Executable;
  struct Choice {
    // As for recast_problem; by default that of memory as libraries allocate it on GPUs.
    std::int64_t pointer_alignment = kMaxAccessBytes;
    std::shared_ptr<const DeviceModel> model;
    std::optional<Schema> forced{};
    // Planners that learn have plans of their own, so that what calls do changes no others.
    bool learns = is_learning();

    bool operator==(const Choice& other) const {
      return pointer_alignment == other.pointer_alignment && forced == other.forced &&
             learns == other.learns && is_same_model(model, other.model);
    }
    // Of the model its name alone: few models share one, and those are told apart by comparison.
    std::uint64_t hash() const {
      return std::hash<std::string>{}(model->name) +
             (static_cast<std::uint64_t>(pointer_alignment) * 2 + (learns ? 1 : 0)) * 16 +
             number_of(forced);
    }
  };

  Plan operator()(const Request& request, const Choice& choice) const {
    return Plan(make_plan(request, choice.pointer_alignment, choice.model, choice.forced));
  }
};

// How the planner cache makes and compares plans in place.
struct InplacePlanning {
  using Plan = InplaceExecutable;
  struct Choice {
    std::shared_ptr<const DeviceModel> model;
    InplaceOptions options{};

    bool operator==(const Choice& other) const {
      return options == other.options && is_same_model(model, other.model);
    }
    std::uint64_t hash() const {
      return std::hash<std::string>{}(model->name) + number_of(options.workspace) * 16 +
             number_of(options.forced);
    }
  };

  Plan operator()(const Request& request, const Choice& choice) const {
    return Plan(make_inplace_plan(request, choice.model, choice.options));
  }
};

using PlanCache = ttlg::PlanCache<Planning>;
using InplacePlanCache = ttlg::PlanCache<InplacePlanning>;

}  // namespace ttlg::cuda
