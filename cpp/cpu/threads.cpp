#include "cpu/threads.hpp"

#include <pthread.h>

#include <atomic>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace ttlg::cpu {
namespace {

std::atomic<int> chosen_threads{0};
std::atomic<bool> pool_is_up{false};
std::atomic<bool> pool_is_lost{false};

void note_fork_in_child() {
  if (pool_is_up.load()) pool_is_lost.store(true);
}

}  // namespace

bool has_openmp() {
#if defined(_OPENMP)
  return true;
#else
  return false;
#endif
}

int num_threads() {
  const int chosen = chosen_threads.load(std::memory_order_relaxed);
  if (chosen > 0) return chosen;
#if defined(_OPENMP)
  return omp_get_max_threads();
#else
  return 1;
#endif
}

void set_num_threads(int threads) { chosen_threads.store(threads); }

int usable_threads(int wanted) {
  if (wanted <= 1 || !has_openmp() || pool_is_lost.load(std::memory_order_relaxed)) return 1;
  if (!pool_is_up.exchange(true)) pthread_atfork(nullptr, nullptr, note_fork_in_child);
  return wanted;
}

}  // namespace ttlg::cpu
