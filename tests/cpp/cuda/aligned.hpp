// Arrays at chosen distances from a 256-byte boundary, as cudaMalloc's are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ttlg::test {

class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t bytes, std::size_t misalignment = 0)
      : bytes_(bytes), storage_(bytes + misalignment + kBoundary) {
    const std::size_t beyond = reinterpret_cast<std::uintptr_t>(storage_.data()) % kBoundary;
    first_ = (kBoundary - beyond) % kBoundary + misalignment;
  }

  std::span<std::byte> bytes() { return std::span(storage_).subspan(first_, bytes_); }

 private:
  static constexpr std::size_t kBoundary = 256;
  std::size_t bytes_;
  std::size_t first_;
  std::vector<std::byte> storage_;
};

}  // namespace ttlg::test
