#include "cpu/threads/team.hpp"

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
#include <filesystem>
#include <fstream>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

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

const CoreGroups kOneGroup{{}};

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
};

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

// The threads that take part in calls, of which at least two are needed.
std::set<std::thread::id> helping_threads(Team& team, int threads) {
  std::set<std::thread::id> found;
  for (int call = 0; call < 100 && found.size() < 2; ++call) {
    Taken taken = share_out(team, threads, 64, 250us);
    EXPECT_TRUE(is_partition(taken.ranges, 64));
    found.merge(taken.threads);
  }
  return found;
}

TEST(Team, WorkersHelp) {
  Team team(kOneGroup);
  EXPECT_EQ(helping_threads(team, 2).size(), 2);
  EXPECT_EQ(team.info().workers, 1);
}

TEST(Team, NoCallWaitsForAWorkerThatHasNotBegun) {
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
  EXPECT_GE(helping_threads(team, 4).size(), 2) << "those that were late help with later calls";
}

// Fills the stack where the last call was, lets its worker go, and says whether it wrote nothing
// there.
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
  const auto max_number = [&] {
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
  EXPECT_EQ(max_number(), 0) << "two workers are idle, but two threads are at work";
  may_end = true;
  other.join();
  EXPECT_EQ(max_number(), 1);
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
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    if (file >> name) names.push_back(name);
  }
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

TEST(Team, NoThreadSpinsAMillisecondAfterACall) {
  Team team(kOneGroup);
  share_out(team, 4, 1000);
  std::this_thread::sleep_for(1ms);
  const std::int64_t before = ticks_of_this_process();
  std::this_thread::sleep_for(50ms);
  EXPECT_LT(ticks_of_this_process() - before, 2'000'000);
}

TEST(Team, WorksInAForkedChildWhoseParentHasATeam) {
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
      alarm(20);  // it would wait forever for threads that it does not have
      const bool starts_empty = team().info().workers == 0;
      const bool right = is_right() && is_right() && team().info().workers > 0;
      _exit(starts_empty && right ? 0 : 1);
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
