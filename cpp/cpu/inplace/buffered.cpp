#include "cpu/inplace/buffered.hpp"

#include <algorithm>

#include "cpu/execute.hpp"
#include "cpu/inplace/matrix.hpp"
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
  for_matrices(step, data, workspace, whole_lines(bytes), threads,
               [&](std::byte* matrix, std::byte* buffer) {
                 execute(into_buffer, matrix, buffer, table);
                 copy_back(buffer, matrix, bytes, threads_each(step, threads), table);
               });
}

}  // namespace ttlg::cpu
