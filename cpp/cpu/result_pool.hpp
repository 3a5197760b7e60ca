// Memory for large results, kept for the next one when it is freed. The C library maps memory for
// each large array and unmaps it again, and the kernel zeroes every page that is mapped, which
// takes as long as writing the result does.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace ttlg::cpu {

// Blocks of whole huge pages. Those that wait to be used again are marked MADV_FREE: the kernel
// takes their pages back when memory is short. On huge pages neither the mark nor writing to the
// page again takes time that counts. What the kernel does not mark does not wait. Safe for any
// number of threads, and across fork().
class ResultPool {
 public:
  static constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

  // `limit`: of the bytes that wait.
  explicit ResultPool(std::size_t limit) : limit_(limit) {}

  // Whether a block for so many bytes could wait here.
  bool may_keep(std::size_t bytes) const;

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

  // Around fork(). Nothing waits across it. The blocks in use are shared with the child from then
  // on, so that the kernel could not mark them: neither process keeps them when it frees them.
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

  static Block map(std::size_t bytes);

  // Call these with the mutex held.
  Block take_waiting(std::size_t bytes);
  void unmap_waiting_beyond(std::size_t limit);

  mutable std::mutex mutex_;  // guards all below
  std::size_t limit_;
  std::size_t waiting_bytes_ = 0;
  std::vector<Block> waiting_;  // the longest first
  std::unordered_map<const void*, Used> used_;
};

}  // namespace ttlg::cpu
