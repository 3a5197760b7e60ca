#include "cuda/run_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "moves.hpp"
#include "plan/cuda/cases.hpp"

namespace ttlg::test {
using namespace cuda;

namespace {

constexpr std::int64_t kBoundary = 256;
// Slices take time to run, however small they are: of a few plans, the one with the fewest.
constexpr int kTries = 200;
constexpr int kFits = 10;
constexpr std::int64_t kMaxSlices = 1000;

// Any part of 1..extent, the whole one half of the time.
std::int64_t random_block(Random& random, std::int64_t extent) {
  return pick(random, 0, 1) == 0 ? extent : pick(random, 1, extent);
}

cuda::Parameters random_parameters(Random& random, const Problem& problem, Schema schema) {
  if (schema == Schema::copy) return {};
  const int rank = static_cast<int>(problem.modes.size());
  const int most = std::min(rank, kAxisModes);
  const auto some_modes = [&] { return static_cast<int>(pick(random, 1, most)); };
  Slice slice{.in_modes = some_modes(), .out_modes = some_modes()};
  if (schema == Schema::fvi_match_large) slice = {.in_modes = 1, .out_modes = 1};
  if (schema == Schema::fvi_match_small) slice = {.in_modes = 2, .out_modes = 2};
  if (std::max(slice.in_modes, slice.out_modes) > rank) return {.schema = schema};
  const auto extent = [&](int m) { return problem.modes[static_cast<std::size_t>(m)].extent; };
  const int out_mode = problem.perm[static_cast<std::size_t>(slice.out_modes) - 1];
  slice.in_block = random_block(random, extent(slice.in_modes - 1));
  if (schema != Schema::fvi_match_large) slice.out_block = random_block(random, extent(out_mode));
  const bool is_orthogonal =
      schema == Schema::orthogonal_distinct || schema == Schema::orthogonal_arbitrary;
  return {
      .schema = schema,
      .slice = slice,
      .coarsened_mode = static_cast<int>(std::max<std::int64_t>(pick(random, -rank, rank - 1), -1)),
      .stages = is_orthogonal ? static_cast<int>(pick(random, 1, kMaxStages)) : 1,
      .band_width = schema == Schema::orthogonal_distinct ? pick(random, 0, 4) : 0};
}

}  // namespace

std::int64_t alignment_of(const Misalignments& misalignments) {
  return std::int64_t{1} << std::countr_zero(
             static_cast<std::uint64_t>(misalignments.in | misalignments.out | kBoundary));
}

cuda::Launch bound(const cuda::LoweredPlan& plan, const Misalignments& misalignments) {
  const auto at = [](std::int64_t beyond) {
    return reinterpret_cast<const std::byte*>(kBoundary + beyond);
  };
  return plan.bind(at(misalignments.in), at(misalignments.out));
}

Report run_plan(const cuda::Plan& plan, const Misalignments& misalignments) {
  const Span in = in_span_of(plan.request);
  const Span out = out_span_of(plan.request);
  std::vector<std::int64_t> sources(out.bytes(), -1);
  for (const auto& [from, to] : unsorted_moves_of(plan.request)) {
    sources[static_cast<std::size_t>(to - out.first)] = from - in.first;
  }
  const cuda::LoweredPlan lowered(plan);
  const cuda::Launch launch = bound(lowered, misalignments);
  if (launch.blocks == 0) return {};
  if (lowered.grid.launches != 1) throw std::logic_error("a test's plan takes several launches");
  const cuda::Shift shift = lowered.grid.shift(0);
  const auto beyond = [](std::int64_t misalignment, const Span& span) {
    return (misalignment + span.first) & (kBoundary - 1);
  };
  return run_near({{launch, {.offset = shift.in - in.first}, {.offset = shift.out - out.first}}},
                  {.in_bytes = in.last - in.first,
                   .out_bytes = out.last - out.first,
                   .in_misalignment = beyond(misalignments.in, in),
                   .out_misalignment = beyond(misalignments.out, out)},
                  {1, [&](std::int64_t to) { return sources[static_cast<std::size_t>(to)]; }},
                  {.grid = lowered.grid.grid});
}

Counts expect_moved(const cuda::Plan& plan, const Misalignments& misalignments) {
  const Report report = run_plan(plan, misalignments);
  EXPECT_EQ(report.violations, Violations{}) << describe(plan, misalignments);
  return report.counts;
}

Counts expect_moved_without_conflicts(const cuda::Plan& plan, const Misalignments& misalignments) {
  const Counts counts = expect_moved(plan, misalignments);
  EXPECT_EQ(counts.bank_conflicts, 0) << describe(plan, misalignments);
  return counts;
}

cuda::DeviceModel small_model() {
  cuda::DeviceModel model = analytic_model();
  model.multiprocessors = 1;
  return model;
}

std::optional<cuda::Plan> random_plan(Random& random, const Request& request,
                                      std::int64_t alignment, Schema schema) {
  const Problem problem = recast_problem(make_problem(request), alignment);
  std::optional<cuda::Parameters> fewest;
  std::int64_t least = kMaxSlices;
  int fits = 0;
  for (int i = 0; i < kTries && fits < kFits; ++i) {
    const cuda::Parameters parameters = random_parameters(random, problem, schema);
    if (!obstacle(problem, parameters, alignment).empty()) continue;
    ++fits;
    const std::int64_t slices =
        grid_blocks({problem, parameters}) * SlicedProblem(problem, parameters).repeats();
    if (slices >= least) continue;
    least = slices;
    fewest = parameters;
  }
  if (!fewest) return std::nullopt;
  const bool is_small = pick(random, 0, 1) == 0;
  return built(request, alignment, *fewest, is_small ? small_model() : analytic_model());
}

std::string describe(const cuda::Plan& plan, const Misalignments& misalignments) {
  const auto join = [](const auto& values) {
    std::string text;
    for (const auto value : values) text += std::to_string(value) + " ";
    return text;
  };
  const Slice& slice = plan.parameters.slice;
  return "kernel " + std::string(schema_name(plan.parameters.schema)) + ", slice " +
         join(std::vector<std::int64_t>{slice.in_modes, slice.out_modes, slice.in_block,
                                        slice.out_block}) +
         ", coarsened " + std::to_string(plan.parameters.coarsened_mode) + ", stages " +
         std::to_string(plan.parameters.stages) + ", bands of " +
         std::to_string(plan.parameters.band_width) + ", multiprocessors " +
         std::to_string(plan.model->multiprocessors) + ", itemsize " +
         std::to_string(plan.request.itemsize) + ", moved in " +
         std::to_string(plan.recast.element_bytes()) + ", shape " + join(plan.request.shape) +
         ", axes " + join(plan.request.axes) + ", strides " + join(plan.request.in_byte_strides) +
         "-> " + join(plan.out_byte_strides) + ", misalignments " +
         std::to_string(misalignments.in) + " " + std::to_string(misalignments.out);
}

}  // namespace ttlg::test
