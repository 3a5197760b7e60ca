// Prints, for tools/kernel_budget.py, what a thread block of each kernel moves at once: the kernel
// with its element width and whether it reads and writes vectors, threads, bytes, and bytes of
// shared memory. All of it follows from the policies, so that nothing is said twice.
#include <cstdint>
#include <cstdio>

#include "cuda/kernels/orthogonal_distinct.hpp"
#include "plan/cuda/policy.hpp"

using namespace ttlg::cuda;

namespace {

void print(int threads, std::int64_t bytes, std::int64_t shared_bytes) {
  std::printf(" %d %lld %lld\n", threads, static_cast<long long>(bytes),
              static_cast<long long>(shared_bytes));
}

template <int kWidth>
void print_width() {
  std::printf("copy<%d>", kWidth);
  print(CopyPolicy::kThreads, CopyPolicy::kThreads * CopyPolicy::kBatch * kWidth, 0);
  std::printf("fvi_match_large<%d>", kWidth);
  print(FviMatchLargePolicy::kThreads, FviMatchLargePolicy::kChunkBytes, 0);
  std::printf("fvi_match_small<%d>", kWidth);
  print(FviMatchSmallPolicy::kThreads, FviMatchSmallPolicy::kSliceBytes,
        FviMatchSmallPolicy::kSliceBytes);
  for (const VectorAccess access :
       {VectorAccess{false, false}, {false, true}, {true, false}, {true, true}}) {
    const OrthogonalDistinctPolicy distinct(kWidth);
    std::printf("orthogonal_distinct<%d,%d,%d>", kWidth, access.vector_in, access.vector_out);
    print(OrthogonalDistinctPolicy::kThreads, distinct.tile_rows * distinct.tile_columns * kWidth,
          kMaxStages * distinct.buffer_bytes);
    const std::int64_t slice = OrthogonalArbitraryPolicy::max_elements(kWidth, access) * kWidth;
    std::printf("orthogonal_arbitrary<%d,%d,%d>", kWidth, access.vector_in, access.vector_out);
    const int stages = kWidth >= 4 || access.vector_in ? kMaxStages : 1;
    print(OrthogonalArbitraryPolicy::kThreads, slice, stages * slice);
  }
}

}  // namespace

int main() {
  print_width<1>();
  print_width<2>();
  print_width<4>();
  print_width<8>();
  print_width<16>();
}
