// Threads: how many a plan may use, and how a range of blocks is shared among them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>

#include "plan/cpu/parameters.hpp"

namespace ttlg::cpu {

// The number set with set_num_threads, else what OpenMP would use (OMP_NUM_THREADS, threadpoolctl).
int num_threads();

// 0 goes back to OpenMP's choice.
void set_num_threads(int threads);

bool has_openmp();

// Whether this process was forked from one that had loaded this library.
bool is_forked_child();

// Calls work(begin, end) on contiguous shares of 0..count-1.
template <typename Work>
void parallel_ranges(int threads, std::int64_t count, const Work& work) {
  const int team = has_openmp() ? static_cast<int>(std::min<std::int64_t>(threads, count)) : 1;
  if (team <= 1) {
    work(std::int64_t{0}, count);
    return;
  }
  const std::int64_t shares = std::min(count, team * kSharesPerThread);
  const std::int64_t each = count / shares;
  const std::int64_t rest = count % shares;
  const auto run_shares = [&] {
#pragma omp parallel for num_threads(team) schedule(dynamic, 1)
    for (std::int64_t share = 0; share < shares; ++share) {
      const std::int64_t begin = share * each + std::min(share, rest);
      work(begin, begin + each + (share < rest));
    }
  };
  if (is_forked_child()) {
    // OpenMP may still count on worker threads of the forking thread, which did not survive the
    // fork, and would wait for them forever. A new thread has a team of its own.
    std::thread(run_shares).join();
  } else {
    run_shares();
  }
}

}  // namespace ttlg::cpu
