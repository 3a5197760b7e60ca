#include "cuda/inplace/run_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "moves.hpp"
#include "plan/cuda/cases.hpp"
#include "sample.hpp"

namespace ttlg::test {
using namespace cuda;

namespace {

// Where an element of a step's result is.
struct Place {
  Place(const InplaceStep& step, std::int64_t element)
      : row(element / (step.rows * step.between) % step.columns),
        between(element / step.rows % step.between),
        column(element % step.rows),
        matrix(element / (step.rows * step.between * step.columns)) {}

  std::int64_t row;
  std::int64_t between;
  std::int64_t column;
  std::int64_t matrix;
};

// Whether a launch is to write an element.
bool writes(const InplaceStep&, const RunsArguments&, const Place& at) {
  return at.row != at.column;
}
bool writes(const InplaceStep& step, const SquareArguments& p, const Place& at) {
  if (!p.tiles.is_region) return true;
  const int order = SquarePolicy(step.element_bytes).tile_order;
  const std::int64_t x = std::min(at.row, at.column) / order - p.tiles.first_x;
  const std::int64_t y = std::max(at.row, at.column) / order - p.tiles.first_y;
  const std::int64_t region = p.tiles.region.divisor();
  return 0 <= x && x < region && 0 <= y && y < region;
}
bool writes(const InplaceStep&, const auto&, const Place&) { return true; }

std::vector<std::uint8_t> expected_writes(const InplaceStep& step, const Launch& launch) {
  std::vector<std::uint8_t> result;
  const auto append = [&](const auto& p) {
    for (std::int64_t element = 0; element < step.bytes() / step.element_bytes; ++element) {
      result.insert(result.end(), static_cast<std::size_t>(step.element_bytes),
                    writes(step, p, Place(step, element)));
    }
  };
  std::visit(append, launch.arguments);
  return result;
}

}  // namespace

Source source_of(const InplaceStep& step) {
  return {step.element_bytes, [step](std::int64_t to) {
            const Place at(step, to);
            return ((at.matrix * step.rows + at.column) * step.between + at.between) *
                       step.columns +
                   at.row;
          }};
}

Report run_step(const InplaceStep& step, std::int64_t misalignment, bool backwards) {
  const std::int64_t workspace = workspace_bytes(step, analytic_model(), 0);
  const InplaceMemory memory{.address = misalignment,
                             .workspace_bytes = workspace,
                             .on_chip_bytes = on_chip_bytes(analytic_model())};
  return run_near(
      lower_inplace(step, memory),
      {.in_bytes = step.bytes(), .workspace_bytes = workspace, .in_misalignment = misalignment},
      source_of(step), {.backwards = backwards, .writes = [&](const Launch& launch) {
                          return expected_writes(step, launch);
                        }});
}

void expect_transposed(const InplaceStep& step, std::int64_t misalignment) {
  if (!is_sample()) return;
  for (const bool backwards : {false, true}) {
    EXPECT_EQ(run_step(step, misalignment, backwards).violations, Violations{})
        << describe(step, misalignment) << (backwards ? ", backwards" : "");
  }
}

void expect_transposed(const InplacePlan& plan, std::int64_t misalignment) {
  std::string steps;
  for (const InplaceStep& step : plan.steps) steps += describe(step, misalignment) + "; ";
  SCOPED_TRACE(steps + "shared memory " +
               std::to_string(plan.model->shared_bytes_per_multiprocessor));
  std::vector<std::int64_t> sources(static_cast<std::size_t>(plan.problem.bytes()));
  for (const auto& [from, to] : unsorted_moves_of(plan.request)) {
    sources[static_cast<std::size_t>(to)] = from;
  }
  const auto* const address = reinterpret_cast<const std::byte*>(256 + misalignment);
  const auto launches = LoweredInplacePlan(plan).bind(address);
  for (const bool backwards : {false, true}) {
    expect_permuted(launches,
                    {.in_bytes = plan.problem.bytes(),
                     .workspace_bytes = plan.workspace_bytes,
                     .in_misalignment = misalignment},
                    {1, [&](std::int64_t to) { return sources[static_cast<std::size_t>(to)]; }},
                    {.backwards = backwards, .leaves = true});
  }
}

std::string describe(const InplaceStep& step, std::int64_t misalignment) {
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  return "kernel " + text(static_cast<int>(step.kernel)) + ", " + text(step.batch) + " x " +
         text(step.rows) + " x " + text(step.between) + " x " + text(step.columns) + " of " +
         text(step.element_bytes) + " bytes, width " + text(step.width) + ", " +
         text(misalignment) + " bytes misaligned";
}

}  // namespace ttlg::test
