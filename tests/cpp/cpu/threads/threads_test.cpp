// Calls that share their work among threads: of the team or of a pool that is not ttlg's.
#include "cpu/threads/threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "cpu/threads/foreign_pool.hpp"
#include "cpu/threads/team.hpp"

namespace ttlg::cpu {
namespace {

using namespace std::chrono_literals;

TEST(NumThreads, IsWhatWasChosenOrTheDefault) {
  const int by_default = num_threads();
  EXPECT_GE(by_default, 1);
  EXPECT_EQ(chosen_num_threads(), 0);
  choose_num_threads(5);
  EXPECT_EQ(num_threads(), 5);
  set_default_num_threads(3);
  EXPECT_EQ(num_threads(), 5);
  choose_num_threads(0);
  EXPECT_EQ(num_threads(), 3);
  set_default_num_threads(by_default);
}

TEST(ParallelRanges, ACallWithinACallIsDoneByOneThread) {
  constexpr int kCalls = 20;
  std::atomic<int> outer_shares{0};
  std::atomic<int> inner{0};
  const auto outer = [&](std::int64_t, std::int64_t) {
    ++outer_shares;
    const int number = thread_number();
    const auto me = std::this_thread::get_id();
    parallel_ranges(4, 8, 1, [&](std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), me);
      EXPECT_EQ(thread_number(), 0);
      std::this_thread::sleep_for(50us);  // in which others could come
      inner += static_cast<int>(end - begin);
    });
    EXPECT_EQ(thread_number(), number);
    // One thread of a call is still that thread.
    parallel_ranges(1, 8, 1,
                    [&](std::int64_t, std::int64_t) { EXPECT_EQ(thread_number(), number); });
  };
  for (int call = 0; call < kCalls; ++call) parallel_ranges(3, 6, 1, outer);
  EXPECT_GE(outer_shares, kCalls * 3);
  EXPECT_EQ(inner, outer_shares * 8);
}

using Task = std::function<void()>;

// Calls schedule(task) with what it is asked to run.
class TestPool : public ForeignPool {
 public:
  TestPool(int threads, std::function<bool(Task)> schedule)
      : threads_(threads), schedule_(std::move(schedule)) {}
  int threads() const override { return threads_; }
  bool schedule(void (*task)(void*), void* data) override {
    return schedule_([=] { task(data); });
  }

 private:
  int threads_;
  std::function<bool(Task)> schedule_;
};

TEST(ForeignPool, TasksThatComeLateFindTheCallClosed) {
  std::vector<Task> tasks;
  int asked = 0;
  TestPool pool(4, [&](Task task) {
    if (++asked == 3) return false;
    tasks.push_back(std::move(task));
    return true;
  });
  {
    std::vector<int> times(100);
    std::set<int> numbers;
    const GuestOf guest(pool);
    parallel_ranges(8, 100, 2, [&](std::int64_t begin, std::int64_t end) {
      numbers.insert(thread_number());
      for (std::int64_t i = begin; i < end; ++i) ++times[static_cast<std::size_t>(i)];
    });
    EXPECT_EQ(times, std::vector(100, 1));
    EXPECT_EQ(numbers, std::set{0});
  }
  EXPECT_EQ(asked, 3) << "of four threads, all but the caller";
  EXPECT_EQ(tasks.size(), 2) << "the third was refused";
  for (const Task& task : tasks) task();
  EXPECT_EQ(host_pool(), nullptr);
}

TEST(ForeignPool, TheCallerMayRunTheTasks) {
  TestPool pool(3, [](const Task& task) {
    task();
    return true;
  });
  const GuestOf guest(pool);
  std::vector<int> times(50);
  std::vector<int> numbers;
  parallel_ranges(8, 50, 1, [&](std::int64_t begin, std::int64_t end) {
    numbers.push_back(thread_number());
    for (std::int64_t i = begin; i < end; ++i) ++times[static_cast<std::size_t>(i)];
  });
  EXPECT_EQ(times, std::vector(50, 1));
  EXPECT_EQ(numbers, (std::vector{1, 1, 1})) << "three members, and the first task found all";
  EXPECT_EQ(thread_number(), 0);
  EXPECT_FALSE(is_in_call());
}

TEST(ForeignPool, HelpsAndIsWaitedFor) {
  std::set<int> numbers;
  std::mutex mutex;
  std::vector<std::jthread> threads;
  TestPool pool(4, [&](Task task) {
    const std::lock_guard lock(mutex);
    threads.emplace_back(std::move(task));
    return true;
  });
  for (int call = 0; call < 100; ++call) {
    const GuestOf guest(pool);
    std::array<std::atomic<int>, 64> times{};
    parallel_ranges(4, 64, 4, [&](std::int64_t begin, std::int64_t end) {
      {
        const std::lock_guard lock(mutex);
        numbers.insert(thread_number());
      }
      std::this_thread::sleep_for(50us);
      for (std::int64_t i = begin; i < end; ++i) ++times[static_cast<std::size_t>(i)];
    });
    for (const auto& each : times) ASSERT_EQ(each, 1);
  }
  threads.clear();  // joins
  EXPECT_GT(numbers.size(), 1);
  EXPECT_LE(*numbers.rbegin(), 3);
}

// Which shares a thread takes, and in which order: where those of 0 to 800 begin that one thread of
// a call takes alone.
std::vector<std::int64_t> begins_of(int queues, int number, const GroupOfCores& here) {
  Shares shares(queues, 800, 10);
  std::vector<std::int64_t> begins;
  const auto note = [&](std::int64_t begin, std::int64_t) { begins.push_back(begin); };
  const std::int64_t taken = shares.take(number, here, note, [] {});
  EXPECT_EQ(taken, std::ssize(begins));
  return begins;
}

TEST(Shares, EachThreadBeginsWithItsOwnQueue) {
  for (int number = 0; number < 4; ++number) {
    const std::vector<std::int64_t> begins = begins_of(4, number, GroupOfCores{});
    ASSERT_EQ(begins.size(), 40U);
    for (int i = 0; i < 40; ++i) {
      EXPECT_EQ(begins[static_cast<std::size_t>(i)], (200 * number + 20 * i) % 800);
    }
  }
}

TEST(Shares, EachGroupOfCoresBeginsWithItsOwnPart) {
  for (int number = 0; number < 8; ++number) {
    for (int group = 0; group < 4; ++group) {
      std::vector<std::int64_t> begins = begins_of(8, number, {.number = group, .count = 4});
      ASSERT_EQ(begins.size(), 80U);
      EXPECT_EQ(begins.front(), 200 * group + 100 * (number % 2));
      for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(begins[i] / 200, group);
      std::ranges::sort(begins);
      for (std::size_t i = 0; i < 80; ++i) EXPECT_EQ(begins[i], 10 * i);
    }
  }
}

TEST(Shares, MoreGroupsThanQueues) {
  for (int group = 0; group < 16; ++group) {
    Shares shares(2, 10, 1);
    std::int64_t covered = 0;
    const auto add = [&](std::int64_t begin, std::int64_t end) { covered += end - begin; };
    shares.take(1, {.number = group, .count = 16}, add, [] {});
    EXPECT_EQ(covered, 10);
  }
}

TEST(CoreGroups, UnknownProcessorsAreInTheFirst) {
  const CoreGroups groups({0, 0, 1, 1, 2});
  EXPECT_EQ(groups.of(3).number, 1);
  EXPECT_EQ(groups.of(4).number, 2);
  EXPECT_EQ(groups.of(4).count, 3);
  EXPECT_EQ(groups.of(5).number, 0);
  EXPECT_EQ(groups.of(-1).number, 0);
  EXPECT_EQ(CoreGroups({}).of(0).count, 1);
  const GroupOfCores here = CoreGroups::of_this_machine().here();
  EXPECT_LT(here.number, here.count);
}

}  // namespace
}  // namespace ttlg::cpu
