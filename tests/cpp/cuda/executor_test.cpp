// Toy kernels whose threads diverge: the executor must say so.
#include "cuda/executor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "cuda/toy.hpp"

namespace ttlg::test {
namespace {

using Word = std::uint32_t;

TEST(Executor, RunsEveryThreadOfEveryBlock) {
  Toy toy(6 * kRow);
  toy.expect({}, {.blocks = 3, .threads = 64}, [](const HostContext& context) {
    const std::int64_t offset = 4 * (64 * std::int64_t{context.block()} + context.thread());
    context.store(true, offset, context.load<Word>(true, offset));
  });
  EXPECT_TRUE(std::ranges::equal(toy.in.bytes(), toy.out.bytes()));
}

TEST(Executor, TakesOffsetsFromTheOrigins) {
  Toy toy(kRow);
  const Report report =
      run_kernel({}, {toy.in.bytes(), toy.out.bytes(), toy.expected_writes, 124, 4},
                 [](const HostContext& context) {
                   const std::int64_t offset = 4 * context.thread();
                   context.store(true, offset - 4, context.load<Word>(true, -offset));
                 });
  EXPECT_EQ(report.violations, Violations{});
  EXPECT_EQ(toy.out.bytes()[0], toy.in.bytes()[124]);
  EXPECT_EQ(toy.out.bytes()[124], toy.in.bytes()[0]);
}

// Counts the threads that came to their end, if only by being unwound.
struct Leaving {
  int* count;
  ~Leaving() { ++*count; }
};

TEST(Barrier, MustBeReachedByAllThreads) {
  int left = 0;
  const Report report = Toy(0).run({.blocks = 2, .threads = 64}, [&](const HostContext& context) {
    const Leaving leaving{&left};
    if (context.thread() != 40 || context.block() == 1) context.barrier();
  });
  EXPECT_EQ(report.violations,
            Violations{"block 0, thread 40: returns without the barrier at which others wait"});
  EXPECT_EQ(report.counts.barriers, 1) << "the second block's";
  EXPECT_EQ(left, 2 * 64);
}

TEST(Shuffle, MustBeReachedByAllLanes) {
  for (const bool waits : {false, true}) {  // at a barrier
    const std::string expected =
        "block 0, thread 1: waits at a shuffle that not all lanes of its warp reach";
    expect_shared({expected}, 64, [waits](const HostContext& context) {
      if (context.thread() != 0) context.shuffle(Word{1}, 0);
      if (waits) context.barrier();
    });
  }
}

TEST(Vote, SaysWhetherAnyLaneOfTheWarpAgrees) {
  Toy toy(2 * 64);
  toy.expect({}, {.threads = 64}, [](const HostContext& context) {
    const bool never = context.any(false);
    const bool once = context.any(context.thread() == 40);
    context.store(true, context.thread(), static_cast<std::uint8_t>(never));
    context.store(true, 64 + context.thread(), static_cast<std::uint8_t>(once));
  });
  for (std::size_t i = 0; i < 128; ++i) {
    EXPECT_EQ(toy.out.bytes()[i], static_cast<std::byte>(i >= 96)) << "the second warp's last 32";
  }
}

TEST(Context, KnowsItsOriginsModuloFour) {
  Toy toy(8, 3);
  toy.expected_writes.assign(8, 0);
  toy.expect({}, {}, [](const HostContext& context) {
    if (context.in_phase() != 3 || context.out_phase() != 3) throw std::logic_error("phase");
    const HostContext moved = context.at(2, -1);
    if (moved.in_phase() != 1 || moved.out_phase() != 2) throw std::logic_error("moved phase");
  });
}

TEST(Shuffle, ReversesAWarpRepeatedly) {
  Toy toy(256 * 4);
  toy.expect({}, {.threads = 256}, [](const HostContext& context) {
    const std::uint32_t lane = context.thread() % 32;
    std::uint32_t value = context.thread();
    for (int i = 0; i < 3; ++i) value = context.shuffle(value, 31 - lane);
    EXPECT_EQ(context.shuffle(std::uint8_t{7}, 40), 7) << "modulo 32";
    context.store(true, 4 * context.thread(), value);
  });
  for (std::uint32_t i = 0; i < 256; ++i) {
    const std::byte expected{static_cast<std::uint8_t>(i / 32 * 32 + 31 - i % 32)};
    EXPECT_EQ(toy.out.bytes()[4 * i], expected);
  }
}

TEST(Lanes, MustMakeTheSameCalls) {
  const auto expect_told = [](const Violations& expected, const Kernel& of_one,
                              const Kernel& rest) {
    Toy(kRow).expect(expected, {.shared_bytes = 256}, [&](const HostContext& context) {
      copy_word(context);
      (context.thread() == 12 ? of_one : rest)(context);
    });
  };
  const Violations deviates{
      "block 0, thread 12: makes other calls than the first lane of its warp"};
  const Kernel nothing = [](const HostContext&) {};
  const Kernel load = [](const HostContext& context) { context.load<Word>(false, 0); };
  const Kernel store = [](const HostContext& context) { context.store(false, 0, Word{0}); };
  const Kernel share = [](const HostContext& c) { c.shared_store(false, 0, Word{0}); };
  const Kernel share_half = [](const HostContext& c) { c.shared_store(false, 0, std::uint16_t{}); };
  expect_told({}, nothing, nothing);
  expect_told(deviates, load, nothing);
  expect_told(deviates, share_half, share);
  expect_told(deviates, store, share);
}

TEST(Executor, StopsAfterAFewComplaints) {
  int threads = 0;
  Toy toy(kRow);
  const Report report = toy.run({.blocks = 1000}, [&threads](const HostContext& context) {
    ++threads;
    context.store(true, -4, Word{1});
  });
  EXPECT_EQ(report.violations.size(), kMaxViolations);
  EXPECT_EQ(threads, 32);
}

TEST(Executor, PassesExceptionsOn) {
  int left = 0;
  const auto kernel = [&left](const HostContext& context) {
    const Leaving leaving{&left};
    if (context.thread() == 40) throw std::domain_error("of a kernel");
    context.barrier();
  };
  EXPECT_THROW(Toy(0).run({.threads = 64}, kernel), std::domain_error);
  EXPECT_EQ(left, 64);
}

TEST(Executor, RefusesWhatNoDeviceRuns) {
  const auto nothing = [](const HostContext&) {};
  EXPECT_THROW(Toy(0).run({.threads = 48}, nothing), std::invalid_argument);
  EXPECT_THROW(Toy(0).run({.threads = 2048}, nothing), std::invalid_argument);
  Toy toy(4);
  toy.expected_writes.pop_back();
  EXPECT_THROW(toy.run({}, nothing), std::invalid_argument);
}

}  // namespace
}  // namespace ttlg::test
