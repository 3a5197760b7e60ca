// Memory for large results, kept for the next one when it is freed. The C library maps memory for
// each large array and unmaps it again, and the kernel zeroes every page that is mapped, which
// takes as long as writing the result does.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <vector>

namespace ttlg::cpu {

// Huge pages for memory that a library has just allocated: a fault for each page of 4 KiB can take
// three times as long as the transposition that writes to it.
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

// NumPy asks for huge pages from here on, and so does ttlg.
inline constexpr std::size_t kHugeFromBytes = std::size_t{4} << 20;

// Asks for huge pages where whole ones fit, and for what is beside them at once. To be called
// before the first write to memory that malloc may have mapped; contents stay as they are. A kernel
// that refuses does no harm.
void prepare_new_memory(std::byte* start, std::size_t bytes);

// Blocks of whole huge pages. Those that wait to be used again are marked MADV_FREE: the kernel
// takes their pages back when memory is short. On huge pages neither the mark nor writing to the
// page again takes time that counts. What the kernel does not mark does not wait, and nothing waits
// long, because pages that are marked still count as the process's memory: a thread that lives only
// while blocks wait unmaps those that were not used. Safe for any number of threads, and across
// fork().
class ResultPool {
 public:
  using Clock = std::chrono::steady_clock;

  // Longer than between two calls of a program that makes one result after the other, shorter than
  // a supervisor takes to act on the memory that it sees.
  static constexpr Clock::duration kLongestWait = std::chrono::seconds(1);

  // `limit`: of the bytes that wait.
  explicit ResultPool(std::size_t limit, Clock::duration longest_wait = kLongestWait)
      : limit_(limit), longest_wait_(longest_wait) {}

  // For blocks that are freed from now on; unmaps what waits.
  void set_longest_wait(Clock::duration longest_wait);

  // A block that begins at a huge page; throws bad_alloc.
  std::byte* allocate(std::size_t bytes);

  // The bytes that were asked for where a block in use begins, 0 anywhere else.
  std::size_t size_of(const void* start) const;

  // Frees a block that is in use.
  void free(const void* start);

  // Unmaps what has waited longest until the rest is within the limit.
  void set_limit(std::size_t limit);

  struct Info {
    std::size_t limit = 0;
    std::size_t waiting = 0;  // bytes

    bool operator==(const Info&) const = default;
  };
  Info info() const;

  // Around fork(). Nothing waits across it, and the thread ends before it. The blocks in use are
  // shared with the child from then on, so that the kernel could not mark them: neither process
  // keeps them when it frees them.
  void before_fork();
  void after_fork();

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* start) const;
  };
  using Block = std::unique_ptr<std::byte, Unmap>;
  struct Used {
    Block block;
    std::size_t bytes = 0;  // asked for
    bool is_shared = false;
  };

  struct Waiting {
    Block block;
    Clock::time_point until;
    std::size_t bytes() const { return block.get_deleter().bytes; }
  };

  static Block map(std::size_t bytes);

  // The thread: unmaps what has waited long enough until nothing waits.
  void unmap_unused(const std::stop_token& stop);

  // Call these with the mutex held.
  Block take_waiting(std::size_t bytes);
  void unmap_waiting_beyond(std::size_t limit);
  void unmap_waiting(std::unique_lock<std::mutex>& lock);  // and ends the thread
  bool watch();                                            // whether the thread runs

  mutable std::mutex mutex_;  // guards all below
  std::size_t limit_;
  Clock::duration longest_wait_;
  std::size_t waiting_bytes_ = 0;
  std::vector<Waiting> waiting_;  // the longest first
  std::unordered_map<const void*, Used> used_;
  std::condition_variable_any stopped_;
  bool is_watched_ = false;
  std::jthread watcher_;  // the last member, so that it ends before what it uses
};

}  // namespace ttlg::cpu
