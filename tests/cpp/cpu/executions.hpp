// Carries plans out at every SIMD level of this processor and compares with the reference
// implementation.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cpu/buffers.hpp"
#include "cpu/execute.hpp"
#include "requests.hpp"

namespace ttlg::test {

inline std::string describe(const cpu::Plan& plan) {
  const auto join = [](const auto& values) {
    std::string text;
    for (const auto value : values) text += std::to_string(value) + " ";
    return text;
  };
  const cpu::Parameters& parameters = plan.parameters;
  return "kernel " + std::string(cpu::kernel_name(parameters.kernel)) + ", block " +
         join(parameters.block) + ", loops " + join(parameters.loop_order) +
         (parameters.staged ? ", staged" : "") + (parameters.streaming ? ", streaming" : "") +
         ", prefetch " + std::to_string(parameters.prefetch) + ", threads " +
         std::to_string(parameters.threads) + ", itemsize " +
         std::to_string(plan.request.itemsize) + ", shape " + join(plan.request.shape) + ", axes " +
         join(plan.request.axes) + ", strides " + join(plan.request.in_byte_strides) + "-> " +
         join(plan.request.out_byte_strides);
}

// Runs the plan at every level, and the reference implementation: the outputs must agree, and so
// must every byte around them and in their gaps, which must not be touched.
inline testing::AssertionResult matches_reference(const cpu::Plan& plan,
                                                  Placement in_placement = {Placement::Side::after,
                                                                            0},
                                                  std::size_t out_alignment = 0) {
  const Request& request = plan.request;
  const Span in_span = in_span_of(request);
  const Span out_span = out_span_of(request);
  const GuardedInput input(in_span.bytes(), in_placement);
  const std::byte* const in = input.data() - in_span.first;
  SentinelOutput expected(out_span.bytes(), out_alignment);
  cpu::execute_reference(plan, in, expected.data() - out_span.first);
  for (const cpu::Kernels* level : cpu::usable_levels()) {
    SentinelOutput actual(out_span.bytes(), out_alignment);
    cpu::execute(plan, in, actual.data() - out_span.first, *level);
    if (!std::ranges::equal(expected.surroundings(), actual.surroundings())) {
      return testing::AssertionFailure()
             << level->name << ", " << describe(plan) << ", alignment " << out_alignment;
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace ttlg::test
