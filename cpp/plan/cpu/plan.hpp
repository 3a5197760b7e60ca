// The Plan: how a Problem will be carried out on the CPU. A pure value: comparable, printable,
// rebuilt exactly from its request and parameters. Making one touches no memory of the arrays.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "plan/cpu/block/block.hpp"
#include "plan/cpu/model/machine.hpp"
#include "plan/cpu/mover.hpp"
#include "plan/cpu/parameters.hpp"
#include "plan/plan_base.hpp"
#include "tensor/integer.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

// One loop around the blocks.
struct Loop {
  FastDivisor count;
  std::int64_t in_byte_step;
  std::int64_t out_byte_step;
};

// Where the values of a conversion vary: the loop along their mode, or -1, the indices of it in a
// block, and its number among the block's modes, or -1.
struct ValueLoop {
  int loop = -1;
  std::int64_t block = 1;
  int number = -1;
};

using Timed = ttlg::Timed<Parameters>;

struct Plan : PlanBase {
  Plan(const Request& of_request, Problem normal_form, const Parameters& chosen)
      : PlanBase(of_request, std::move(normal_form)),
        parameters(chosen),
        thread_limit(chosen.threads) {
    refuse_inplace(of_request);
  }

  Parameters parameters;
  std::int64_t element_bytes = 1;  // moved at once: the dtype's size times a folded run
  // Of elements as they leave, where they are not moved alone: blocks and loops then count the
  // bytes that they have in the input, on both sides.
  std::optional<Conversion> conversion{};
  ValueLoop value_loop{};
  std::vector<Loop> loops{};  // outermost first
  Block block{};
  Movers movers{};
  // The most threads that the planner was given.
  int thread_limit = 1;
  // Where a caller named another time model than that in use: the machine with that model.
  std::shared_ptr<const Machine> machine{};
  // What it expects of a call into an output that has been written to before, and into one
  // whose pages the system has yet to give; 0 where no planner made the plan.
  double warm_seconds = 0;
  double fresh_seconds = 0;
  // Where a measurement chose the plan, all that took part in it, the planner's own choice first.
  std::vector<Timed> measured{};

  std::int64_t blocks() const;
  // Of the output, for bytes of the input's elements.
  std::int64_t out_bytes_of(std::int64_t bytes) const {
    return conversion ? conversion->out_bytes_of(bytes) : bytes;
  }
  void keep_predictions_of(const Plan& other) {
    warm_seconds = other.warm_seconds;
    fresh_seconds = other.fresh_seconds;
  }
  // Of what is carried out, however it was chosen.
  bool operator==(const Plan& other) const {
    return request == other.request && parameters == other.parameters;
  }
};

// Throws std::invalid_argument for a number of threads that no plan can have.
void check_threads(int threads);

// Lays out blocks and loops. `folded` is gather_bits(problem).
Plan assemble(const Request& request, Problem problem, const Problem& folded,
              const Parameters& parameters);

// The plan with exactly these parameters. Throws std::invalid_argument if the kernel does not apply
// to the request or a parameter is out of range.
Plan build_plan(const Request& request, const Parameters& parameters);

}  // namespace ttlg::cpu
