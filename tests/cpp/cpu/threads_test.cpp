#include "cpu/threads.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace ttlg::cpu {
namespace {

using Range = std::pair<std::int64_t, std::int64_t>;

struct Shares {
  std::vector<Range> ranges;  // in ascending order
  std::set<std::thread::id> threads;
};

Shares share_out(int threads, std::int64_t count) {
  std::mutex mutex;
  Shares shares;
  parallel_ranges(threads, count, kSharesPerThread, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    shares.ranges.emplace_back(begin, end);
    shares.threads.insert(std::this_thread::get_id());
  });
  std::ranges::sort(shares.ranges);
  return shares;
}

TEST(ParallelRanges, CoverTheRangeOnceInSharesOfEqualSize) {
  for (int threads = 1; threads <= 9; ++threads) {
    for (std::int64_t count = 1; count <= 200; count += 1 + count / 20) {
      const Shares shares = share_out(threads, count);
      const std::int64_t at_least = has_openmp() ? std::min<std::int64_t>(threads, count) : 1;
      ASSERT_GE(std::ssize(shares.ranges), at_least) << threads << " threads, " << count;
      EXPECT_LE(std::ssize(shares.threads), threads);
      const std::int64_t size = count / std::ssize(shares.ranges);
      std::int64_t covered = 0;
      for (const auto& [begin, end] : shares.ranges) {
        EXPECT_EQ(begin, covered);
        EXPECT_GE(end - begin, size);
        EXPECT_LE(end - begin, size + 1);
        covered = end;
      }
      EXPECT_EQ(covered, count);
    }
  }
}

TEST(ParallelRanges, EveryThreadBeginsWithSharesOfItsOwn) {
  if (!has_openmp()) GTEST_SKIP() << "there is one thread";
  constexpr int kThreads = 4;
  constexpr std::int64_t kCount = 1000;
  for (int call = 0; call < 20; ++call) {
    std::array<std::atomic<std::int64_t>, kThreads> first;
    for (auto& begin : first) begin = -1;
    std::atomic<int> started{0};
    parallel_ranges(kThreads, kCount, kSharesPerThread, [&](std::int64_t begin, std::int64_t) {
      std::int64_t none = -1;
      const auto number = static_cast<std::size_t>(thread_number());
      if (!first[number].compare_exchange_strong(none, begin)) return;
      for (++started; started < kThreads;) std::this_thread::yield();
    });
    for (int i = 0; i < kThreads; ++i) {
      ASSERT_LE(std::abs(first[static_cast<std::size_t>(i)] - kCount * i / kThreads),
                kCount / (kThreads * kSharesPerThread));
    }
  }
}

TEST(ParallelRanges, CountsBeyond32Bits) {
  constexpr std::int64_t kCount = (std::int64_t{1} << 40) + 1;
  const Shares shares = share_out(2, kCount);
  EXPECT_EQ(shares.ranges.front().first, 0);
  EXPECT_EQ(shares.ranges.back().second, kCount);
}

TEST(NumThreads, IsWhatWasSetOrOpenMPsChoice) {
  const int by_default = num_threads();
  EXPECT_GE(by_default, 1);
  set_num_threads(5);
  EXPECT_EQ(num_threads(), 5);
  set_num_threads(0);
  EXPECT_EQ(num_threads(), by_default);
}

TEST(ParallelRanges, WorkInAForkedChildWhoseParentHasAPool) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer starts no threads in a forked child";
#endif
#if defined(__aarch64__)
  GTEST_SKIP() << "qemu-user fails an assertion of its own where a program with threads forks";
#endif
  EXPECT_FALSE(is_forked_child());
  EXPECT_GE(share_out(4, 100).ranges.size(), has_openmp() ? 4 : 1);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // waiting for threads that the child does not have would take for ever
    const bool right = is_forked_child() && share_out(4, 100).ranges.back().second == 100;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(share_out(4, 100).ranges.back().second, 100) << "the parent keeps its pool";
}

}  // namespace
}  // namespace ttlg::cpu
