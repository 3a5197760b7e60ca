// Calls as callers without Python make them.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "call/caches.hpp"
#include "call/layout.hpp"
#include "call/run.hpp"
#include "cpu/execute.hpp"
#include "plan/cuda/cases.hpp"

namespace ttlg::call {
namespace {

using Strides = std::vector<std::int64_t>;

constexpr std::array kAxes{2, 0, 1};
const Strides kShape{30, 40, 50};
const Strides kOutShape{50, 30, 40};

// Counts how often a lock would have been released.
struct CountedRelease {
  CountedRelease() { ++count; }

  static inline int count = 0;
};

// An array of distinct 4-byte elements, contiguous unless strides are given.
class Array {
 public:
  explicit Array(const Strides& shape, Strides byte_strides = {})
      : shape_(shape),
        byte_strides_(byte_strides.empty() ? contiguous_byte_strides(shape, 4)
                                           : std::move(byte_strides)),
        elements_(60'000) {
    for (std::uint32_t i = 0; i < elements_.size(); ++i) elements_[i] = i;
  }

  Layout layout() { return {data(), shape_, byte_strides_, 4}; }
  std::byte* data() { return reinterpret_cast<std::byte*>(elements_.data()); }
  const std::vector<std::uint32_t>& elements() const { return elements_; }

 private:
  Strides shape_;
  Strides byte_strides_;
  std::vector<std::uint32_t> elements_;
};

std::vector<std::uint32_t> expected(const Request& request) {
  Array in(request.shape);
  Array out(request.out_shape());
  cpu::execute_reference(PlanBase(request, make_problem(request)), in.data(), out.data());
  return out.elements();
}

TEST(Call, TransposesByTheRequestOfTwoLayouts) {
  Array x(kShape);
  Array out(kOutShape);
  const LayoutKey key = key_of(x.layout(), kAxes, out.layout().byte_strides);
  const auto plan = cpu_plan_cache().get(key, {.threads = 2});
  CountedRelease::count = 0;
  run_and_learn<CountedRelease>(plan, x.data(), out.data(), false);
  EXPECT_EQ(out.elements(), expected(key.request()));
  EXPECT_EQ(CountedRelease::count, 1);
}

TEST(Call, HoldsALockWhileLittleMoves) {
  Array x({3, 4});
  Array out({4, 3});
  const auto plan = cpu_plan_cache().get(key_of(x.layout(), std::array{1, 0}), {});
  CountedRelease::count = 0;
  run<CountedRelease>(*plan, x.data(), out.data());
  EXPECT_EQ(CountedRelease::count, 0);
  EXPECT_EQ(out.elements()[1], 4U);
}

TEST(Call, PlansOnce) {
  clear_caches();
  Array x(kShape);
  const auto plan = cpu_plan_cache().get(key_of(x.layout(), kAxes), {});
  EXPECT_EQ(cpu_plan_cache().get(key_of(x.layout(), kAxes), {}), plan);
  EXPECT_EQ(cache_info().hits, 1U);
  EXPECT_EQ(cache_info().misses, 1U);
  clear_caches();
  EXPECT_EQ(cache_info().size, 0U);
}

Fault::Kind output_fault(const Layout& x, const Layout& out) {
  return find_output_fault(x, out, kOutShape).kind;
}

TEST(Fault, OfOutputs) {
  Array x(kShape);
  Array out(kOutShape);
  EXPECT_EQ(output_fault(x.layout(), out.layout()), Fault::none);
  EXPECT_EQ(output_fault(x.layout(), x.layout()), Fault::shape);
  EXPECT_EQ(output_fault(x.layout(), Array(kOutShape, {0, 4, 120}).layout()), Fault::self_overlap);
  Layout same = out.layout();
  same.data = x.data();
  EXPECT_EQ(output_fault(x.layout(), same), Fault::ranges_meet);
}

TEST(Fault, OfArraysThatWereNotPlannedFor) {
  Array x(kShape);
  const auto plan = cpu_plan_cache().get(key_of(x.layout(), kAxes), {});
  const Layout planned = input_of(plan->request);
  EXPECT_EQ(find_planned_fault(planned, x.layout()).kind, Fault::none);
  EXPECT_EQ(find_planned_fault(planned, output_of(*plan)).kind, Fault::shape);
  EXPECT_EQ(find_planned_fault(planned, Array(kShape, {4, 120, 4800}).layout()).kind,
            Fault::byte_strides);
  Layout wide = x.layout();
  wide.itemsize = 8;
  EXPECT_EQ(find_planned_fault(planned, wide).kind, Fault::shape);
}

TEST(InPlace, TransposesInAWorkspace) {
  Array x(kShape);
  const InplaceLayout layout(x.layout(), kAxes);
  ASSERT_FALSE(layout.fault);
  const auto plan = cpu_inplace_plan_cache().get(layout.key, {});
  EXPECT_GT(plan->workspace_bytes, 0);
  EXPECT_FALSE(run_inplace<NoRelease>(*plan, x.data()));
  Request request = layout.key.request();
  request.inplace = false;
  EXPECT_EQ(x.elements(), expected(request));
}

TEST(InPlace, FaultsLeaveTheArrayAsItWas) {
  Array x(kShape);
  const auto before = x.elements();
  EXPECT_EQ(InplaceLayout(Array(kShape, {16000, 400, 8}).layout(), kAxes).fault.kind, Fault::gaps);
  const auto model = std::make_shared<cuda::DeviceModel>(test::analytic_model());
  const InplaceLayout layout(x.layout(), kAxes);
  auto plan = *cuda_inplace_plan_cache().get(layout.key, {.model = model});
  plan.workspace_bytes = 64;
  const Fault fault = run_inplace<NoRelease>(plan, x.data(), nullptr, 0, 0);
  EXPECT_EQ(fault.kind, Fault::workspace);
  EXPECT_EQ(fault.bytes, 64);
  EXPECT_EQ(x.elements(), before);
}

}  // namespace
}  // namespace ttlg::call
