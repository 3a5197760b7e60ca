// The threads that help with calls.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>

#include "cpu/threads/core_groups.hpp"
#include "cpu/threads/shares.hpp"

namespace ttlg::cpu {

// A caller does the shares of its call itself, beside the workers that have come to help, and
// returns when no share is left and every worker that took one is done. A worker that the system
// has not scheduled by then finds that it is no longer asked for. OpenMP and pools with a barrier
// wait for it, on busy machines for as long as the time slice of another process.
//
// Any number of threads may call at once: each asks workers that are idle, and there are never more
// threads at work than the largest call alone would have, besides the callers themselves.
//
// Workers watch for the next call for a fraction of a millisecond and sleep after that, at once
// where they have to share their core. What waking them and waiting for them takes is limited to a
// part of the time that calls take (`Budget`).
class Team {
 public:
  using Clock = std::chrono::steady_clock;

  // The groups must outlive it.
  explicit Team(const CoreGroups& groups);
  ~Team();  // without a call in it
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Calls work(begin, end) for shares of 0..count-1, `shares_per_thread` for each of at most
  // `threads` threads, the caller being one of them. Both are 2 or more.
  void run(int threads, std::int64_t count, std::int64_t shares_per_thread, const RangeWork& work);

  // What it takes, in seconds, until a worker begins: one that watches for calls, and one that
  // sleeps. Measured once, with one worker; 0 where the system allows no thread.
  struct Delays {
    double awake = 0;
    double asleep = 0;
  };
  Delays delays();

  struct Info {
    int workers = 0;
    std::int64_t futex_calls = 0;  // of all threads up to now
  };
  Info info() const;

  // For tests: called by a worker that has been asked, before it looks whether it still is.
  std::function<void()> before_beginning;

 private:
  struct Worker;
  struct Call;
  using Nanoseconds = std::int64_t;

  // For the caller.
  void ask_workers(Call& call, bool wake);
  void offer(Call& call, Worker& worker);
  bool start_worker(Call& call);
  Nanoseconds dismiss(Call& call);
  static bool make_free(Worker& worker);
  void await(Worker& worker);
  void settle(const Call& call, Nanoseconds took, Nanoseconds waited, std::int64_t own_shares);
  Nanoseconds fastest_start(bool asleep);

  // For workers.
  void serve(Worker& worker);
  bool await_offer(Worker& worker);
  void watch(const Worker& worker);
  void help(Worker& worker);

  // For both.
  void wake_some(Call& call, int max_count);
  static void keep_away(Worker& worker, std::initializer_list<int> processors);
  bool is_crowded(Nanoseconds time) const;
  void note_crowd(Nanoseconds time);
  void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t value);
  void wake_from(std::atomic<std::uint32_t>& word);

  const CoreGroups& groups_;
  std::mutex starting_;
  std::unique_ptr<std::unique_ptr<Worker>[]> workers_;
  std::atomic<int> started_{0};
  std::atomic<int> busy_{0};  // callers, and workers that have been asked
  // What may be spent on waking workers and on waiting for them; less than nothing after a long
  // wait, until calls without help have made up for it.
  std::atomic<Nanoseconds> budget_;
  std::atomic<Nanoseconds> crowded_until_{0};
  std::atomic<Nanoseconds> no_waking_until_{0};
  std::atomic<std::int64_t> futex_calls_{0};
  std::once_flag measured_;
  Delays delays_;
};

// This process's. A forked child begins with a new one.
Team& team();

}  // namespace ttlg::cpu
