#include "cpu/threads.hpp"

#include <pthread.h>

#include <atomic>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace ttlg::cpu {
namespace {

std::atomic<int> chosen_threads{0};
std::atomic<bool> forked{false};
// Watches from the moment this library is loaded: the pool that a fork loses may be another
// library's.
const int watching_forks = pthread_atfork(nullptr, nullptr, [] { forked.store(true); });

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

int thread_number() {
#if defined(_OPENMP)
  return omp_get_thread_num();
#else
  return 0;
#endif
}

void set_num_threads(int threads) { chosen_threads.store(threads); }

bool is_forked_child() { return watching_forks == 0 && forked.load(std::memory_order_relaxed); }

}  // namespace ttlg::cpu
