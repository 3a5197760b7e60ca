// A repeated call allocates nothing on the heap: neither the look-up of its plan nor the execution.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "allocations.hpp"
#include "cpu/execute.hpp"
#include "cpu/inplace/execute.hpp"
#include "cpu/planning.hpp"
#include "plan/cpu/machines.hpp"
#include "plan/inplace_steps.hpp"
#include "requests.hpp"

namespace ttlg::cpu {
namespace {

using test::allocations_of;
using test::contiguous_request;

TEST(Allocations, AreCounted) {
  EXPECT_EQ(allocations_of([] { ::operator delete(::operator new(4)); }), 1U);
  EXPECT_EQ(allocations_of([] { std::vector<int> each(3); }), 1U);
}

const Machine kCaching = test::caching_machine();
const Machine kStreaming = test::streaming_machine();
const Machine kStaging = test::staging_machine();

TEST(Execute, AllocatesNothing) {
  int seen_streaming = 0;
  int seen_staged = 0;
  const Request copied = contiguous_request({64, 512}, {0, 1}, 4);
  const Request transposed = contiguous_request({64, 512}, {1, 0}, 4);
  const Request shuffled = contiguous_request({3, 5, 7, 64, 9}, {4, 2, 0, 3, 1}, 2);
  const Request long_runs = contiguous_request({9, 8, 2048}, {1, 0, 2}, 1);
  // 4 KiB apart, runs of the output share a few sets of the caches: these blocks are staged.
  const Request conflicting = contiguous_request({512, 64}, {1, 0}, 8);
  for (const Request& request : {copied, transposed, shuffled, long_runs, conflicting}) {
    const auto bytes = static_cast<std::size_t>(make_problem(request).bytes());
    const std::vector<std::byte> in(bytes);
    std::vector<std::byte> out(bytes);
    for (const Kernel kernel : kKernels) {
      if (!applies(kernel, fold_run(make_problem(request)))) continue;
      for (const Machine& machine : {kCaching, kStreaming, kStaging}) {
        const Plan plan = make_plan(request, machine, 1, kernel);
        seen_streaming += plan.parameters.streaming;
        seen_staged += plan.parameters.staged;
        for (const Kernels* level : usable_levels()) {
          const auto run = [&] { execute(plan, in.data(), out.data(), *level); };
          run();
          EXPECT_EQ(allocations_of(run), 0U) << kernel_name(kernel) << ", " << level->name;
        }
      }
    }
  }
  EXPECT_GT(seen_streaming, 0);
  EXPECT_GT(seen_staged, 0);
}

TEST(ExecuteInplace, AllocatesNothing) {
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{60, 60}, {300, 200}, {97, 201}}) {
    const Request request = test::inplace_request(shape, {1, 0}, 8);
    for (const auto workspace :
         {std::optional<std::int64_t>{}, std::optional<std::int64_t>(60000)}) {
      const InplacePlan plan = make_inplace_plan(request, kCaching, {.workspace = workspace});
      std::vector<std::byte> data(static_cast<std::size_t>(plan.problem.bytes()));
      std::vector<std::byte> raw(static_cast<std::size_t>(plan.workspace_bytes + kLineBytes));
      std::byte* begin = raw.data();
      while (reinterpret_cast<std::uintptr_t>(begin) % kLineBytes != 0) ++begin;
      const auto run = [&] { execute_inplace(plan, data.data(), begin); };
      run();
      EXPECT_EQ(allocations_of(run), 0U) << kernel_name(plan.steps.front().kernel);
    }
  }
}

TEST(PlanCache, AllocatesNothingForAHit) {
  const auto machine = [](bool) { return std::make_shared<const Machine>(kCaching); };
  PlanCache cache({machine, machine}, 8);
  const Request request = contiguous_request({64, 5, 512}, {2, 0, 1}, 4);
  const Planning::Choice choice{.threads = 1};
  const auto plan = cache.get(key_of(request), choice);
  EXPECT_EQ(allocations_of([&] { EXPECT_EQ(cache.get(key_of(request), choice), plan); }), 0U);
  EXPECT_EQ(cache.info().hits, 1U);
}

}  // namespace
}  // namespace ttlg::cpu
