// Runs a kernel's body on the host, every thread of every block, and checks and counts all that it
// does. The kernels under test are the very sources that nvcc compiles (cuda/kernels/context.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "cuda/accesses.hpp"
#include "cuda/memory.hpp"

namespace ttlg::test {

struct Grid {
  std::uint32_t blocks = 1;
  int threads = kLanes;                 // of a block: whole warps, at most 1024
  int shared_bytes = 0;                 // of a block
  bool backwards = false;               // whether the last block runs first
  std::vector<std::uint32_t> sample{};  // the only blocks that run; all where there are none
};

// What a kernel did wrong, nothing if it is right. It says so up to kMaxViolations times; then the
// run ends early and the counts are incomplete.
inline constexpr std::size_t kMaxViolations = 8;

using Violations = std::vector<std::string>;

struct Report {
  Violations violations;
  Counts counts;
};

class Executor;

// What a lane gives to a shuffle or a vote, however few bytes: copies of a size known to the
// compiler take a fraction of the others' time.
using Offer = std::array<std::byte, 16>;

// The context that a kernel gets: the members of DeviceContext.
class HostContext {
 public:
  HostContext(Executor& executor, std::uint32_t thread) : executor_(&executor), thread_(thread) {}

  HostContext at(std::int64_t in, std::int64_t out) const {
    HostContext result = *this;
    result.in_origin_ += in;
    result.out_origin_ += out;
    return result;
  }

  HostContext at_shared(std::uint32_t bytes) const {
    HostContext result = *this;
    result.shared_origin_ += bytes;
    return result;
  }

  std::uint32_t in_phase() const;
  std::uint32_t out_phase() const;

  std::uint32_t thread() const { return thread_; }
  std::uint32_t block() const;
  std::uint32_t blocks() const;
  void barrier() const;

  template <typename T>
  T load(bool valid, std::int64_t offset) const {
    T value{};
    load_bytes(&value, checked_size<T>(), valid, offset);
    return value;
  }

  template <typename T>
  void store(bool valid, std::int64_t offset, T value) const {
    store_bytes(&value, checked_size<T>(), valid, offset);
  }

  template <typename T>
  T shared_load(bool valid, std::uint32_t offset) const {
    T value{};
    shared_load_bytes(&value, checked_size<T>(), valid, offset);
    return value;
  }

  template <typename T>
  void shared_store(bool valid, std::uint32_t offset, T value) const {
    shared_store_bytes(&value, checked_size<T>(), valid, offset);
  }

  template <int kBytes>
  void copy_async(bool valid, std::uint32_t to, std::int64_t offset) const {
    static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
    copy_bytes_async(kBytes, valid, to, offset);
  }
  void copy_word_async(bool valid, std::uint32_t to, std::int64_t offset) const {
    copy_word_async(valid, 4, to, offset);
  }
  void copy_word_async(bool valid, std::uint32_t count, std::uint32_t to,
                       std::int64_t offset) const;
  void commit_copies() const;
  template <int kNewest>
  void wait_copies() const {
    wait_copies_but(kNewest);
  }

  // As on the device, `lane` counts modulo the size of the warp.
  template <typename T>
  T shuffle(T value, std::uint32_t lane) const {
    Offer offer{};
    std::memcpy(offer.data(), &value, checked_size<T>());
    offer = shuffle_offers(offer, checked_size<T>(), lane);
    std::memcpy(&value, offer.data(), sizeof(T));
    return value;
  }

  bool any(bool value) const;

 private:
  template <typename T>
  static constexpr std::uint8_t checked_size() {
    constexpr std::uint8_t kBytes{sizeof(T)};
    static_assert(std::is_trivially_copyable_v<T>);
    static_assert(kBytes <= 16 && (kBytes & (kBytes - 1)) == 0);
    return kBytes;
  }

  void load_bytes(void* word, std::uint8_t bytes, bool valid, std::int64_t offset) const;
  void store_bytes(const void* word, std::uint8_t bytes, bool valid, std::int64_t offset) const;
  void shared_load_bytes(void* word, std::uint8_t bytes, bool valid, std::uint32_t offset) const;
  void shared_store_bytes(const void* word, std::uint8_t bytes, bool valid,
                          std::uint32_t offset) const;
  void copy_bytes_async(std::uint8_t bytes, bool valid, std::uint32_t to,
                        std::int64_t offset) const;
  void wait_copies_but(std::size_t newest) const;
  Offer shuffle_offers(const Offer& own, std::uint8_t bytes, std::uint32_t lane) const;

  Executor* executor_;
  std::uint32_t thread_;
  std::int64_t in_origin_ = 0;
  std::int64_t out_origin_ = 0;
  std::uint32_t shared_origin_ = 0;
};

using Kernel = std::function<void(const HostContext&)>;

// Exceptions that the kernel throws are passed on.
Report run_kernel(const Grid& grid, const Arrays& arrays, const Kernel& kernel);
Report run_kernel(const Grid& grid, GlobalMemory& memory, const Kernel& kernel);

}  // namespace ttlg::test
