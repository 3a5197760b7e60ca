#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "cpu/memory/result_pool.hpp"

namespace ttlg::cpu {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// `bytes` of new pages that begin and end within pages of their own.
struct NewMemory {
  explicit NewMemory(std::size_t size) : bytes(size), mapped(size + 4 * kHugePageBytes) {
    void* const start =
        mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) throw std::bad_alloc();
    base = static_cast<std::byte*>(start);
  }
  ~NewMemory() { munmap(base, mapped); }
  NewMemory(const NewMemory&) = delete;
  NewMemory& operator=(const NewMemory&) = delete;

  std::byte* begin() const { return base + kHugePageBytes + 16; }

  // The pages that are in memory, by their number from the base.
  std::vector<std::size_t> resident() const {
    const auto page = static_cast<std::size_t>(getpagesize());
    std::vector<unsigned char> flags((mapped + page - 1) / page);
    EXPECT_EQ(mincore(base, mapped, flags.data()), 0);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < flags.size(); ++i) {
      if ((flags[i] & 1) != 0) found.push_back(i);
    }
    return found;
  }

  std::size_t bytes;
  std::size_t mapped;
  std::byte* base;
};

TEST(HugePages, ContentsStayAsTheyAre) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, 4 * kMiB - 1, 4 * kMiB,
                                  7 * kMiB + 5, 16 * kMiB, 21 * kMiB + 4097}) {
    const NewMemory memory(bytes);
    std::fill(memory.base, memory.base + memory.mapped, std::byte{0x5A});
    prepare_new_memory(memory.begin(), bytes);
    EXPECT_TRUE(std::all_of(memory.base, memory.base + memory.mapped,
                            [](std::byte each) { return each == std::byte{0x5A}; }));
  }
}

TEST(HugePages, NothingIsTouchedBesideTheMemory) {
  for (const std::size_t bytes : {4 * kMiB, 16 * kMiB, 21 * kMiB + 4097}) {
    const NewMemory memory(bytes);
    prepare_new_memory(memory.begin(), bytes);
    const auto page = static_cast<std::size_t>(getpagesize());
    const auto first = static_cast<std::size_t>(memory.begin() - memory.base) / page;
    const auto last = (static_cast<std::size_t>(memory.begin() - memory.base) + bytes - 1) / page;
    for (const std::size_t each : memory.resident()) {
      EXPECT_GE(each, first);
      EXPECT_LE(each, last);
    }
  }
}

TEST(HugePages, SmallMemoryIsLeftAlone) {
  const NewMemory memory(4 * kMiB - 1);
  prepare_new_memory(memory.begin(), memory.bytes);
  EXPECT_TRUE(memory.resident().empty());
}

}  // namespace
}  // namespace ttlg::cpu
