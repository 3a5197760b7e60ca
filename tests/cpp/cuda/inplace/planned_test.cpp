// Plans in place from the request to the last byte, on devices with more shared memory and with
// less.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "combinations.hpp"
#include "cuda/inplace/run_steps.hpp"
#include "plan/cuda/cases.hpp"
#include "plan/inplace_steps.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;

std::shared_ptr<const DeviceModel> model_with(std::int64_t shared_bytes) {
  DeviceModel model = analytic_model();
  model.shared_bytes_per_multiprocessor = shared_bytes;
  return std::make_shared<const DeviceModel>(model);
}

InplacePlan expect_planned(const Request& request, std::int64_t shared_bytes,
                           const InplaceOptions& options = {}, std::int64_t misalignment = 0) {
  const InplacePlan plan = make_inplace_plan(request, model_with(shared_bytes), options);
  expect_transposed(plan, misalignment);
  return plan;
}

constexpr std::int64_t kHopper = 228 << 10;
constexpr std::int64_t kSmall = 3 << 10;  // longer rows and taller columns leave the chip

TEST(PlannedInplace, TransposesMatrices) {
  for (const auto& [shared_bytes, itemsize] :
       combinations({kHopper, kSmall}, {1, 2, 3, 4, 8, 12, 16})) {
    for (const auto& [rows, columns] :
         {std::pair{1, 7}, {60, 40}, {7, 500}, {500, 7}, {97, 101}, {128, 64}, {90, 90}}) {
      expect_planned(inplace_request({rows, columns}, {1, 0}, itemsize), shared_bytes);
    }
  }
}

TEST(PlannedInplace, ByEveryKernelForAnyMatrix) {
  for (const auto& [kernel, shared_bytes] :
       combinations({InplaceKernel::c2r, InplaceKernel::r2c}, {kHopper, kSmall})) {
    for (const auto& [rows, columns] : {std::pair{90, 60}, {60, 90}, {11, 700}, {700, 11}}) {
      const InplacePlan plan = expect_planned(inplace_request({3, rows, columns}, {0, 2, 1}, 4),
                                              shared_bytes, {.forced = kernel});
      EXPECT_EQ(plan.steps.front().kernel, kernel);
      // 2 KB hold columns of 64 rows, a sector of each, and rows of 508 elements.
      const C2r c2r = c2r_of(plan.steps.front());
      const bool leaves_chip = shared_bytes == kSmall && (c2r.m > 64 || c2r.n > 508);
      EXPECT_EQ(plan.workspace_bytes > 0, leaves_chip);
    }
  }
}

TEST(PlannedInplace, PermutesTensors) {
  Random random(1);
  for (int i = 0; i < 60; ++i) {
    const auto rank = static_cast<std::size_t>(pick(random, 2, 6));
    std::vector<std::int64_t> shape(rank);
    for (std::int64_t& extent : shape) extent = pick(random, 1, rank > 4 ? 5 : 12);
    if (i % 4 == 0) shape.back() = shape.front();
    const std::int64_t itemsize = pick(random, 1, 16);
    expect_planned(inplace_request(shape, random_axes(random, rank), itemsize),
                   i % 2 == 0 ? kHopper : kSmall);
  }
}

TEST(PlannedInplace, BeginsAnywhere) {
  for (const auto& [itemsize, first] : combinations({1, 2, 4, 8}, {1, 2, 3, 4})) {
    const std::int64_t beyond = first * itemsize;
    expect_planned(inplace_request({75, 44}, {1, 0}, itemsize), kHopper, {}, beyond);
    expect_planned(inplace_request({75, 75}, {1, 0}, itemsize), kHopper, {}, beyond);
    expect_planned(inplace_request({9, 75, 20}, {1, 0, 2}, itemsize), kSmall, {}, beyond);
  }
}

TEST(PlannedInplace, DividesLargeElements) {
  for (const auto& [itemsize, length] : {std::pair{4, 1500}, {1, 2310}, {4, 1031}, {16, 1100}}) {
    expect_planned(inplace_request({5, 3, length}, {1, 0, 2}, itemsize), kHopper);
    expect_planned(inplace_request({4, 4, length}, {1, 0, 2}, itemsize), kHopper);
  }
}

TEST(PlannedInplace, KeepsToItsWorkspace) {
  const Request request = inplace_request({1000, 24}, {1, 0}, 4);
  const std::int64_t all =
      make_inplace_plan(request, model_with(kSmall), {.workspace = 1 << 20}).workspace_bytes;
  std::int64_t least = all;
  for (std::int64_t workspace = all; workspace > 0; workspace -= 8000) {
    try {
      least = expect_planned(request, kSmall, {.workspace = workspace}).workspace_bytes;
      EXPECT_LE(least, workspace);
    } catch (const std::invalid_argument&) {
      break;
    }
  }
  EXPECT_LT(least, all);
}

TEST(PlannedInplace, RefusesElementsTooLargeForTheirAddress) {
  const LoweredInplacePlan plan(make_inplace_plan(inplace_request({5, 3, 1024}, {1, 0, 2}, 16),
                                                  model_with(kHopper),
                                                  {.forced = InplaceKernel::c2r}));
  EXPECT_NO_THROW(plan.bind(nullptr));
  EXPECT_THROW(plan.bind(static_cast<std::byte*>(nullptr) + 1), std::invalid_argument);
}

}  // namespace
}  // namespace ttlg::test
