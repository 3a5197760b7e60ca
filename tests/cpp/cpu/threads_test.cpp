#include "cpu/threads.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
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
  parallel_ranges(threads, count, [&](std::int64_t begin, std::int64_t end) {
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

int usable_threads_in_child() {
  const pid_t child = fork();
  if (child == 0) _exit(usable_threads(4));
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(UsableThreads, OneInAChildForkedAfterThePoolCameUp) {
  if (!has_openmp()) GTEST_SKIP() << "built without OpenMP";
  EXPECT_EQ(usable_threads_in_child(), 4) << "before there is a pool";
  EXPECT_EQ(usable_threads(4), 4);
  EXPECT_EQ(usable_threads_in_child(), 1);
  EXPECT_EQ(usable_threads(4), 4) << "the parent keeps its pool";
  EXPECT_EQ(usable_threads(0), 1);
}

}  // namespace
}  // namespace ttlg::cpu
