#include "cpu/threads.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "plan/cpu/parameters.hpp"

namespace ttlg::cpu {
namespace {

std::atomic<int> chosen_threads{0};

int usable_processors() {
  cpu_set_t usable;
  // Fails where there are more processors than fit.
  const int count = sched_getaffinity(0, sizeof usable, &usable) == 0
                        ? CPU_COUNT(&usable)
                        : static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(count, 1, kMaxThreads);
}

}  // namespace

int num_threads() {
  static const int usable = usable_processors();
  const int chosen = chosen_threads.load(std::memory_order_relaxed);
  return chosen > 0 ? chosen : usable;
}

void set_num_threads(int threads) { chosen_threads.store(threads); }

}  // namespace ttlg::cpu
