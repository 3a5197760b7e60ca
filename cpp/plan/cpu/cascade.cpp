#include "plan/cpu/cascade.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "plan/cpu/candidates.hpp"

namespace ttlg::cpu {
namespace {

bool is_copy(PlanningContext& context) { return can_carry_out(Kernel::copy, context.folded()); }

// Tiles that hang over their block's edge are moved back and do part of the work twice; a block of
// few rows leaves them no room at all.
bool fills_vectors(PlanningContext& context) {
  if (!can_carry_out(Kernel::tile, context.folded())) return false;
  const std::int64_t side = context.shorter_tile_side();
  return side >= 4 * kLaneBytes || (side >= 2 * kLaneBytes && side % kLaneBytes == 0);
}

bool is_shuffled(PlanningContext& context) {
  return context.machine().has_shuffle && can_carry_out(Kernel::shuffle, context.folded());
}

bool fills_a_lane(PlanningContext& context) {
  return can_carry_out(Kernel::tile, context.folded()) && context.shorter_tile_side() >= kLaneBytes;
}

bool is_strided(PlanningContext& context) {
  return can_carry_out(Kernel::strided_copy, context.folded());
}

bool always(PlanningContext&) { return true; }

template <Kernel kKernel>
std::string obstacle_to(PlanningContext& context) {
  return obstacle(kKernel, context.folded());
}

std::string obstacle_to_shuffle(PlanningContext& context) {
  std::string found = obstacle(Kernel::shuffle, context.folded());
  if (!found.empty()) return found;
  return "no instruction that permutes the bytes of a vector";
}

std::string obstacle_to_tile(PlanningContext& context, std::string_view wanted_sides) {
  std::string found = obstacle(Kernel::tile, context.folded());
  if (!found.empty()) return found;
  return "the shorter side of its blocks has " + std::to_string(context.shorter_tile_side()) +
         " bytes, not " + std::string(wanted_sides);
}

constexpr std::array<Rule, 6> kCascade{{
    {Kernel::copy, is_copy, "all modes fused into one run that is contiguous on both sides",
     obstacle_to<Kernel::copy>},
    {Kernel::tile, fills_vectors,
     "elements of 1, 2, 4, 8 or 16 bytes, different fastest modes, blocks with sides "
     "of 64 bytes or more (or 32, 48)",
     [](PlanningContext& context) { return obstacle_to_tile(context, "64 or more, 48 or 32"); }},
    {Kernel::shuffle, is_shuffled,
     "elements of 1, 2, 4 or 8 bytes, contiguous for 16 bytes on both sides; an instruction that "
     "permutes bytes",
     obstacle_to_shuffle},
    {Kernel::tile, fills_a_lane,
     "elements of 1, 2, 4, 8 or 16 bytes, different fastest modes, blocks with sides "
     "of 16 bytes or more",
     [](PlanningContext& context) { return obstacle_to_tile(context, "16 or more"); }},
    {Kernel::strided_copy, is_strided, "at least one mode besides the contiguous run",
     obstacle_to<Kernel::strided_copy>},
    {Kernel::reference, always, "anything", obstacle_to<Kernel::reference>},
}};

}  // namespace

PlanningContext::PlanningContext(const Request& request, const Machine& machine, int threads)
    : request_(request),
      machine_(machine),
      threads_(threads),
      problem_(make_problem(request)),
      folded_(fold_run(problem_)) {}

std::int64_t PlanningContext::shorter_tile_side() {
  if (!tile_plan_) {
    tile_plan_ = assemble(request_, problem_, folded_,
                          best_parameters(folded_, Kernel::tile, machine_, threads_));
  }
  const Block& block = tile_plan_->block;
  return static_cast<std::int64_t>(std::min(block.in_axis.in.size(), block.out_axis.in.size())) *
         folded_.element_bytes;
}

Plan PlanningContext::take_plan(Kernel kernel) {
  if (kernel == Kernel::tile && tile_plan_) return *std::move(tile_plan_);
  return assemble(request_, std::move(problem_), folded_,
                  best_parameters(folded_, kernel, machine_, threads_));
}

std::span<const Rule> cascade() { return kCascade; }

}  // namespace ttlg::cpu
