#include "cpu/threads/team.hpp"

#include <dirent.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cpu/threads/foreign_pool.hpp"
#include "cpu/threads/threads.hpp"
#include "plan/cpu/parameters.hpp"

namespace ttlg::cpu {
namespace {

using namespace std::chrono_literals;
using Range = std::pair<std::int64_t, std::int64_t>;

struct Taken {
  std::vector<Range> ranges;  // in ascending order
  std::set<std::thread::id> threads;
};

Taken share_out(Team& team, int threads, std::int64_t count, std::chrono::microseconds each = 0us) {
  std::mutex mutex;
  Taken taken;
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    std::this_thread::sleep_for(each);
    const std::lock_guard lock(mutex);
    taken.ranges.emplace_back(begin, end);
    taken.threads.insert(std::this_thread::get_id());
  };
  if (threads > 1 && count > 1) {
    team.run(threads, count, kSharesPerThread, work);
  } else {
    work(0, count);
  }
  std::ranges::sort(taken.ranges);
  return taken;
}

bool is_partition(const std::vector<Range>& ranges, std::int64_t count) {
  std::int64_t covered = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != covered || end <= begin) return false;
    covered = end;
  }
  return covered == count;
}

// A team whose workers wait before they begin until they are let go.
class HeldTeam : public Team {
 public:
  HeldTeam() : Team(kOneGroup) {
    before_beginning = [this] {
      ++waiting;
      while (held) std::this_thread::sleep_for(100us);
    };
  }
  ~HeldTeam() { held = false; }

  std::atomic<bool> held{true};
  std::atomic<int> waiting{0};

 private:
  inline static const CoreGroups kOneGroup{{}};
};

const CoreGroups kOneGroup{{}};

TEST(Team, CoversTheRangeOnceInSharesOfEqualSize) {
  Team team(kOneGroup);
  for (int threads = 1; threads <= 9; ++threads) {
    for (std::int64_t count = 1; count <= 200; count += 1 + count / 20) {
      const Taken taken = share_out(team, threads, count);
      ASSERT_TRUE(is_partition(taken.ranges, count)) << threads << " threads, " << count;
      ASSERT_GE(std::ssize(taken.ranges), std::min<std::int64_t>(threads, count));
      ASSERT_LE(std::ssize(taken.threads), threads);
      const std::int64_t size = count / std::ssize(taken.ranges);
      for (const auto& [begin, end] : taken.ranges) {
        ASSERT_GE(end - begin, size);
        ASSERT_LE(end - begin, size + 1);
      }
    }
  }
}

TEST(Team, CountsBeyond32Bits) {
  Team team(kOneGroup);
  constexpr std::int64_t kCount = (std::int64_t{1} << 40) + 1;
  EXPECT_TRUE(is_partition(share_out(team, 2, kCount).ranges, kCount));
}

TEST(Team, WorkersHelp) {
  Team team(kOneGroup);
  std::set<std::thread::id> threads;
  for (int call = 0; call < 100 && threads.size() < 2; ++call) {
    threads.merge(share_out(team, 2, 16, 1ms).threads);
  }
  EXPECT_EQ(threads.size(), 2);
  EXPECT_EQ(team.info().workers, 1);
}

TEST(Team, NobodyWaitsForAWorkerThatHasNotBegun) {
  HeldTeam team;
  std::vector<int> numbers;
  for (int call = 0; call < 50; ++call) {
    std::vector<std::int64_t> mine(64);  // gone when a worker that comes late begins
    team.run(4, 64, 1, [&](std::int64_t begin, std::int64_t end) {
      numbers.push_back(thread_number());
      if (team.waiting == 0) std::this_thread::sleep_for(20us);
      std::iota(mine.begin() + begin, mine.begin() + end, begin);
    });
    for (std::int64_t i = 0; i < 64; ++i) ASSERT_EQ(mine[static_cast<std::size_t>(i)], i);
  }
  EXPECT_GT(team.waiting, 0);
  EXPECT_EQ(std::ranges::count(numbers, 0), std::ssize(numbers)) << "all by the caller";
  team.held = false;
  // Those that were late take part in later calls.
  std::set<std::thread::id> threads;
  for (int call = 0; call < 100 && threads.size() < 2; ++call) {
    const Taken taken = share_out(team, 4, 64, 200us);
    ASSERT_TRUE(is_partition(taken.ranges, 64));
    threads.merge(std::set(taken.threads));
  }
  EXPECT_GE(threads.size(), 2);
}

// Fills the stack where the last call was, lets its worker go, and looks whether that wrote there.
[[gnu::noinline]] bool leaves_the_stack_alone(HeldTeam& team) {
  constexpr unsigned char kPattern = 0x5a;
  std::array<unsigned char, 1 << 16> memory;
  memory.fill(kPattern);
  asm volatile("" : : "r"(memory.data()) : "memory");
  team.held = false;
  std::this_thread::sleep_for(20ms);
  asm volatile("" : : "r"(memory.data()) : "memory");
  return std::ranges::count(memory, kPattern) == std::ssize(memory);
}

TEST(Team, AWorkerThatComesLateTouchesNothingOfTheCall) {
  HeldTeam team;
  for (int call = 0; call < 1000 && team.waiting == 0; ++call) {
    team.run(2, 8, 1, [](std::int64_t, std::int64_t) { std::this_thread::sleep_for(20us); });
  }
  ASSERT_GT(team.waiting, 0);
  EXPECT_TRUE(leaves_the_stack_alone(team));
}

TEST(Team, WaitsForAWorkerThatHasBegun) {
  Team team(kOneGroup);
  int helped = 0;
  for (int call = 0; call < 20; ++call) {
    std::atomic<bool> worker_began{false};
    std::atomic<int> done{0};
    const auto work = [&](std::int64_t, std::int64_t) {
      if (thread_number() == 0) {
        // The caller leaves shares as long as a worker may yet come for them.
        for (int i = 0; i < 200 && !worker_began; ++i) std::this_thread::sleep_for(100us);
      } else {
        worker_began = true;
        std::this_thread::sleep_for(20ms);
      }
      ++done;
    };
    team.run(2, 4, 2, work);
    ASSERT_EQ(done, 4);
    helped += worker_began;
  }
  EXPECT_GT(helped, 0);
}

TEST(Team, WorkersBeginWithSharesOfTheirOwn) {
  constexpr int kThreads = 4;
  constexpr std::int64_t kCount = 8 * kThreads * kSharesPerThread;
  Team team(kOneGroup);
  int with_own = 0;
  for (int call = 0; call < 200 && with_own < 3; ++call) {
    std::array<std::atomic<std::int64_t>, kThreads> first;
    for (auto& begin : first) begin = -1;
    const auto work = [&](std::int64_t begin, std::int64_t) {
      std::int64_t none = -1;
      first[static_cast<std::size_t>(thread_number())].compare_exchange_strong(none, begin);
      std::this_thread::sleep_for(100us);
    };
    team.run(kThreads, kCount, kSharesPerThread, work);
    // A thread that comes late may find its own shares done by others.
    for (std::size_t i = 1; i < kThreads; ++i) {
      with_own += first[i] == kCount * static_cast<std::int64_t>(i) / kThreads;
    }
  }
  EXPECT_GE(with_own, 3);
}

TEST(Team, ManyCallersShareIt) {
  Team team(kOneGroup);
  constexpr int kCallers = 8;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || defined(__aarch64__)
  constexpr int kCalls = 2'000;
#else
  constexpr int kCalls = 125'000;
#endif
  std::atomic<std::int64_t> wrong{0};
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < kCallers; ++caller) {
      callers.emplace_back([&, caller] {
        for (int call = 0; call < kCalls; ++call) {
          std::array<std::atomic<int>, 32> times{};
          const std::int64_t count = 2 + (call + caller) % 31;
          team.run(2 + call % 4, count, 1 + call % 3, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) ++times[static_cast<std::size_t>(i)];
          });
          for (std::size_t i = 0; i < times.size(); ++i) {
            wrong += times[i] != (static_cast<std::int64_t>(i) < count ? 1 : 0);
          }
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(team.info().workers, 4);
}

TEST(Team, ACallBesideOthersAsksOnlyForThreadsThatTheyLeave) {
  Team team(kOneGroup);
  while (team.info().workers < 3) share_out(team, 4, 64, 100us);
  const auto most_number = [&] {
    std::atomic<int> most{0};
    for (int call = 0; call < 20; ++call) {
      team.run(2, 32, 4, [&](std::int64_t, std::int64_t) {
        if (thread_number() > most) most = thread_number();
        std::this_thread::sleep_for(100us);
      });
    }
    return most.load();
  };
  std::atomic<bool> has_begun{false};
  std::atomic<bool> may_end{false};
  std::jthread other([&] {
    team.run(2, 2, 1, [&](std::int64_t, std::int64_t) {
      has_begun = true;
      while (!may_end) std::this_thread::sleep_for(100us);
    });
  });
  while (!has_begun) std::this_thread::sleep_for(100us);
  EXPECT_EQ(most_number(), 0) << "two workers are idle, but two threads are at work";
  may_end = true;
  other.join();
  EXPECT_EQ(most_number(), 1);
}

TEST(Team, ManyThreads) {
  for (const int threads : {64, 256}) {
    // Sixteen processors a group.
    std::vector<int> group_of(static_cast<std::size_t>(threads));
    for (std::size_t i = 0; i < group_of.size(); ++i) group_of[i] = static_cast<int>(i / 16);
    const CoreGroups groups(group_of);
    Team team(groups);
    constexpr int kCalls = 20;
    for (int call = 0; call < kCalls; ++call) {
      const Taken taken = share_out(team, threads, 10'000);
      ASSERT_TRUE(is_partition(taken.ranges, 10'000));
    }
    EXPECT_LE(team.info().workers, threads - 1);
    // Each worker sleeps once a call at most, and is woken once; the caller sleeps once for each
    // that it waits for.
    EXPECT_LE(team.info().futex_calls, kCalls * 4 * threads);
  }
}

TEST(Shares, EachThreadBeginsWithItsOwnQueue) {
  for (int number = 0; number < 4; ++number) {
    Shares shares(4, 800, 10);
    std::vector<std::int64_t> begins;
    const auto note = [&](std::int64_t begin, std::int64_t) { begins.push_back(begin); };
    EXPECT_EQ(shares.take(number, GroupOfCores{}, note, [] {}), 40);
    for (int i = 0; i < 40; ++i)
      EXPECT_EQ(begins[static_cast<std::size_t>(i)], (200 * number + 20 * i) % 800);
  }
}

TEST(Shares, EachGroupOfCoresBeginsWithItsOwnPart) {
  for (int number = 0; number < 8; ++number) {
    for (int group = 0; group < 4; ++group) {
      Shares shares(8, 800, 10);
      std::vector<std::int64_t> begins;
      const auto note = [&](std::int64_t begin, std::int64_t) { begins.push_back(begin); };
      const GroupOfCores here{.number = group, .count = 4};
      EXPECT_EQ(shares.take(number, here, note, [] {}), 80);
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

TEST(Team, StartingTakesAMeasuredTime) {
  // A worker that does not begin at once, on a busy machine, is not measured.
  for (int i = 0; i < 100; ++i) {
    Team team(kOneGroup);
    const Team::Delays delays = team.delays();
    EXPECT_GE(delays.awake, 0);
    EXPECT_GE(delays.asleep, 0);
    EXPECT_LT(delays.awake, 1e-2);
    EXPECT_LT(delays.asleep, 1e-2);
    EXPECT_EQ(team.delays().asleep, delays.asleep) << "once";
    EXPECT_EQ(team.info().workers, 1);
    if (delays.awake > 0 && delays.asleep > 0) return;
  }
  ADD_FAILURE() << "no worker began";
}

std::vector<std::string> names_of_threads() {
  std::vector<std::string> names;
  DIR* const tasks = opendir("/proc/self/task");
  while (const dirent* const task = readdir(tasks)) {
    std::ifstream file("/proc/self/task/" + std::string(task->d_name) + "/comm");
    std::string name;
    if (file >> name) names.push_back(name);
  }
  closedir(tasks);
  return names;
}

int usable_processors() {
  cpu_set_t usable;
  return sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : -1;
}

TEST(Team, ThreadsHaveNamesAndTakeNoSignals) {
#if defined(__aarch64__)
  GTEST_SKIP() << "qemu-user shows its own threads";
#endif
  Team team(kOneGroup);
  share_out(team, 3, 100);
  const auto has_both = [] {
    const std::vector<std::string> names = names_of_threads();
    return std::ranges::count(names, "ttlg-1") == 1 && std::ranges::count(names, "ttlg-2") == 1;
  };
  for (int i = 0; i < 1000 && !has_both(); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(has_both());
  const int processors = usable_processors();
  std::atomic<int> unmasked{0};
  std::atomic<int> kept_away{0};
  for (int call = 0; call < 20; ++call) {
    std::this_thread::sleep_for(2ms);  // they fall asleep
    team.run(3, 64, 1, [&](std::int64_t, std::int64_t) {
      sigset_t mask;
      pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      if (thread_number() > 0) unmasked += sigismember(&mask, SIGINT) == 0;
      kept_away += usable_processors() != processors;
      std::this_thread::sleep_for(100us);
    });
  }
  EXPECT_EQ(unmasked, 0);
  EXPECT_EQ(kept_away, 0) << "only until they run";
}

std::int64_t ticks_of_this_process() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

TEST(Team, NobodySpinsAMillisecondAfterACall) {
  Team team(kOneGroup);
  share_out(team, 4, 1000);
  std::this_thread::sleep_for(1ms);
  const std::int64_t before = ticks_of_this_process();
  std::this_thread::sleep_for(50ms);
  EXPECT_LT(ticks_of_this_process() - before, 2'000'000);
}

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

using Task = std::pair<void (*)(void*), void*>;

// Keeps its tasks until it is told to run them.
class LatePool : public ForeignPool {
 public:
  int threads() const override { return 4; }
  bool schedule(void (*task)(void*), void* data) override {
    if (std::ssize(tasks) == most) return false;
    tasks.emplace_back(task, data);
    return true;
  }
  void run_all() {
    for (const auto& [task, data] : std::exchange(tasks, {})) task(data);
  }

  std::vector<Task> tasks;
  std::int64_t most = 1000;
};

TEST(ForeignPool, TasksThatComeLateFindTheCallClosed) {
  LatePool pool;
  pool.most = 2;
  {
    std::vector<int> times(100);
    std::set<int> numbers;
    const GuestOf guest(pool);
    parallel_ranges(8, 100, 2, [&](std::int64_t begin, std::int64_t end) {
      numbers.insert(thread_number());
      for (std::int64_t i = begin; i < end; ++i) ++times[static_cast<std::size_t>(i)];
    });
    EXPECT_EQ(std::ranges::count(times, 1), 100);
    EXPECT_EQ(numbers, std::set{0});
  }
  EXPECT_EQ(pool.tasks.size(), 2) << "three were to be asked, and the third was refused";
  pool.run_all();
  EXPECT_EQ(host_pool(), nullptr);
}

class InlinePool : public ForeignPool {
 public:
  int threads() const override { return 3; }
  bool schedule(void (*task)(void*), void* data) override {
    task(data);
    return true;
  }
};

TEST(ForeignPool, TheCallerMayRunTheTasks) {
  InlinePool pool;
  const GuestOf guest(pool);
  std::vector<int> times(50);
  std::vector<int> numbers;
  parallel_ranges(8, 50, 1, [&](std::int64_t begin, std::int64_t end) {
    numbers.push_back(thread_number());
    for (std::int64_t i = begin; i < end; ++i) ++times[static_cast<std::size_t>(i)];
  });
  EXPECT_EQ(std::ranges::count(times, 1), 50);
  EXPECT_EQ(numbers, (std::vector{1, 1, 1})) << "three members, and the first task found all";
  EXPECT_EQ(thread_number(), 0);
  EXPECT_FALSE(is_in_call());
}

class ThreadPerTask : public ForeignPool {
 public:
  int threads() const override { return 4; }
  bool schedule(void (*task)(void*), void* data) override {
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([=] { task(data); });
    return true;
  }

 private:
  std::mutex mutex_;
  std::vector<std::jthread> threads_;
};

TEST(ForeignPool, HelpsAndIsWaitedFor) {
  ThreadPerTask pool;
  std::set<int> numbers;
  std::mutex mutex;
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
  EXPECT_GT(numbers.size(), 1);
  EXPECT_LE(*numbers.rbegin(), 3);
}

TEST(ParallelRanges, WorkInAForkedChildWhoseParentHasATeam) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer starts no threads in a forked child";
#endif
#if defined(__aarch64__)
  GTEST_SKIP() << "qemu-user fails an assertion of its own where a program with threads forks";
#endif
  const auto is_right = [] { return is_partition(share_out(team(), 4, 100, 10us).ranges, 100); };
  EXPECT_TRUE(is_right());
  const int workers = team().info().workers;
  EXPECT_GT(workers, 0);
  std::atomic<bool> stop{false};
  // Forks while others are in calls.
  std::jthread other([&] {
    while (!stop) EXPECT_TRUE(is_right());
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // waiting for threads that the child does not have would take for ever
      const bool begins_anew = team().info().workers == 0;
      const bool right = is_right() && is_right() && team().info().workers > 0;
      _exit(begins_anew && right ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(is_right());
  }
  stop = true;
}

}  // namespace
}  // namespace ttlg::cpu
