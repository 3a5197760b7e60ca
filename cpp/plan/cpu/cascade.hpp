// The cascade: which kernel a request gets. A table of cases, tried from top to bottom.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plan/cpu/machine.hpp"
#include "plan/cpu/plan.hpp"

namespace ttlg::cpu {

// A request that is being planned, and what the rules ask about it. `request` and `machine` must
// outlive it.
class PlanningContext {
 public:
  PlanningContext(const Request& request, const Machine& machine, int threads);

  const Problem& folded() const { return folded_; }
  const Machine& machine() const { return machine_; }

  // Bytes of the shorter side of the best block for the tile kernel, which must be able to carry
  // the problem out. That block is looked for once, and take_plan uses it.
  std::int64_t shorter_tile_side();

  // The best plan with this kernel. Call it once and last: it takes what the context holds.
  Plan take_plan(Kernel kernel);

 private:
  const Request& request_;
  const Machine& machine_;
  int threads_;
  Problem problem_;
  Problem folded_;
  std::optional<Plan> tile_plan_;
};

struct Rule {
  Kernel kernel;
  bool (*applies)(PlanningContext& context);
  std::string_view requirement;  // when it applies, in words
  // Why it does not apply to this problem, in words; asked only where that is so.
  std::string (*obstacle)(PlanningContext& context);
};

// The first rule that applies decides; the last one always does.
std::span<const Rule> cascade();

}  // namespace ttlg::cpu
