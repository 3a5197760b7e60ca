// That every plan which calls try puts the same bytes into place, on the host executor.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "cuda/execute.hpp"
#include "cuda/fake_cuda/fake_cuda.hpp"
#include "cuda/run_kernels.hpp"
#include "plan/cuda/cases.hpp"

namespace ttlg::cuda {
namespace {

TEST(TriedPlans, MoveTheSameBytes) {
  test::reset_fake_cuda();
  test::fake_cuda().seconds_of = [](const std::string&, const Launch&) { return 1e-4; };
  const std::vector<Request> requests{test::paper_request({100, 5, 90}, {2, 1, 0}, 4),
                                      test::paper_request({40, 30, 50}, {0, 2, 1}, 4),
                                      test::paper_request({6, 70, 80}, {0, 2, 1}, 2),
                                      test::paper_request({120, 130}, {1, 0}, 1)};
  for (const Request& request : requests) {
    Learner learner;
    const auto chosen =
        std::make_shared<const LoweredPlan>(test::planned(request, 16, test::analytic_model()));
    std::set<const LoweredPlan*> run;
    std::shared_ptr<const LoweredPlan> kept;
    for (int i = 0; i < 400 && kept == nullptr; ++i) {
      const Learner::Call call = learner.begin(chosen, 1);
      if (run.insert(call.plan.get()).second) test::expect_moved(*call.plan);
      if (call.timer != nullptr) {
        call.timer->start(nullptr);
        test::fake_cuda().now += 1e-4;
        call.timer->stop(nullptr);
        call.timer->finish();
      }
      kept = call.kept;
    }
    ASSERT_NE(kept, nullptr);
    EXPECT_GT(run.size(), 2U);
  }
}

}  // namespace
}  // namespace ttlg::cuda
