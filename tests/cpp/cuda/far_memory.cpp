#include "cuda/far_memory.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "plan/inplace/c2r.hpp"

namespace ttlg::test {
namespace {

// Different bytes wherever offsets differ, but for one in 256 of them.
std::byte byte_at(std::int64_t offset) {
  auto bits = static_cast<std::uint64_t>(offset) * 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 32)) * 0xd6e8feb86659fd93;
  return static_cast<std::byte>(bits >> 56);
}

bool is_inside(std::int64_t offset, std::size_t bytes, std::int64_t size) {
  return offset >= 0 && offset <= size - static_cast<std::int64_t>(bytes);
}

}  // namespace

std::string_view FarMemory::load(std::uint32_t, void* word, std::size_t bytes,
                                 std::int64_t offset) {
  offset += arrays_.in_origin;
  if (!is_inside(offset, bytes, arrays_.in_bytes)) return "loads out of bounds";
  if ((offset + arrays_.in_misalignment) % static_cast<std::int64_t>(bytes) != 0) {
    return "loads from a misaligned address";
  }
  auto* const to = static_cast<std::byte*>(word);
  for (std::size_t i = 0; i < bytes; ++i) to[i] = byte_at(offset + static_cast<std::int64_t>(i));
  loaded_end_ = std::max(loaded_end_, offset + static_cast<std::int64_t>(bytes));
  return {};
}

std::string_view FarMemory::load_run_word(std::uint32_t, void* word, std::size_t count,
                                          std::int64_t offset) {
  offset += arrays_.in_origin;
  if ((offset + arrays_.in_misalignment) % kBankWordBytes != 0) {
    return "loads from a misaligned address";
  }
  const std::int64_t end = offset + static_cast<std::int64_t>(count);
  if (offset <= -kBankWordBytes || end > arrays_.in_bytes) return "loads out of bounds";
  auto* const to = static_cast<std::byte*>(word);
  for (std::size_t i = 0; i < count; ++i) to[i] = byte_at(offset + static_cast<std::int64_t>(i));
  loaded_end_ = std::max(loaded_end_, end);
  return {};
}

std::string_view FarMemory::store(std::uint32_t, const void* word, std::size_t bytes,
                                  std::int64_t offset) {
  offset += arrays_.out_origin;
  if (!is_inside(offset, bytes, arrays_.out_bytes)) return "stores out of bounds";
  if ((offset + arrays_.out_misalignment) % static_cast<std::int64_t>(bytes) != 0) {
    return "stores to a misaligned address";
  }
  const auto* const from = static_cast<const std::byte*>(word);
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::int64_t at = offset + static_cast<std::int64_t>(i);
    if (from[i] != byte_at(arrays_.source(at))) return "stores another byte than belongs there";
  }
  stored_end_ = std::max(stored_end_, offset + static_cast<std::int64_t>(bytes));
  return {};
}

std::int64_t FarMemory::in_position(std::int64_t offset) const {
  return floor_mod(offset + arrays_.in_origin + arrays_.in_misalignment, kCounted);
}

std::int64_t FarMemory::out_position(std::int64_t offset) const {
  return floor_mod(offset + arrays_.out_origin + arrays_.out_misalignment, kCounted);
}

std::vector<std::uint32_t> sample_of(std::uint32_t blocks) {
  std::vector<std::uint32_t> sample{0, blocks / 2, blocks - 1};
  std::mt19937 random(blocks);
  for (int i = 0; i < 3; ++i) {
    sample.push_back(std::uniform_int_distribution<std::uint32_t>(0, blocks - 1)(random));
  }
  std::ranges::sort(sample);
  const auto repeated = std::ranges::unique(sample);
  sample.erase(repeated.begin(), repeated.end());
  return sample;
}

std::vector<std::string> run_far(const Grid& grid, const FarArrays& arrays, const Kernel& kernel,
                                 bool goes_far) {
  FarMemory memory(arrays);
  Grid sampled = grid;
  if (sampled.sample.empty()) sampled.sample = sample_of(grid.blocks);
  std::vector<std::string> violations = run_kernel(sampled, memory, kernel).violations;
  if (goes_far && arrays.in_bytes > kFar && memory.loaded_end() <= kFar) {
    violations.emplace_back("loads nothing beyond 2^32 bytes");
  }
  if (goes_far && arrays.out_bytes > kFar && memory.stored_end() <= kFar) {
    violations.emplace_back("stores nothing beyond 2^32 bytes");
  }
  return violations;
}

}  // namespace ttlg::test
