// Plans for the CPU as the planner cache keeps them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>

#include "cpu/this_machine.hpp"
#include "plan/cpu/inplace/plan.hpp"
#include "plan/cpu/planner.hpp"
#include "plan/plan_cache.hpp"

namespace ttlg::cpu {

// What a plan depends on besides the layout, and how it is made.
struct Planning {
  using Plan = cpu::Plan;
  struct Choice {
    int threads = 1;
    std::optional<Kernel> forced{};
    // Planners that learn have plans of their own, so that what calls do changes no others.
    bool learns = is_learning();

    bool operator==(const Choice&) const = default;
    std::uint64_t hash() const {
      return (static_cast<std::uint64_t>(threads) * 2 + (learns ? 1 : 0)) * 16 + number_of(forced);
    }
  };

  std::shared_ptr<const Machine> (*machine)(bool learns);
  std::shared_ptr<const Machine> (*machine_with_threads)(bool learns);

  Plan operator()(const Request& request, const Choice& choice) const {
    const bool may_share = choice.threads > 1 && bytes_of(request) >= kMinBytesPerThread;
    const auto now = may_share ? machine_with_threads(choice.learns) : machine(choice.learns);
    return make_plan(request, *now, choice.threads, choice.forced);
  }

 private:
  static double bytes_of(const Request& request) {
    return std::accumulate(request.shape.begin(), request.shape.end(),
                           static_cast<double>(std::max(request.itemsize, request.out_itemsize())),
                           std::multiplies<>());
  }
};

// How the planner cache makes and compares plans in place.
struct InplacePlanning {
  using Plan = InplacePlan;
  struct Choice : InplaceOptions {
    bool learns = is_learning();

    bool operator==(const Choice&) const = default;
    std::uint64_t hash() const {
      return ((number_of(workspace) * 16 + number_of(forced)) * 2 + (learns ? 1 : 0)) * 1024 +
             static_cast<std::uint64_t>(threads);
    }
  };

  std::shared_ptr<const Machine> (*machine)(bool learns);

  Plan operator()(const Request& request, const Choice& choice) const {
    return make_inplace_plan(request, *machine(choice.learns), choice);
  }
};

using PlanCache = ttlg::PlanCache<Planning>;
using InplacePlanCache = ttlg::PlanCache<InplacePlanning>;

}  // namespace ttlg::cpu
