#include "plan/cuda/plan.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "plan/cuda/cases.hpp"
#include "plan/cuda/model/predict.hpp"

namespace ttlg::cuda {
namespace {

using test::paper_problem;
using test::paper_request;

using enum Schema;

using Extents = std::vector<std::int64_t>;

TEST(SchemaName, ReadsBackWhatItPrints) {
  const std::vector<std::pair<Schema, std::string_view>> names{
      {copy, "copy"},
      {fvi_match_large, "fvi_match_large"},
      {fvi_match_small, "fvi_match_small"},
      {orthogonal_distinct, "orthogonal_distinct"},
      {orthogonal_arbitrary, "orthogonal_arbitrary"}};
  EXPECT_EQ(names.size(), kSchemas.size());
  for (const auto& [schema, name] : names) {
    EXPECT_EQ(schema_name(schema), name);
    EXPECT_EQ(kSchemas.parse(name), schema);
  }
  EXPECT_EQ(kSchemas.parse("tile"), std::nullopt);
}

// Of each kind of limit one example; validate_test.cpp has every limit.
TEST(BuildCudaPlan, RefusesWhatKernelsCannotDo) {
  const Request matrix = paper_request({100, 200}, {1, 0}, 4);
  const Request match = paper_request({5, 20, 30}, {0, 2, 1}, 4);
  const std::vector<std::pair<Request, cuda::Parameters>> wrong{
      {matrix, {copy}},
      {matrix, {fvi_match_large, {1, 1, 100, 1}}},
      {matrix, {orthogonal_distinct, {2, 1, 200, 32}}},
      {matrix, {orthogonal_distinct, {1, 1, 32, 32}, 2}},
      {matrix, {orthogonal_arbitrary, {1, 1, 100, 41}}},
      {match, {fvi_match_small, {2, 2, 20, 33}}},
      {match, {orthogonal_distinct, {1, 1, 5, 5}}},
      {paper_request({4, 5}, {0, 1}, 4), {copy, {1, 1, 1, 1}}}};
  for (const auto& [request, parameters] : wrong) {
    EXPECT_THROW(test::built(request, 16, parameters), std::invalid_argument)
        << schema_name(parameters.schema);
  }
  const DeviceModel model = test::k40c_model();
  const cuda::Parameters good{orthogonal_arbitrary, {1, 1, 100, 40}};
  const cuda::Plan plan = test::built(matrix, 16, good, model);
  EXPECT_EQ(plan.recast, paper_problem({100, 200}, {1, 0}, 4));
  EXPECT_EQ(plan.out_shape, (Extents{100, 200}));
  EXPECT_EQ(*plan.model, model);
  EXPECT_EQ(plan.predicted_seconds, predict_seconds(model, plan.sliced()));
}

}  // namespace
}  // namespace ttlg::cuda
