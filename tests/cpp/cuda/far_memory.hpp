// Arrays of any size that are not allocated: a byte of the input is known from its offset, and a
// byte that is stored is compared with the one that belongs there. So single blocks of a launch run
// on offsets beyond 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cuda/executor.hpp"
#include "cuda/memory.hpp"

namespace ttlg::test {

struct FarArrays {
  std::int64_t in_bytes;
  std::int64_t out_bytes;
  // The offset in the input of the byte that belongs at an offset in the output.
  std::function<std::int64_t(std::int64_t)> source;
  std::int64_t in_misalignment = 0;
  std::int64_t out_misalignment = 0;
  // Where a kernel's offset 0 lies.
  std::int64_t in_origin = 0;
  std::int64_t out_origin = 0;
};

class FarMemory : public GlobalMemory {
 public:
  explicit FarMemory(FarArrays arrays) : arrays_(std::move(arrays)) {}

  std::string_view load(std::uint32_t thread, void* word, std::size_t bytes,
                        std::int64_t offset) override;
  std::string_view load_run_word(std::uint32_t thread, void* word, std::size_t count,
                                 std::int64_t offset) override;
  std::string_view store(std::uint32_t thread, const void* word, std::size_t bytes,
                         std::int64_t offset) override;

  std::int64_t in_position(std::int64_t offset) const override;
  std::int64_t out_position(std::int64_t offset) const override;
  std::size_t in_bytes() const override { return kCounted; }
  std::size_t out_bytes() const override { return kCounted; }

  // The ends of what was moved: 0 where nothing was.
  std::int64_t loaded_end() const { return loaded_end_; }
  std::int64_t stored_end() const { return stored_end_; }

 private:
  static constexpr std::int64_t kCounted = 4096;

  FarArrays arrays_;
  std::int64_t loaded_end_ = 0;
  std::int64_t stored_end_ = 0;
};

// The first blocks of a launch, the last ones, and some between.
std::vector<std::uint32_t> sample_of(std::uint32_t blocks);

inline constexpr std::int64_t kFar = std::int64_t{1} << 32;

// Runs a sample of a launch's blocks, unless the grid names some. Where it `goes_far`, that none of
// them has moved anything beyond 2^32 bytes, on a side that is longer than that, is a violation
// like any other.
std::vector<std::string> run_far(const Grid& grid, const FarArrays& arrays, const Kernel& kernel,
                                 bool goes_far = true);

}  // namespace ttlg::test
