#include "cuda/sparse/host_enqueue.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "cuda/sparse/enqueue.hpp"
#include "cuda/sparse/key_rounds.hpp"

namespace ttlg::test {

HostSteps& host_steps() {
  static HostSteps steps;
  return steps;
}

}  // namespace ttlg::test

namespace ttlg::cuda::sparse {
namespace {

// Fewer than there are items in most tests, so that threads take several, or none.
constexpr std::int64_t kAllThreads = 3 * kMaxLanes;
constexpr std::size_t kTemporaryBytes = 1000;

template <typename Kernel>
cudaError_t on_all_threads(const Kernel& kernel) {
  for (std::int64_t thread = kAllThreads - 1; thread >= 0; --thread) kernel(thread);
  return cudaSuccess;
}

}  // namespace

template <typename Index, typename Position>
cudaError_t enqueue_pack(const PackArguments<Index, Position>& p, cudaStream_t) {
  return on_all_threads([&](std::int64_t thread) { pack(p, thread, kAllThreads); });
}

template <typename Index, typename Position>
cudaError_t enqueue_unpack(const UnpackArguments<Index, Position>& p, cudaStream_t) {
  return on_all_threads([&](std::int64_t thread) { unpack(p, thread, kAllThreads); });
}

template <typename Position>
cudaError_t enqueue_gather(const GatherArguments<Position>& p, cudaStream_t) {
  const auto bits =
      reinterpret_cast<std::uintptr_t>(p.values) | reinterpret_cast<std::uintptr_t>(p.out);
  if (bits % static_cast<std::uintptr_t>(p.word_bytes) != 0) return cudaErrorMisalignedAddress;
  return on_all_threads([&](std::int64_t thread) {
    if (p.word_bytes == 1) return gather<1>(p, thread, kAllThreads);
    if (p.word_bytes == 2) return gather<2>(p, thread, kAllThreads);
    if (p.word_bytes == 4) return gather<4>(p, thread, kAllThreads);
    if (p.word_bytes == 8) return gather<8>(p, thread, kAllThreads);
    return gather<16>(p, thread, kAllThreads);
  });
}

cudaError_t enqueue_copy(std::byte* to, const std::byte* from, std::size_t bytes, cudaStream_t) {
  ++test::host_steps().copies;
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

template <typename Position>
cudaError_t enqueue_sort(SortBuffers<Position>& buffers, std::int64_t nonzeros, int begin_bit,
                         int end_bit, std::byte* temporary, std::size_t temporary_bytes,
                         cudaStream_t) {
  if (temporary_bytes < kTemporaryBytes) return cudaErrorInvalidValue;
  std::fill_n(temporary, temporary_bytes, std::byte{0xa5});
  ++test::host_steps().sorts;
  test::host_steps().sorted_bits += end_bit - begin_bit;
  const auto sorted_bits = [&](std::size_t i) {
    return buffers.keys[i] << (kKeyBits - end_bit) >> (kKeyBits - end_bit) >> begin_bit;
  };
  std::vector<std::size_t> order(static_cast<std::size_t>(nonzeros));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, sorted_bits);
  for (std::size_t i = 0; i < order.size(); ++i) {
    buffers.other_keys[i] = buffers.keys[order[i]];
    buffers.other_positions[i] = buffers.positions[order[i]];
  }
  std::swap(buffers.keys, buffers.other_keys);
  std::swap(buffers.positions, buffers.other_positions);
  if (test::host_steps().sorts_stay) {
    std::copy_n(buffers.keys, nonzeros, buffers.other_keys);
    std::copy_n(buffers.positions, nonzeros, buffers.other_positions);
    std::swap(buffers.keys, buffers.other_keys);
    std::swap(buffers.positions, buffers.other_positions);
  }
  std::fill_n(buffers.other_keys, nonzeros, ~std::uint64_t{0});
  std::fill_n(buffers.other_positions, nonzeros, static_cast<Position>(~std::uint64_t{0}));
  return cudaSuccess;
}

template <typename Position>
cudaError_t sort_temporary_bytes(std::int64_t, int, int, std::size_t& bytes) {
  bytes = kTemporaryBytes;
  return cudaSuccess;
}

#define TTLG_ENQUEUE(Index, Position)                                                       \
  template cudaError_t enqueue_pack(const PackArguments<Index, Position>& p, cudaStream_t); \
  template cudaError_t enqueue_unpack(const UnpackArguments<Index, Position>& p, cudaStream_t);
TTLG_ENQUEUE(std::int32_t, std::uint32_t)
TTLG_ENQUEUE(std::int32_t, std::uint64_t)
TTLG_ENQUEUE(std::int64_t, std::uint32_t)
TTLG_ENQUEUE(std::int64_t, std::uint64_t)
#undef TTLG_ENQUEUE
#define TTLG_POSITIONS(Position)                                                                \
  template cudaError_t enqueue_gather(const GatherArguments<Position>& p, cudaStream_t);        \
  template cudaError_t enqueue_sort(SortBuffers<Position>&, std::int64_t, int, int, std::byte*, \
                                    std::size_t, cudaStream_t);                                 \
  template cudaError_t sort_temporary_bytes<Position>(std::int64_t, int, int, std::size_t&);
TTLG_POSITIONS(std::uint32_t)
TTLG_POSITIONS(std::uint64_t)
#undef TTLG_POSITIONS

}  // namespace ttlg::cuda::sparse
