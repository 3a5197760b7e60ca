// Memory in which a kernel cannot stray unnoticed.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <random>
#include <span>
#include <vector>

namespace ttlg::test {

// Where an array lies in its pages: against the unreadable page before or the one after it, `gap`
// bytes away.
struct Placement {
  enum class Side { before, after } side;
  std::size_t gap;
};

// Random bytes between two pages that fault when touched, themselves read-only.
class GuardedInput {
 public:
  GuardedInput(std::size_t bytes, Placement placement)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        inner_((bytes + placement.gap + page_ - 1) / page_ * page_),
        mapping_(mmap(nullptr, inner_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (mapping_ == MAP_FAILED) throw std::bad_alloc();
    std::byte* inner = static_cast<std::byte*>(mapping_) + page_;
    data_ = placement.side == Placement::Side::before ? inner + placement.gap
                                                      : inner + inner_ - placement.gap - bytes;
    if (inner_ == 0) return;
    mprotect(inner, inner_, PROT_READ | PROT_WRITE);
    std::generate_n(data_, bytes, [random = std::minstd_rand(1)]() mutable {
      return static_cast<std::byte>(random() >> 8);
    });
    mprotect(inner, inner_, PROT_READ);
  }
  GuardedInput(const GuardedInput&) = delete;
  GuardedInput& operator=(const GuardedInput&) = delete;
  ~GuardedInput() { munmap(mapping_, inner_ + 2 * page_); }

  const std::byte* data() const { return data_; }

 private:
  std::size_t page_;
  std::size_t inner_;
  void* mapping_;
  std::byte* data_;
};

// An output of a chosen alignment amid sentinel bytes.
class SentinelOutput {
 public:
  SentinelOutput(std::size_t bytes, std::size_t alignment)
      : bytes_(bytes), storage_(bytes + 3 * kMargin, std::byte{0xA5}) {
    const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(storage_.data()) % kMargin;
    data_ = storage_.data() + (kMargin - misaligned) % kMargin + kMargin / 2 + alignment;
  }

  std::byte* data() { return data_; }

  // The array and what lies around it.
  std::span<const std::byte> surroundings() const {
    return {data_ - kMargin / 2, bytes_ + kMargin};
  }

 private:
  static constexpr std::size_t kMargin = 128;
  std::size_t bytes_;
  std::vector<std::byte> storage_;
  std::byte* data_;
};

}  // namespace ttlg::test
