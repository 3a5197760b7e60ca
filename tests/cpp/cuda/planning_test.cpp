// What the cache of plans for CUDA devices tells apart.
#include "cuda/planning.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "plan/cuda/cases.hpp"

namespace ttlg::cuda {
namespace {

using test::contiguous_request;

const Request kRequest = contiguous_request({60, 40, 4}, {1, 0, 2}, 1);

using Choice = Planning::Choice;
using Model = std::shared_ptr<const DeviceModel>;

Model model_of(DeviceModel model) { return std::make_shared<const DeviceModel>(std::move(model)); }

TEST(CudaPlanCache, TellsApartEverythingThatDecides) {
  PlanCache cache({}, 100);
  const Model model = model_of({.name = "one"});
  const std::vector<Choice> choices{
      {.pointer_alignment = 16, .model = model},
      {.pointer_alignment = 2, .model = model},
      {.pointer_alignment = 16, .model = model_of({.name = "other"})},
      {.pointer_alignment = 16, .model = model, .forced = Schema::orthogonal_arbitrary},
      {.pointer_alignment = 16, .model = model, .learns = true}};
  for (const Choice& choice : choices) {
    EXPECT_EQ(*cache.get(key_of(kRequest), choice),
              make_plan(kRequest, choice.pointer_alignment, choice.model, choice.forced));
  }
  EXPECT_EQ(cache.info(), (CacheInfo{.misses = 5, .capacity = 100, .size = 5}));
}

TEST(CudaPlanCache, ComparesModelsByValue) {
  PlanCache cache({}, 100);
  const Choice choice{.pointer_alignment = 16, .model = model_of(test::k40c_model())};
  const auto plan = cache.get(key_of(kRequest), choice);
  const Choice same{.pointer_alignment = 16, .model = model_of(test::k40c_model())};
  EXPECT_EQ(same.hash(), choice.hash());
  EXPECT_EQ(cache.get(key_of(kRequest), same), plan);
  EXPECT_EQ(cache.info(), (CacheInfo{.hits = 1, .misses = 1, .capacity = 100, .size = 1}));
}

// As after a calibration: a device keeps its name, and its numbers change.
TEST(CudaPlanCache, TellsApartModelsOfOneName) {
  PlanCache cache({}, 100);
  const DeviceModel published = test::k40c_model();
  DeviceModel slower = published;
  slower.launch_seconds *= 2;
  slower.memory_bytes_per_second /= 2;
  DeviceModel refitted = published;
  refitted.coefficients[Schema::orthogonal_distinct]["Volume"] *= 1e6;
  const auto plan_for = [&](const DeviceModel& model) {
    return cache.get(key_of(kRequest), {.pointer_alignment = 16, .model = model_of(model)});
  };
  const auto first = plan_for(published);
  const auto second = plan_for(slower);
  const auto third = plan_for(refitted);
  EXPECT_EQ(cache.info(), (CacheInfo{.misses = 3, .capacity = 100, .size = 3}));
  EXPECT_NE(*first, *second);
  EXPECT_NE(*first, *third);
  EXPECT_NE(*second, *third);
  EXPECT_LT(first->predicted_seconds, third->predicted_seconds);
  EXPECT_EQ(plan_for(slower), second);
}

}  // namespace
}  // namespace ttlg::cuda
