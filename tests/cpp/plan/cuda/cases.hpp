// Device models and requests as the tests of CUDA plans need them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "plan/cuda/planner.hpp"
#include "requests.hpp"

namespace ttlg::test {

// The published regressions (T-23, T-24), as python/ttlg/models/tesla-k40c.json has them.
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

// A contiguous tensor in the papers' order: mode 0 fastest, perm[i] = j.
inline Request paper_request(const std::vector<std::int64_t>& extents, const std::vector<int>& perm,
                             std::int64_t itemsize) {
  const int last = static_cast<int>(extents.size()) - 1;
  std::vector<int> axes;
  for (auto i = perm.rbegin(); i != perm.rend(); ++i) axes.push_back(last - *i);
  return contiguous_request({extents.rbegin(), extents.rend()}, axes, itemsize);
}

inline Problem paper_words(const std::vector<std::int64_t>& extents, const std::vector<int>& perm,
                           std::int64_t itemsize) {
  return cuda::word_form(make_problem(paper_request(extents, perm, itemsize)), 256);
}

// The same without fusion, as the paper's examples are written.
inline Problem unfused_words(const std::vector<std::int64_t>& extents, std::vector<int> perm,
                             std::int64_t itemsize) {
  Problem words{.element_bytes = itemsize, .modes = {}, .perm = std::move(perm)};
  std::int64_t stride = itemsize;
  for (const std::int64_t extent : extents) {
    words.modes.push_back({extent, stride, 0});
    stride *= extent;
  }
  stride = itemsize;
  for (const int m : words.perm) {
    Mode& mode = words.modes[static_cast<std::size_t>(m)];
    mode.out_byte_stride = stride;
    stride *= mode.extent;
  }
  return words;
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

inline std::vector<std::int64_t> word_extents(const Problem& words) {
  std::vector<std::int64_t> extents;
  for (const Mode& mode : words.modes) extents.push_back(mode.extent);
  return extents;
}

// A few candidates of random problems, some with a coarsened mode.
template <typename Check>
void for_random_candidates(Random& random, int problems, const Check& check) {
  for (int i = 0; i < problems; ++i) {
    const Request request = i % 2 == 0 ? random_request(random) : many_modes_request(random);
    const Problem words = cuda::word_form(make_problem(request), 16);
    const auto found = cuda::candidates(words, analytic_model());
    for (std::size_t c = 0; c < found.size(); c += found.size() / 6 + 1) {
      cuda::Parameters parameters = found[c].parameters;
      if (parameters.schema == cuda::Schema::copy) continue;
      check(words, parameters);
      parameters.coarsened_mode = static_cast<int>(words.modes.size()) - 1;
      if (cuda::misfit(words, parameters).empty()) check(words, parameters);
    }
  }
}

}  // namespace ttlg::test
