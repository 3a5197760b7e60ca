#include "cpu/memory/result_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>
#include <system_error>
#include <utility>

#include "cpu/system.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, bytes) static_cast<void>(0)
#define ASAN_UNPOISON_MEMORY_REGION(start, bytes) static_cast<void>(0)
#endif

namespace ttlg::cpu {
namespace {

// What is beside the huge pages has up to a thousand small ones, which the kernel maps in a third
// of the time in one call. Below this much memory malloc tends to have mapped them long ago.
constexpr std::size_t kPopulateFromBytes = std::size_t{16} << 20;

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which older headers lack

void advise(std::uintptr_t begin, std::uintptr_t end, int advice) {
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

constexpr std::size_t kHuge = kHugePageBytes;

constexpr std::size_t whole_pages(std::size_t bytes) { return (bytes + kHuge - 1) / kHuge * kHuge; }

}  // namespace

void prepare_new_memory(std::byte* start, std::size_t bytes) {
  if (bytes < kHugeFromBytes) return;
  const auto page = static_cast<std::uintptr_t>(getpagesize());
  const auto begin = reinterpret_cast<std::uintptr_t>(start);
  const std::uintptr_t end = begin + bytes;
  const std::uintptr_t first_huge = (begin + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  const std::uintptr_t last_huge = end / kHugePageBytes * kHugePageBytes;
  advise(first_huge, last_huge, MADV_HUGEPAGE);
  if (bytes < kPopulateFromBytes) return;
  advise(begin / page * page, first_huge, kPopulateWrite);
  advise(last_huge, end / page * page, kPopulateWrite);
}

void ResultPool::Unmap::operator()(std::byte* start) const {
  ASAN_UNPOISON_MEMORY_REGION(start, bytes);  // for whatever is mapped here next
  munmap(start, bytes);
}

// `bytes` of whole huge pages; null without memory for them.
ResultPool::Block ResultPool::map(std::size_t bytes) {
  void* const mapped =
      mmap(nullptr, bytes + kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapped);
  const std::size_t skipped = -reinterpret_cast<std::uintptr_t>(begin) % kHuge;
  std::byte* const start = begin + skipped;
  if (skipped > 0) munmap(begin, skipped);
  munmap(start + bytes, kHuge - skipped);
  madvise(start, bytes, MADV_HUGEPAGE);  // refused by a kernel without them, which does no harm
  return Block(start, {bytes});
}

std::byte* ResultPool::allocate(std::size_t bytes) {
  const std::size_t needed = whole_pages(bytes);
  const std::lock_guard lock(mutex_);
  Block block = take_waiting(needed);
  if (!block) block = map(needed);
  if (!block) {
    unmap_waiting_beyond(0);  // counts where address space is limited
    block = map(needed);
  }
  if (!block) throw std::bad_alloc();
  std::byte* const start = block.get();
  ASAN_UNPOISON_MEMORY_REGION(start, bytes);
  ASAN_POISON_MEMORY_REGION(start + bytes, block.get_deleter().bytes - bytes);
  used_.emplace(start, Used{.block = std::move(block), .bytes = bytes});
  return start;
}

std::size_t ResultPool::size_of(const void* start) const {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(start);
  return found == used_.end() ? 0 : found->second.bytes;
}

void ResultPool::free(const void* start) {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(start);
  const bool is_shared = found->second.is_shared;
  Block block = std::move(found->second.block);
  used_.erase(found);
  const std::size_t bytes = block.get_deleter().bytes;
  if (is_shared || bytes > limit_) return;
  unmap_waiting_beyond(limit_ - bytes);
  if (madvise(block.get(), bytes, MADV_FREE) != 0) return;
  ASAN_POISON_MEMORY_REGION(block.get(), bytes);
  waiting_.push_back({.block = std::move(block), .until = Clock::now() + longest_wait_});
  waiting_bytes_ += bytes;
  if (!watch()) unmap_waiting_beyond(0);
}

void ResultPool::set_limit(std::size_t limit) {
  const std::lock_guard lock(mutex_);
  limit_ = limit;
  unmap_waiting_beyond(limit);
}

void ResultPool::set_longest_wait(Clock::duration longest_wait) {
  std::unique_lock lock(mutex_);
  unmap_waiting(lock);  // the thread sleeps for as long as was set before
  longest_wait_ = longest_wait;
}

ResultPool::Info ResultPool::info() const {
  const std::lock_guard lock(mutex_);
  return {.limit = limit_, .waiting = waiting_bytes_};
}

void ResultPool::before_fork() {
  std::unique_lock lock(mutex_);
  unmap_waiting(lock);  // a child has no such thread, and Python warns of a fork of more than one
  for (auto& [start, used] : used_) used.is_shared = true;
  lock.release();
}

void ResultPool::after_fork() { mutex_.unlock(); }

// The smallest that is large enough, the one freed last among those, whose pages are the most
// likely to be in the caches and least likely to be taken back. At most a fifth of it goes unused.
ResultPool::Block ResultPool::take_waiting(std::size_t bytes) {
  auto best = waiting_.end();
  for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
    const std::size_t held = it->bytes();
    if (held < bytes || held - bytes > bytes / 4) continue;
    if (best == waiting_.end() || held <= best->bytes()) best = it;
  }
  if (best == waiting_.end()) return nullptr;
  Block block = std::move(best->block);
  waiting_.erase(best);
  waiting_bytes_ -= block.get_deleter().bytes;
  return block;
}

void ResultPool::unmap_waiting_beyond(std::size_t limit) {
  auto kept = waiting_.begin();
  for (; waiting_bytes_ > limit; ++kept) waiting_bytes_ -= kept->bytes();
  waiting_.erase(waiting_.begin(), kept);
}

void ResultPool::unmap_waiting(std::unique_lock<std::mutex>& lock) {
  unmap_waiting_beyond(0);
  while (watcher_.joinable()) {
    std::jthread ending = std::move(watcher_);
    lock.unlock();
    ending.request_stop();
    ending.join();
    lock.lock();
    unmap_waiting_beyond(0);  // of other threads meanwhile
  }
}

bool ResultPool::watch() {
  if (is_watched_) return true;
  const SignalsBlocked blocked;
  try {
    // A thread that has ended leaves the mutex before it is joined here.
    watcher_ = std::jthread([this](const std::stop_token& stop) { unmap_unused(stop); });
  } catch (const std::system_error&) {
    return false;  // no more threads may be started
  }
  is_watched_ = true;
  return true;
}

void ResultPool::unmap_unused(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!waiting_.empty() && !stop.stop_requested()) {
    const Clock::time_point due = waiting_.front().until;
    if (Clock::now() < due) {
      stopped_.wait_until(lock, stop, due, [] { return false; });
      continue;
    }
    Block block = std::move(waiting_.front().block);
    waiting_.erase(waiting_.begin());
    waiting_bytes_ -= block.get_deleter().bytes;
    lock.unlock();  // so that no call waits for the kernel
    block.reset();
    lock.lock();
  }
  is_watched_ = false;
}

}  // namespace ttlg::cpu
