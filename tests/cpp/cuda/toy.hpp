// Arrays for toy kernels: counted bytes in, sentinels out.
#pragma once

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

  // As many bytes on both sides, so far beyond a 256-byte boundary; all of `out` is to be written.
  explicit Toy(std::size_t bytes, std::size_t skew = 0)
      : in(bytes, skew), out(bytes, skew), expected_writes(bytes, 1) {
    for (std::size_t i = 0; i < bytes; ++i) in.bytes()[i] = static_cast<std::byte>(i % 251);
  }

  Report run(const Grid& grid, const Kernel& kernel) {
    return run_kernel(grid, {in.bytes(), out.bytes(), expected_writes}, kernel);
  }
};

}  // namespace ttlg::test
