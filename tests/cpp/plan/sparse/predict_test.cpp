#include "plan/sparse/predict.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tensor/integer.hpp"

namespace ttlg::sparse {
namespace {

Plan plan_for(Problem problem, std::int64_t nonzeros, int sorted_modes, int threads = 1,
              Algorithm algorithm = Algorithm::automatic) {
  problem.nonzeros = nonzeros;
  problem.value_bytes = 8;
  problem.in_index_bytes = problem.out_index_bytes = 4;
  return make_plan(problem, algorithm, sorted_modes, threads, 1 << 20);
}

double term(const Plan& plan, Term name) { return terms_of(plan)[static_cast<std::size_t>(name)]; }

constexpr std::int64_t kMany = 10'000'000;

TEST(SparsePredict, GrowsWithTheNonzeros) {
  const Problem problem{.extents = {1000, 1000, 1000}, .perm = {2, 1, 0}};
  double before = 0;
  for (const std::int64_t nonzeros : {0, 1000, 100'000, 10'000'000}) {
    const double seconds = predicted_seconds(plan_for(problem, nonzeros, 3));
    EXPECT_GT(seconds, before);
    before = seconds;
  }
}

TEST(SparsePredict, OrderSavesWork) {
  const Problem unchanged{.extents = {1000, 1000, 1000}, .perm = {0, 1, 2}};
  const Problem inner{.extents = {1000, 1000, 1000}, .perm = {0, 2, 1}};
  const Problem reversed{.extents = {1000, 1000, 1000}, .perm = {2, 1, 0}};
  EXPECT_EQ(term(plan_for(unchanged, kMany, 3), Term::sorted), 0);
  EXPECT_EQ(term(plan_for(inner, kMany, 3), Term::distributed), 0);
  EXPECT_EQ(term(plan_for(reversed, kMany, 3), Term::distributed), as_double(kMany));
  EXPECT_LT(predicted_seconds(plan_for(unchanged, kMany, 3)),
            predicted_seconds(plan_for(inner, kMany, 3)));
  EXPECT_LT(predicted_seconds(plan_for(inner, kMany, 3)),
            predicted_seconds(plan_for(reversed, kMany, 3)));
  const Problem middle_first{.extents = {1000, 1000, 1000}, .perm = {1, 0, 2}};
  EXPECT_LT(predicted_seconds(plan_for(middle_first, kMany, 3)),
            predicted_seconds(plan_for(middle_first, kMany, 0)));
}

TEST(SparsePredict, ThreadsShareWhatTheyCan) {
  const Problem problem{.extents = {1000, 1000, 1000}, .perm = {2, 1, 0}};
  const auto seconds = [&](Algorithm algorithm, int threads) {
    return predicted_seconds(plan_for(problem, kMany, 3, threads, algorithm));
  };
  EXPECT_LT(seconds(Algorithm::automatic, 4), seconds(Algorithm::automatic, 1) / 3);
  EXPECT_LT(seconds(Algorithm::par_qsort, 4), seconds(Algorithm::par_qsort, 1) / 3);
  EXPECT_GT(seconds(Algorithm::seq_qsort, 4), seconds(Algorithm::seq_qsort, 1) * 0.8);
  EXPECT_EQ(plan_for(problem, 1000, 3, 4).threads, 1);
}

TEST(SparsePredict, AutomaticIsTheFastest) {
  for (const auto& perm : {std::vector{2, 1, 0}, std::vector{1, 2, 0}, std::vector{0, 2, 1}}) {
    const Problem problem{.extents = {12092, 9184, 28818}, .perm = perm};
    for (const Algorithm algorithm : kAlgorithms) {
      EXPECT_LE(predicted_seconds(plan_for(problem, kMany, 3)),
                predicted_seconds(plan_for(problem, kMany, 3, 1, algorithm)));
    }
  }
}

}  // namespace
}  // namespace ttlg::sparse
