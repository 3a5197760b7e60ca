// Prints, for tools/kernel_budget.py, what a thread block of each kernel moves at once: the kernel
// with its element width and whether it reads and writes vectors, threads, bytes, bytes of shared
// memory, and how often the block's threads begin anew in it. All of it follows from the policies,
// so that nothing is said twice.
#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "cuda/kernels/fvi_match_large_shifted.hpp"
#include "cuda/kernels/orthogonal_distinct.hpp"
#include "plan/cuda/policy.hpp"

using namespace ttlg::cuda;

namespace {

void print(int threads, std::int64_t bytes, std::int64_t shared_bytes, std::int64_t passes = 1) {
  std::printf(" %d %lld %lld %lld\n", threads, static_cast<long long>(bytes),
              static_cast<long long>(shared_bytes), static_cast<long long>(passes));
}

template <int kWidth>
void print_width() {
  std::printf("fvi_match_large<%d>", kWidth);
  print(FviMatchLargePolicy::kThreads, FviMatchLargePolicy::kChunkBytes, 0);
  std::printf("fvi_match_small<%d>", kWidth);
  // A thread goes along the most lines that a slice has, a word of each, before it begins anew.
  print(FviMatchSmallPolicy::kThreads, FviMatchSmallPolicy::kSliceBytes,
        FviMatchSmallPolicy::kSliceBytes,
        std::max<std::int64_t>(
            FviMatchSmallPolicy::kSliceBytes /
                (FviMatchSmallPolicy::kThreads * FviMatchSmallPolicy::kMaxBlock * kWidth),
            1));
  for (const VectorAccess access :
       {VectorAccess{false, false}, {false, true}, {true, false}, {true, true}}) {
    constexpr std::int64_t kTile = DistinctTile<kWidth>::kSize;
    std::printf("orthogonal_distinct<%d,%d,%d>", kWidth, access.vector_in, access.vector_out);
    print(OrthogonalDistinctPolicy::kThreads, kTile * kTile * kWidth,
          DistinctTile<kWidth>::kSharedBytes);
    const std::int64_t slice = OrthogonalArbitraryPolicy::max_elements(kWidth, access) * kWidth;
    std::printf("orthogonal_arbitrary<%d,%d,%d>", kWidth, access.vector_in, access.vector_out);
    const int stages = kWidth >= 4 || access.vector_in ? kMaxStages : 1;
    print(OrthogonalArbitraryPolicy::kThreads, slice, stages * slice);
  }
}

}  // namespace

int main() {
  std::printf("fvi_match_large_shifted<%d>", FviMatchLargeShiftedPolicy::kWidth);
  print(FviMatchLargePolicy::kThreads, FviMatchLargePolicy::kChunkBytes, 0);
  for (const char* const name : {"copy", "copy_shifted"}) {
    std::printf("%s<%d>", name, static_cast<int>(kMaxAccessBytes));
    print(CopyPolicy::kThreads, CopyPolicy::kThreads * CopyPolicy::kBatch * kMaxAccessBytes, 0);
  }
  print_width<1>();
  print_width<2>();
  print_width<4>();
  print_width<8>();
  print_width<16>();
}
