// What toy kernels need: arrays with counted bytes, and the commonest ways to run.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/aligned.hpp"
#include "cuda/executor.hpp"

namespace ttlg::test {

struct Toy {
  AlignedBytes in;
  AlignedBytes out;
  std::vector<std::uint8_t> expected_writes;

  // As many bytes on both sides, `misalignment` bytes beyond a 256-byte boundary; all of `out` is
  // to be written.
  explicit Toy(std::size_t bytes, std::size_t misalignment = 0)
      : in(bytes, misalignment), out(bytes, misalignment), expected_writes(bytes, 1) {
    for (std::size_t i = 0; i < bytes; ++i) in.bytes()[i] = static_cast<std::byte>(i % 251);
  }

  Report run(const Grid& grid, const Kernel& kernel) {
    return run_kernel(grid, {in.bytes(), out.bytes(), expected_writes}, kernel);
  }
  void expect(const Violations& expected, const Grid& grid, const Kernel& kernel) {
    EXPECT_EQ(run(grid, kernel).violations, expected);
  }
  Report run_inplace(const Grid& grid, const Kernel& kernel) {
    return run_kernel(grid, {in.bytes(), in.bytes(), expected_writes}, kernel);
  }
};

// What a kernel that uses shared memory only, and writes no result, must be told.
inline void expect_shared(const Violations& expected, int threads, const Kernel& kernel) {
  Toy(0).expect(expected, {.threads = threads, .shared_bytes = 256}, kernel);
}

inline constexpr std::size_t kRow = 128;  // a 4-byte word for each lane of a warp

inline void copy_word(const HostContext& context) {
  const std::int64_t offset = 4 * context.thread();
  context.store(true, offset, context.load<std::uint32_t>(true, offset));
}

}  // namespace ttlg::test
