#include "cpu/memory/huge_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace ttlg::cpu {
namespace {

// What is beside the huge pages has up to a thousand small ones, which the kernel maps in a third
// of the time in one call. Below this much memory malloc tends to have mapped them long ago.
constexpr std::size_t kPopulateFromBytes = std::size_t{16} << 20;

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which older headers lack

void advise(std::uintptr_t begin, std::uintptr_t end, int advice) {
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

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

}  // namespace ttlg::cpu
