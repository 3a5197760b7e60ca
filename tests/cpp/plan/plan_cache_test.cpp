#include "plan/plan_cache.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "cpu/planning.hpp"
#include "requests.hpp"

namespace ttlg {
namespace {

using test::contiguous_request;

const cpu::Machine kMachine{};
std::shared_ptr<const cpu::Machine> machine(bool /*learns*/) {
  return std::make_shared<const cpu::Machine>();
}
const cpu::Planning kPlanning{machine, machine};

// Matrices of different heights: as many layouts as a test needs.
Request matrix(std::int64_t rows) { return contiguous_request({rows, 5}, {1, 0}, 4); }

TEST(PlanCache, GivesWhatThePlannerMakes) {
  cpu::PlanCache cache(kPlanning, 10000);
  test::Random random(7);
  for (int i = 0; i < 1000; ++i) {
    const Request request = test::random_request(random);
    const int threads = static_cast<int>(test::pick(random, 1, 3));
    EXPECT_EQ(*cache.get(key_of(request), {threads}), cpu::make_plan(request, kMachine, threads));
    EXPECT_EQ(*cache.get(key_of(request), {threads}), cpu::make_plan(request, kMachine, threads));
  }
}

TEST(PlanCache, MakesAPlanOnce) {
  cpu::PlanCache cache(kPlanning, 8);
  const auto plan = cache.get(key_of(matrix(3)), {});
  EXPECT_EQ(cache.get(key_of(matrix(3)), {}), plan);
  EXPECT_EQ(cache.info(), (CacheInfo{.hits = 1, .misses = 1, .capacity = 8, .size = 1}));
}

TEST(PlanCache, ListsPlansTheLeastRecentFirst) {
  cpu::PlanCache cache(kPlanning, 3);
  for (const std::int64_t rows : {3, 4, 5, 6}) cache.get(key_of(matrix(rows)), {.threads = 2});
  cache.get(key_of(matrix(4)), {.threads = 2});
  std::vector<std::int64_t> rows;
  for (const auto& [plan, choice] : cache.plans()) {
    rows.push_back(plan->request.shape[0]);
    EXPECT_EQ(choice.threads, 2);
  }
  EXPECT_EQ(rows, (std::vector<std::int64_t>{5, 6, 4}));
}

TEST(PlanCache, TellsApartEverythingThatDecides) {
  cpu::PlanCache cache(kPlanning, 100);
  const Request request = contiguous_request({6, 6, 6}, {2, 0, 1}, 4);
  std::vector<Request> requests(9, request);
  requests[1].shape[1] = 5;
  requests[2].in_byte_strides[0] = -144;
  requests[3].axes = {1, 2, 0};
  requests[4].itemsize = 2;
  requests[5].out_byte_strides = {144, 24, 4};
  requests[6].out_byte_strides = {144, 4, 24};
  requests[7] = contiguous_request({6, 6}, {1, 0}, 4);
  requests[8].out_alignment = 64;
  std::uint64_t misses = 0;
  for (const Request& each : requests) {
    EXPECT_EQ(cache.get(key_of(each), {})->request, each);
    EXPECT_EQ(cache.info().misses, ++misses);
  }
  EXPECT_EQ(cache.get(key_of(request), {2})->request, request);
  EXPECT_EQ(cache.info().misses, ++misses);
  const Problem folded = fold_run(make_problem(request));
  for (const cpu::Kernel kernel : cpu::kKernels) {
    if (!cpu::applies(kernel, folded)) continue;
    EXPECT_EQ(*cache.get(key_of(request), {1, kernel}),
              cpu::make_plan(request, kMachine, 1, kernel));
    EXPECT_EQ(cache.info().misses, ++misses);
  }
  EXPECT_EQ(cache.info().hits, 0U);
}

TEST(PlanCache, TellsApartRequestsThatDifferInAnyField) {
  const Request request{.shape = {3, 5},
                        .in_byte_strides = {40, 8},
                        .axes = {1, 0},
                        .itemsize = 8,
                        .out_byte_strides = {24, 8},
                        .inplace = true,
                        .out_alignment = 64,
                        .map = {Type::float64, Type::float32}};
  const Request by_default;
  const LayoutKey key = key_of(request);
  EXPECT_EQ(key.request(), request);
  EXPECT_TRUE(key.matches(request));
  const auto check = [&]<std::size_t kField>() {
    Request other = request;
    std::get<kField>(fields_of(other)) = std::get<kField>(fields_of(by_default));
    ASSERT_NE(other, request) << "the field " << kField << " is as it is by default";
    EXPECT_EQ(key_of(other).request(), other);
    EXPECT_FALSE(key.matches(other)) << kField;
    EXPECT_NE(key.hash(), key_of(other).hash()) << kField;
  };
  constexpr std::size_t kFields = std::tuple_size_v<decltype(fields_of(request))>;
  [&]<std::size_t... kField>(std::index_sequence<kField...>) {
    (check.template operator()<kField>(), ...);
  }(std::make_index_sequence<kFields>());
}

TEST(PlanCache, GivesNoPlanForAnotherMap) {
  cpu::PlanCache cache(kPlanning, 5);
  for (const Request& request : test::converting_requests()) {
    cache.get(key_of(contiguous_request(request.shape, request.axes, 4)), {});
    EXPECT_EQ(cache.peek(key_of(request), {}), nullptr);
    EXPECT_EQ(cache.get(key_of(request), {})->request.map, request.map);
    EXPECT_NE(cache.peek(key_of(request), {}), nullptr);
  }
}

TEST(PlanCache, DropsTheLeastRecentlyUsed) {
  cpu::PlanCache cache(kPlanning, 3);
  const auto is_new = [&](std::int64_t rows) {
    const std::uint64_t before = cache.info().misses;
    cache.get(key_of(matrix(rows)), {});
    return cache.info().misses > before;
  };
  for (const std::int64_t rows : {1, 2, 3}) EXPECT_TRUE(is_new(rows));
  EXPECT_FALSE(is_new(1));
  EXPECT_TRUE(is_new(4)) << "takes the place of 2";
  EXPECT_FALSE(is_new(3));
  EXPECT_FALSE(is_new(1));
  EXPECT_TRUE(is_new(2)) << "takes the place of 4";
  EXPECT_TRUE(is_new(4)) << "takes the place of 3";
  EXPECT_FALSE(is_new(1));
  EXPECT_EQ(cache.info().size, 3U);
}

TEST(PlanCache, APlanOutlivesItsEntry) {
  cpu::PlanCache cache(kPlanning, 1);
  const auto plan = cache.get(key_of(matrix(3)), {});
  cache.get(key_of(matrix(4)), {});
  EXPECT_EQ(plan.use_count(), 1) << "the cache let go of it";
  cache.clear();
  EXPECT_EQ(plan->request, matrix(3));
}

TEST(PlanCache, ClearForgetsPlansAndCounts) {
  cpu::PlanCache cache(kPlanning, 5);
  cache.get(key_of(matrix(3)), {});
  cache.get(key_of(matrix(3)), {});
  cache.clear();
  EXPECT_EQ(cache.info(), (CacheInfo{.capacity = 5}));
  cache.get(key_of(matrix(3)), {});
  EXPECT_EQ(cache.info(), (CacheInfo{.misses = 1, .capacity = 5, .size = 1}));
}

TEST(PlanCache, ResizeEmptiesTheCache) {
  cpu::PlanCache cache(kPlanning, 5);
  for (const std::int64_t rows : {1, 2, 3}) cache.get(key_of(matrix(rows)), {});
  cache.resize(2);
  EXPECT_EQ(cache.info(), (CacheInfo{.capacity = 2}));
  for (const std::int64_t rows : {1, 2, 3}) cache.get(key_of(matrix(rows)), {});
  EXPECT_EQ(cache.info(), (CacheInfo{.misses = 3, .capacity = 2, .size = 2}));
  cache.resize(0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cache.get(key_of(matrix(1)), {})->request, matrix(1));
  EXPECT_EQ(cache.info(), (CacheInfo{.misses = 3, .capacity = 0}));
}

// Another way to carry out `request` than the planner's.
std::shared_ptr<const cpu::Plan> reference_plan(const Request& request) {
  return std::make_shared<const cpu::Plan>(
      cpu::build_plan(request, {.kernel = cpu::Kernel::reference}));
}

TEST(PlanCache, PutTakesThePlaceOfThePlannersChoice) {
  cpu::PlanCache cache(kPlanning, 5);
  const auto planned = cache.get(key_of(matrix(3)), {2});
  const auto put = reference_plan(matrix(3));
  ASSERT_NE(*planned, *put);
  cache.put(put, {2});
  EXPECT_EQ(cache.info(), (CacheInfo{.misses = 1, .capacity = 5, .size = 1}));
  EXPECT_EQ(cache.get(key_of(matrix(3)), {2}), put);
  EXPECT_EQ(cache.get(key_of(matrix(3)), {2}), put) << "it stays";
  EXPECT_EQ(planned.use_count(), 1) << "the cache let go of it";
}

TEST(PlanCache, PutIsForItsOwnKeyAlone) {
  cpu::PlanCache cache(kPlanning, 100);
  Request request = contiguous_request({6, 6, 6}, {2, 0, 1}, 4);
  cache.put(reference_plan(request), {2});
  EXPECT_EQ(cache.info(), (CacheInfo{.capacity = 100, .size = 1}));
  EXPECT_EQ(*cache.get(key_of(request), {1}), cpu::make_plan(request, kMachine, 1));
  EXPECT_EQ(*cache.get(key_of(request), {2, cpu::Kernel::strided_copy}),
            cpu::make_plan(request, kMachine, 2, cpu::Kernel::strided_copy));
  request.out_byte_strides = contiguous_byte_strides(request.out_shape(), 4);
  EXPECT_EQ(*cache.get(key_of(request), {2}), cpu::make_plan(request, kMachine, 2));
  EXPECT_EQ(cache.info().misses, 3U);
  request.out_byte_strides.clear();
  EXPECT_EQ(cache.get(key_of(request), {2})->parameters.kernel, cpu::Kernel::reference);
}

TEST(PlanCache, PutDropsTheLeastRecentlyUsed) {
  cpu::PlanCache cache(kPlanning, 2);
  for (const std::int64_t rows : {1, 2}) cache.put(reference_plan(matrix(rows)), {1});
  cache.put(reference_plan(matrix(1)), {1});
  cache.put(reference_plan(matrix(3)), {1});  // takes the place of 2
  for (const std::int64_t rows : {1, 3}) cache.get(key_of(matrix(rows)), {});
  EXPECT_EQ(cache.info(), (CacheInfo{.hits = 2, .capacity = 2, .size = 2}));
  cache.resize(0);
  cache.put(reference_plan(matrix(1)), {1});
  EXPECT_EQ(cache.info(), (CacheInfo{}));
}

TEST(PlanCache, FailuresAreNeitherKeptNorCounted) {
  cpu::PlanCache cache(kPlanning, 5);
  const Request request = matrix(3);
  EXPECT_THROW(cache.get(key_of(request), {1, cpu::Kernel::copy}), std::invalid_argument);
  EXPECT_EQ(cache.info(), (CacheInfo{.capacity = 5}));
}

TEST(PlanCache, ManyThreadsAtOnce) {
  // Sixteen layouts through a cache of four, emptied and resized meanwhile.
  cpu::PlanCache cache(kPlanning, 4);
  constexpr int kRounds = 2000;
  const auto work = [&](std::uint64_t seed) {
    test::Random random(seed);
    for (int i = 0; i < kRounds; ++i) {
      const Request request = matrix(test::pick(random, 1, 16));
      EXPECT_EQ(cache.get(key_of(request), {})->request, request);
      if (i % 50 == 0) cache.put(reference_plan(request), {1});
      if (i % 500 == 499) cache.clear();
      if (i % 700 == 699) cache.resize(4);
    }
  };
  std::vector<std::jthread> workers;
  for (std::uint64_t seed = 0; seed < 4; ++seed) workers.emplace_back(work, seed);
  workers.clear();  // joins
  EXPECT_LE(cache.info().size, 4U);
}

TEST(PlanCache, ThreadsThatMakeTheSamePlanKeepOne) {
  constexpr int kThreads = 4;
  constexpr int kLayouts = 500;
  cpu::PlanCache cache(kPlanning, 2 * kLayouts);
  std::barrier together(kThreads);
  std::vector<std::jthread> workers;
  for (int thread = 0; thread < kThreads; ++thread) {
    workers.emplace_back([&] {
      for (int rows = 1; rows <= kLayouts; ++rows) {
        together.arrive_and_wait();
        cache.get(key_of(matrix(rows)), {});
      }
    });
  }
  workers.clear();  // joins
  const CacheInfo info = cache.info();
  EXPECT_EQ(info.size, std::size_t{kLayouts});
  EXPECT_EQ(info.hits + info.misses, std::uint64_t{kThreads} * kLayouts);
  EXPECT_GE(info.misses, std::uint64_t{kLayouts});
}

}  // namespace
}  // namespace ttlg
