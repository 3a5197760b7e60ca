#include "cpu/memory/result_pool.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <thread>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace ttlg::cpu {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kPlenty = 256 * kMiB;

// Whether the page that begins here is mapped.
bool is_mapped(const void* page) {
  unsigned char resident = 0;
  return mincore(const_cast<void*>(page), 1, &resident) == 0;
}

// How many of the bytes that begin here are in memory, counted in pages.
std::size_t resident_bytes(std::byte* start, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(getpagesize());
  std::vector<unsigned char> pages(bytes / page);
  if (mincore(start, bytes, pages.data()) != 0) return 0;
  const auto count = std::ranges::count_if(pages, [](auto flags) { return (flags & 1) != 0; });
  return static_cast<std::size_t>(count) * page;
}

// Calls child() in a forked child and says whether it returned true.
template <typename Child>
bool holds_in_child(ResultPool& pool, const Child& child) {
  pool.before_fork();
  const pid_t id = fork();
  pool.after_fork();
  if (id == 0) {
    const bool holds = child();
    pool.before_fork();  // ends the child's own thread, which ThreadSanitizer would miss
    _exit(holds ? 0 : 1);
  }
  int status = -1;
  return waitpid(id, &status, 0) == id && status == 0;
}

TEST(ResultPool, BlocksBeginAtHugePagesAndCanBeWrittenToTheLastByte) {
  ResultPool pool(kPlenty);
  for (const std::size_t bytes :
       {std::size_t{1}, 2 * kMiB - 1, 2 * kMiB, 2 * kMiB + 1, 9 * kMiB + 77}) {
    std::byte* const block = pool.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % kHugePageBytes, 0);
    EXPECT_EQ(pool.size_of(block), bytes);
    std::memset(block, 0xA5, bytes);
    pool.free(block);
    EXPECT_EQ(pool.size_of(block), 0);
  }
}

TEST(ResultPool, AFreedBlockWaitsAndIsUsedAgain) {
  ResultPool pool(kPlenty);
  std::byte* const block = pool.allocate(10 * kMiB);
  EXPECT_EQ(pool.info(), (ResultPool::Info{kPlenty, 0}));
  pool.free(block);
  EXPECT_EQ(pool.info(), (ResultPool::Info{kPlenty, 10 * kMiB}));
  EXPECT_EQ(pool.allocate(9 * kMiB), block);
  EXPECT_EQ(pool.info(), (ResultPool::Info{kPlenty, 0}));
  EXPECT_EQ(pool.size_of(block), 9 * kMiB);
  pool.free(block);
}

TEST(ResultPool, BlocksInUseAreApart) {
  ResultPool pool(kPlenty);
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 4; ++i) {
    blocks.push_back(pool.allocate(4 * kMiB));
    std::memset(blocks.back(), i, 4 * kMiB);
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(blocks[static_cast<std::size_t>(i)][0], std::byte(i));
    EXPECT_EQ(blocks[static_cast<std::size_t>(i)][4 * kMiB - 1], std::byte(i));
    pool.free(blocks[static_cast<std::size_t>(i)]);
  }
}

TEST(ResultPool, TakesTheSmallestThatDoesAndTheLatestOfThose) {
  ResultPool pool(kPlenty);
  std::byte* const large = pool.allocate(20 * kMiB);
  std::byte* const first = pool.allocate(18 * kMiB);
  std::byte* const second = pool.allocate(18 * kMiB);
  for (std::byte* const block : {first, second, large}) pool.free(block);
  EXPECT_EQ(pool.allocate(17 * kMiB), second);
  EXPECT_EQ(pool.allocate(17 * kMiB), first);
  EXPECT_EQ(pool.allocate(17 * kMiB), large);
  for (std::byte* const block : {first, second, large}) pool.free(block);
}

TEST(ResultPool, LeavesBlocksThatAreMuchTooLarge) {
  ResultPool pool(kPlenty);
  std::byte* const block = pool.allocate(20 * kMiB);
  pool.free(block);
  std::byte* const other = pool.allocate(14 * kMiB);
  EXPECT_NE(other, block);
  EXPECT_EQ(pool.info().waiting, 20 * kMiB);
  pool.free(other);
}

TEST(ResultPool, UnmapsWhatHasWaitedLongestBeyondTheLimit) {
  ResultPool pool(20 * kMiB);
  std::byte* const oldest = pool.allocate(8 * kMiB);
  std::byte* const newer = pool.allocate(8 * kMiB);
  std::byte* const newest = pool.allocate(12 * kMiB);
  for (std::byte* const block : {oldest, newer, newest}) pool.free(block);
  EXPECT_FALSE(is_mapped(oldest));
  EXPECT_TRUE(is_mapped(newer));
  EXPECT_EQ(pool.info().waiting, 20 * kMiB);
  pool.set_limit(12 * kMiB);
  EXPECT_FALSE(is_mapped(newer));
  EXPECT_EQ(pool.info(), (ResultPool::Info{12 * kMiB, 12 * kMiB}));
  pool.set_limit(0);
  EXPECT_FALSE(is_mapped(newest));
  EXPECT_EQ(pool.info(), (ResultPool::Info{0, 0}));
}

TEST(ResultPool, BlocksThatExceedTheLimitAreUnmappedAndCostNoOtherItsPlace) {
  ResultPool pool(8 * kMiB);
  std::byte* const small = pool.allocate(8 * kMiB);
  std::byte* const large = pool.allocate(8 * kMiB + 1);
  pool.free(small);
  pool.free(large);
  EXPECT_FALSE(is_mapped(large));
  EXPECT_EQ(pool.allocate(8 * kMiB), small);
  pool.free(small);
}

TEST(ResultPool, TheKernelMayTakeBackWhatWaits) {
  constexpr std::size_t kBytes = 8 * kMiB;
  ResultPool pool(kPlenty);
  std::byte* const block = pool.allocate(kBytes);
  std::memset(block, 1, kBytes);
  pool.free(block);
  EXPECT_EQ(resident_bytes(block, kBytes), kBytes);
  // Reclaims as under memory pressure; without swap only what is not needed.
  if (madvise(block, kBytes, MADV_PAGEOUT) != 0) GTEST_SKIP() << "this kernel cannot be asked to";
  EXPECT_EQ(resident_bytes(block, kBytes), 0);
  EXPECT_EQ(pool.allocate(kBytes), block);
  std::memset(block, 2, kBytes);
  EXPECT_EQ(block[kBytes - 1], std::byte{2});
  pool.free(block);
}

constexpr auto kSoon = std::chrono::milliseconds(50);
constexpr auto kLongEnough = std::chrono::seconds(20);

// Whether it holds within a time that any machine keeps.
template <typename Condition>
bool becomes_true(const Condition& condition) {
  const auto end = ResultPool::Clock::now() + kLongEnough;
  while (ResultPool::Clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

int threads_of_this_process() {
  return static_cast<int>(
      std::ranges::distance(std::filesystem::directory_iterator("/proc/self/task")));
}

TEST(ResultPool, WhatIsUnusedIsUnmappedWithoutACall) {
  ResultPool pool(kPlenty, kSoon);
  std::byte* const block = pool.allocate(8 * kMiB);
  std::memset(block, 1, 8 * kMiB);
  pool.free(block);
  EXPECT_TRUE(becomes_true([&] { return !is_mapped(block); }));
  EXPECT_EQ(pool.info().waiting, 0);
  std::byte* const another = pool.allocate(8 * kMiB);  // and again
  pool.free(another);
  EXPECT_TRUE(becomes_true([&] { return !is_mapped(another); }));
}

TEST(ResultPool, EachBlockWaitsFromWhenItWasFreed) {
  ResultPool pool(kPlenty, std::chrono::seconds(1));
  std::byte* const unused = pool.allocate(8 * kMiB);
  std::byte* const used = pool.allocate(16 * kMiB);
  pool.free(unused);
  pool.free(used);
  EXPECT_TRUE(becomes_true([&] {
    std::byte* const again = pool.allocate(16 * kMiB);
    pool.free(again);
    return !is_mapped(unused);
  }));
  EXPECT_TRUE(is_mapped(used));
  EXPECT_EQ(pool.info().waiting, 16 * kMiB);
}

TEST(ResultPool, AShorterWaitCountsAtOnce) {
  ResultPool pool(kPlenty, std::chrono::hours(1));
  pool.free(pool.allocate(8 * kMiB));
  pool.set_longest_wait(kSoon);
  EXPECT_EQ(pool.info().waiting, 0);
  std::byte* const block = pool.allocate(8 * kMiB);
  pool.free(block);
  EXPECT_TRUE(becomes_true([&] { return !is_mapped(block); }));
}

TEST(ResultPool, NoThreadRunsWhileNothingWaits) {
  ResultPool pool(kPlenty, kSoon);
  const int before = threads_of_this_process();
  std::byte* const block = pool.allocate(8 * kMiB);
  EXPECT_EQ(threads_of_this_process(), before);
  pool.free(block);
  EXPECT_TRUE(becomes_true([&] { return threads_of_this_process() == before; }));
  EXPECT_EQ(pool.info().waiting, 0);
}

TEST(ResultPool, NoThreadRunsDuringAFork) {
  ResultPool pool(kPlenty);
  const int before = threads_of_this_process();
  pool.free(pool.allocate(8 * kMiB));
  EXPECT_EQ(threads_of_this_process(), before + 1);
  pool.before_fork();
  EXPECT_TRUE(becomes_true([&] { return threads_of_this_process() == before; }));
  pool.after_fork();
  EXPECT_TRUE(holds_in_child(pool, [&] {
    const int without = threads_of_this_process();
    pool.free(pool.allocate(8 * kMiB));
    return pool.info().waiting == 8 * kMiB && threads_of_this_process() == without + 1;
  }));
}

TEST(ResultPool, APoolMayGoWhileBlocksWait) {
  std::byte* block = nullptr;
  {
    ResultPool pool(kPlenty);
    block = pool.allocate(8 * kMiB);
    pool.free(block);
  }
  EXPECT_FALSE(is_mapped(block));
}

TEST(ResultPool, TheThreadTakesNoSignals) {
  ResultPool pool(kPlenty);
  pool.free(pool.allocate(8 * kMiB));
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  static bool is_called = false;
  struct sigaction old{};
  struct sigaction action{};
  action.sa_handler = [](int) { is_called = true; };
  sigaction(SIGUSR1, &action, &old);
  kill(getpid(), SIGUSR1);  // for any thread that does not block it
  std::this_thread::sleep_for(kSoon);
  EXPECT_FALSE(is_called);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGUSR1), 1);
  int taken = 0;
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGUSR1);
  sigwait(&only, &taken);
  sigaction(SIGUSR1, &old, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(ResultPool, WhatCannotBeMarkedDoesNotWait) {
  ResultPool pool(kPlenty);
  std::byte* const block = pool.allocate(8 * kMiB);
  // Sanitizers make nothing of mlock().
  if (syscall(SYS_mlock, block, 4096) != 0) GTEST_SKIP() << "memory cannot be locked here";
  pool.free(block);
  EXPECT_EQ(pool.info().waiting, 0);
  EXPECT_FALSE(is_mapped(block));
}

TEST(ResultPool, WaitingBlocksMakeRoomWhenAddressSpaceEnds) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space of their own";
#endif
  ResultPool pool(kPlenty);
  EXPECT_TRUE(holds_in_child(pool, [&pool] {
    pool.free(pool.allocate(100 * kMiB));
    std::size_t pages = 0;
    if (FILE* const statm = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(statm, "%zu", &pages) != 1) return false;
      std::fclose(statm);
    }
    const rlim_t limit = pages * static_cast<std::size_t>(getpagesize()) + 60 * kMiB;
    const rlimit address_space{limit, limit};
    if (setrlimit(RLIMIT_AS, &address_space) != 0) return false;
    std::byte* const block = pool.allocate(140 * kMiB);
    if (pool.info().waiting != 0) return false;
    pool.free(block);
    try {
      pool.allocate(300 * kMiB);
    } catch (const std::bad_alloc&) {
      return true;
    }
    return false;
  }));
}

TEST(ResultPool, NothingWaitsAcrossAForkAndNeitherSideKeepsWhatIsShared) {
  ResultPool pool(kPlenty);
  std::byte* const shared = pool.allocate(8 * kMiB);
  std::byte* const waiting = pool.allocate(8 * kMiB);
  std::memset(shared, 1, 8 * kMiB);
  pool.free(waiting);
  EXPECT_TRUE(holds_in_child(pool, [&] {
    if (is_mapped(waiting) || pool.info().waiting != 0) return false;
    shared[0] = std::byte{2};  // its own copy
    pool.free(shared);
    if (is_mapped(shared) || pool.info().waiting != 0) return false;
    std::byte* const own = pool.allocate(8 * kMiB);
    pool.free(own);
    return pool.allocate(8 * kMiB) == own;
  }));
  EXPECT_FALSE(is_mapped(waiting));
  EXPECT_EQ(shared[0], std::byte{1});
  pool.free(shared);
  EXPECT_FALSE(is_mapped(shared));
  EXPECT_EQ(pool.info().waiting, 0);
}

TEST(ResultPool, ThreadsAllocateAndFreeForEachOther) {
  constexpr int kRounds = 300;
  ResultPool pool(16 * kMiB);
  std::vector<std::thread> threads;
  for (int number = 1; number <= 4; ++number) {
    threads.emplace_back([&pool, number] {
      for (int round = 0; round < kRounds; ++round) {
        std::byte* const block = pool.allocate(4 * kMiB);
        block[0] = block[4 * kMiB - 1] = std::byte(number);
        EXPECT_EQ(block[0], std::byte(number));
        EXPECT_EQ(block[4 * kMiB - 1], std::byte(number));
        if (round % 10 == 0) {
          std::thread([&pool, block] { pool.free(block); }).join();
        } else {
          pool.free(block);
        }
        if (round % 50 == 0) pool.set_limit((round % 100 == 0 ? 16 : 4) * kMiB);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(pool.info().waiting, 16 * kMiB);
  EXPECT_GT(pool.info().waiting, 0);
}

#if defined(__SANITIZE_ADDRESS__)
TEST(ResultPool, AddressSanitizerSeesWhatIsNotInUse) {
  ResultPool pool(kPlenty);
  std::byte* const block = pool.allocate(3 * kMiB);
  EXPECT_FALSE(__asan_address_is_poisoned(block + 3 * kMiB - 1));
  EXPECT_TRUE(__asan_address_is_poisoned(block + 3 * kMiB));
  pool.free(block);
  EXPECT_TRUE(__asan_address_is_poisoned(block));
  EXPECT_EQ(pool.allocate(4 * kMiB), block);
  EXPECT_FALSE(__asan_address_is_poisoned(block + 4 * kMiB - 1));
  pool.free(block);
  pool.set_limit(0);
  EXPECT_FALSE(__asan_address_is_poisoned(block));
}
#endif

}  // namespace
}  // namespace ttlg::cpu
