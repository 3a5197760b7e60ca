// Threads: how many a plan may use, and how a range of blocks is shared among them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
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

// Number of the calling thread in its team, from 0.
int thread_number();

// Shares that are not taken yet, on a line of their own.
struct alignas(64) ShareQueue {
  std::atomic<std::int64_t> next;
  std::int64_t end;
};

// Teams above this size have several threads to a queue.
inline constexpr int kMaxShareQueues = 64;

// Calls work(begin, end) on contiguous shares of 0..count-1. Every thread begins with shares of its
// own, the same ones in each call, so that what fits its caches is found there again and lines do
// not move from core to core; after that it takes those that slower threads have left.
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
  const int queues = std::min(team, kMaxShareQueues);
  std::array<ShareQueue, kMaxShareQueues> queue;
  for (int q = 0; q < queues; ++q) {
    const auto i = static_cast<std::size_t>(q);
    queue[i].next.store(shares * q / queues, std::memory_order_relaxed);
    queue[i].end = shares * (q + 1) / queues;
  }
  const auto run_shares = [&] {
#pragma omp parallel num_threads(team)
    for (int q = 0, number = thread_number(); q < queues; ++q) {
      ShareQueue& own = queue[static_cast<std::size_t>((number + q) % queues)];
      const auto take = [&] { return own.next.fetch_add(1, std::memory_order_relaxed); };
      for (std::int64_t share = take(); share < own.end; share = take()) {
        const std::int64_t begin = share * each + std::min(share, rest);
        work(begin, begin + each + (share < rest));
      }
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
