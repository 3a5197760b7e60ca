// Device models and requests as the tests of CUDA plans need them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plan/cuda/plan.hpp"
#include "plan/cuda/planner.hpp"
#include "plan/cuda/slice/slices.hpp"
#include "requests.hpp"
#include "tensor/integer.hpp"

namespace ttlg::test {

// The published regressions (TTLG, Table II), as python/ttlg/models/tesla-k40c.json has them.
inline cuda::DeviceModel k40c_model() {
  cuda::DeviceModel model{.name = "tesla-k40c",
                          .multiprocessors = 15,
                          .clock_hz = 745e6,
                          .memory_bytes_per_second = 200e9,
                          .l2_cache_bytes = 1572864,
                          .shared_bytes_per_multiprocessor = 49152,
                          .threads_per_multiprocessor = 2048,
                          .launch_seconds = 5e-6};
  model.coefficients[cuda::Schema::orthogonal_distinct] = {{"Volume", 1.278e-11},
                                                           {"NumBlocks", 5.001e-08},
                                                           {"Input slice", 7.835e-07},
                                                           {"Output slice", 1.252e-06},
                                                           {"Cycles", -2.692e-11}};
  model.coefficients[cuda::Schema::orthogonal_arbitrary] = {
      {"Volume", -3.018e-11},       {"NumThreads", 2.730e-10},     {"Total Slice", 2.126e-07},
      {"Input Stride", -8.880e-12}, {"Output Stride", -1.091e-11}, {"Special Instr", 3.047e-11},
      {"Cycles", 5.112e-10}};
  model.regression_bytes = 16 << 20;
  return model;
}

// An H200's properties, nothing fitted.
inline cuda::DeviceModel analytic_model() {
  return {.name = "analytic",
          .multiprocessors = 132,
          .clock_hz = 1.98e9,
          .memory_bytes_per_second = 4.3e12,
          .l2_cache_bytes = 60 << 20,
          .shared_bytes_per_multiprocessor = 227 << 10};
}

// The planner's choice, and the plan with these parameters.
inline cuda::Plan planned(const Request& request, std::int64_t alignment,
                          const cuda::DeviceModel& model,
                          std::optional<cuda::Schema> forced = std::nullopt) {
  return cuda::make_plan(request, alignment, std::make_shared<const cuda::DeviceModel>(model),
                         forced);
}

inline cuda::Plan built(const Request& request, std::int64_t alignment,
                        const cuda::Parameters& parameters,
                        const cuda::DeviceModel& model = analytic_model()) {
  return cuda::build_plan(request, alignment, parameters,
                          std::make_shared<const cuda::DeviceModel>(model));
}

inline std::vector<std::int64_t> slice_extents(const cuda::SlicedProblem& sliced) {
  return {sliced.extents().begin(), sliced.extents().end()};
}

// A contiguous tensor in the papers' order: mode 0 fastest, perm[i] = j.
inline Request paper_request(const std::vector<std::int64_t>& extents, const std::vector<int>& perm,
                             std::int64_t itemsize) {
  const int last = static_cast<int>(extents.size()) - 1;
  std::vector<int> axes;
  for (auto i = perm.rbegin(); i != perm.rend(); ++i) axes.push_back(last - *i);
  return contiguous_request({extents.rbegin(), extents.rend()}, axes, itemsize);
}

inline Problem paper_problem(const std::vector<std::int64_t>& extents, const std::vector<int>& perm,
                             std::int64_t itemsize) {
  return cuda::recast_problem(make_problem(paper_request(extents, perm, itemsize)), 256);
}

// Calls visit(coordinates) for every element of a box, the first coordinate fastest.
template <typename Visit>
void for_each_point(const std::vector<std::int64_t>& extents, const Visit& visit) {
  std::vector<std::int64_t> point(extents.size(), 0);
  while (true) {
    visit(point);
    std::size_t i = 0;
    while (i < point.size() && ++point[i] == extents[i]) point[i++] = 0;
    if (i == point.size()) return;
  }
}

// Calls visit(bytes before it, bytes) for every row of slices along `axis`, clipped where the
// tensor ends. Rows begin at the modes' strides of one side.
template <typename Visit>
void for_each_row(const Problem& problem, const std::vector<std::int64_t>& slice,
                  const std::vector<int>& axis, std::int64_t Mode::* stride, const Visit& visit) {
  std::vector<std::int64_t> rows;
  for (const Mode& mode : problem.modes) rows.push_back(mode.extent);
  for (const int m : axis) {
    const auto i = static_cast<std::size_t>(m);
    rows[i] = ceil_div(rows[i], slice[i]);
  }
  for_each_point(rows, [&](std::vector<std::int64_t> point) {
    std::int64_t bytes = problem.element_bytes();
    for (const int m : axis) {
      const auto i = static_cast<std::size_t>(m);
      point[i] *= slice[i];
      bytes *= std::min(slice[i], problem.modes[i].extent - point[i]);
    }
    std::int64_t start = 0;
    for (std::size_t m = 0; m < point.size(); ++m) start += point[m] * (problem.modes[m].*stride);
    visit(start, bytes);
  });
}

inline std::vector<std::int64_t> extents_of(const Problem& problem) {
  std::vector<std::int64_t> extents;
  for (const Mode& mode : problem.modes) extents.push_back(mode.extent);
  return extents;
}

// A few candidates of random problems, some with a coarsened mode.
template <typename Check>
void for_random_candidates(Random& random, int problems, const Check& check) {
  for_random_requests(random, problems, [&](const Request& request, int) {
    const Problem problem = cuda::recast_problem(make_problem(request), 16);
    const auto found = cuda::candidates(problem, analytic_model());
    for (std::size_t c = 0; c < found.size(); c += found.size() / 6 + 1) {
      cuda::Parameters parameters = found[c].parameters;
      if (parameters.schema == cuda::Schema::copy) continue;
      check(problem, parameters);
      parameters.coarsened_mode = static_cast<int>(problem.modes.size()) - 1;
      if (cuda::obstacle(problem, parameters).empty()) check(problem, parameters);
    }
  });
}

}  // namespace ttlg::test
