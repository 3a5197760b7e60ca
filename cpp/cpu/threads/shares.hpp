// How a range of blocks is shared among the threads of a call.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "cpu/threads/core_groups.hpp"

namespace ttlg::cpu {

// What is done with a share: calls the function object that it was made from, which must outlive it
// and throws nothing.
class RangeWork {
 public:
  template <typename Work>
  RangeWork(const Work& work)
      : work_(&work), call_([](const void* object, std::int64_t begin, std::int64_t end) {
          (*static_cast<const Work*>(object))(begin, end);
        }) {}
  void operator()(std::int64_t begin, std::int64_t end) const { call_(work_, begin, end); }

 private:
  const void* work_;
  void (*call_)(const void*, std::int64_t, std::int64_t);
};

// Contiguous shares of 0..count-1 of about the same size, in queues. Every thread begins with a
// queue of its own, the same one in each call, so that what fits its caches is found there again
// and lines do not move from core to core; after that it takes what slower threads have left.
class Shares {
 public:
  Shares(int threads, std::int64_t count, std::int64_t shares_per_thread)
      : shares_(std::min(count, threads * shares_per_thread)),
        each_(count / shares_),
        rest_(count % shares_),
        queues_(static_cast<int>(std::min<std::int64_t>({threads, shares_, kMaxQueues}))) {
    for (int q = 0; q < queues_; ++q) {
      queue(q).next.store(shares_ * q / queues_, std::memory_order_relaxed);
      queue(q).end = shares_ * (q + 1) / queues_;
    }
  }

  // Takes shares as long as there are any, the thread's own first and those of its group of cores
  // next, and calls work(begin, end) for each and then between(), to do something else in between.
  // Returns how many it took.
  template <typename Between>
  std::int64_t take(int number, const GroupOfCores& group, const RangeWork& work,
                    const Between& between) {
    // The queues are divided among the groups, as the threads are expected to be.
    const int first = queues_ * group.number / group.count;
    const int own = std::max(1, queues_ * (group.number + 1) / group.count - first);
    std::int64_t taken = 0;
    for (int i = 0; i < queues_; ++i) {
      const int q = (first + (i < own ? (number + i) % own : i)) % queues_;
      for (std::int64_t share; (share = next_of(queue(q))) >= 0; ++taken) {
        const std::int64_t begin = share * each_ + std::min(share, rest_);
        work(begin, begin + each_ + (share < rest_));
        between();
      }
    }
    return taken;
  }

 private:
  // Larger teams have several threads to a queue.
  static constexpr int kMaxQueues = 64;

  // On lines of their own, and on none that processors fetch along with a neighbour's.
  struct alignas(128) Queue {
    std::atomic<std::int64_t> next;
    std::int64_t end;
  };

  Queue& queue(int number) { return queue_[static_cast<std::size_t>(number)]; }

  static std::int64_t next_of(Queue& queue) {
    if (queue.next.load(std::memory_order_relaxed) >= queue.end) return -1;
    const std::int64_t share = queue.next.fetch_add(1, std::memory_order_relaxed);
    return share < queue.end ? share : -1;
  }

  std::int64_t shares_;
  std::int64_t each_;
  std::int64_t rest_;  // how many shares have one more
  int queues_;
  std::array<Queue, kMaxQueues> queue_;
};

}  // namespace ttlg::cpu
