#include "cpu/inplace/buffered.hpp"

#include <algorithm>

#include "cpu/execute.hpp"
#include "cpu/threads.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

void copy_back(const std::byte* buffer, std::byte* matrix, std::int64_t bytes, int threads,
               const Kernels& table) {
  constexpr std::int64_t kChunk = 256 << 10;
  parallel_ranges(threads, ceil_div(bytes, kChunk), 1, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * kChunk;
    table.copy(matrix + first, buffer + first, std::min(end * kChunk, bytes) - first);
  });
}

}  // namespace

void transpose_buffered(const InplaceStep& step, const Plan& into_buffer, std::byte* data,
                        std::byte* workspace, int threads, const Kernels& table) {
  const std::int64_t bytes = step.matrix_bytes();
  const std::int64_t pitch = ceil_div(bytes, kLineBytes) * kLineBytes;
  const bool together = buffers(step, threads) == 1;
  parallel_ranges(together ? 1 : threads, step.batch, 1, [&](std::int64_t begin, std::int64_t end) {
    std::byte* const buffer = workspace + (together ? 0 : thread_number() * pitch);
    for (std::int64_t number = begin; number < end; ++number) {
      std::byte* const matrix = data + number * bytes;
      execute(into_buffer, matrix, buffer, table);
      copy_back(buffer, matrix, bytes, together ? threads : 1, table);
    }
  });
}

}  // namespace ttlg::cpu
