#include "cpu/threads/threads.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "cpu/threads/foreign_pool.hpp"
#include "cpu/threads/team.hpp"
#include "plan/cpu/parameters.hpp"

namespace ttlg::cpu {
namespace {

int usable_processors() {
  cpu_set_t usable;
  // Fails where there are more processors than fit.
  const int count = sched_getaffinity(0, sizeof usable, &usable) == 0
                        ? CPU_COUNT(&usable)
                        : static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(count, 1, kMaxThreads);
}

std::atomic<int> chosen{0};
std::atomic<int> by_default{usable_processors()};
std::atomic<int> limit{0};

int unlimited_num_threads() {
  const int number = chosen.load(std::memory_order_relaxed);
  return number > 0 ? number : by_default.load(std::memory_order_relaxed);
}

}  // namespace

int num_threads() {
  const int number = unlimited_num_threads();
  const int max_number = limit.load(std::memory_order_relaxed);
  return max_number > 0 ? std::min(number, max_number) : number;
}

int chosen_num_threads() {
  return limit.load(std::memory_order_relaxed) > 0 ? num_threads()
                                                   : chosen.load(std::memory_order_relaxed);
}

void choose_num_threads(int threads) { chosen.store(threads); }

void limit_num_threads(int threads) {
  limit.store(threads < unlimited_num_threads() ? std::max(threads, 1) : 0);
}

void parallel_ranges(int threads, std::int64_t count, std::int64_t shares_per_thread,
                     const RangeWork& work) {
  if (threads <= 1 || count <= 1) {
    work(0, count);  // under the number that this thread has already
  } else if (is_in_call()) {
    const Part part(0);
    work(0, count);
  } else if (ForeignPool* const pool = host_pool()) {
    pool->run(threads, count, shares_per_thread, work);
  } else {
    team().run(threads, count, shares_per_thread, work);
  }
}

void set_default_num_threads(int threads) { by_default.store(threads); }

}  // namespace ttlg::cpu
