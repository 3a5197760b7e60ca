// Prints, for tools/kernel_budget.py, what a thread block of each kernel moves at once: the kernel
// with its element width and whether it reads and writes vectors, threads, bytes, bytes of shared
// memory, and how often the block's threads start again in it. All of it follows from the policies,
// so that nothing is said twice.
#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "cuda/kernels/fvi_match_large_shifted.hpp"
#include "cuda/kernels/inplace/runs.hpp"
#include "cuda/kernels/orthogonal_distinct.hpp"
#include "plan/cuda/inplace/policy.hpp"
#include "plan/cuda/model/occupancy.hpp"

using namespace ttlg::cuda;

namespace {

void print(Schema schema, int width, std::int64_t shared_bytes, std::int64_t passes = 1) {
  std::printf(" %d %lld %lld %lld\n", threads_of(schema),
              static_cast<long long>(largest_slice_bytes(schema, width)),
              static_cast<long long>(shared_bytes), static_cast<long long>(passes));
}

// The passes of C2R and R2C, of pieces of 32 KB: as many threads as these are lowered to.
template <int kWidth>
void print_c2r() {
  constexpr int kBytes = RowShufflePolicy::kBlockBytes;
  constexpr int kThreads = kBytes / C2rPolicy::kBytesPerThread;
  const auto print_pass = [](const char* name, int last, int threads, int bytes, int shared_bytes) {
    std::printf("%s<%d,%d> %d %d %d 1\n", name, kWidth, last, threads, bytes, shared_bytes);
  };
  for (const int in_word : {1, std::max(static_cast<int>(kBankBytes) / kWidth, 1)}) {
    for (const int forward : {0, 1}) {
      std::printf("row_shuffle<%d,%d,%d> %d %d %d 1\n", kWidth, in_word, forward, kThreads, kBytes,
                  kBytes + static_cast<int>(kSharedLineBytes));
    }
  }
  for (const int access : {kWidth, std::max(kWidth, static_cast<int>(kBankBytes)),
                           static_cast<int>(kMaxAccessBytes)}) {
    print_pass("column_shuffle", access, kThreads, kBytes, kBytes);
    print_pass("column_gather", access, kThreads, kBytes, kBytes);
  }
  for (const int forward : {0, 1}) {
    print_pass("row_gather", forward, RowGatherPolicy::kThreads,
               RowGatherPolicy::kThreads * RowGatherPolicy::kBatch * kWidth, 0);
  }
}

// Pieces of eight fields, a warp's work each, of as much as fits.
template <int kWidth>
void print_skinny() {
  using Policy = SkinnyPolicy;
  constexpr std::int64_t kFields = Policy::kThreads / kWarpSize;
  const std::int64_t length = Policy::max_length(kFields, kWidth, Policy::kSharedBytes);
  for (const int forward : {0, 1}) {
    std::printf("skinny<%d,%d> %d %lld %lld 1\n", kWidth, forward, Policy::kThreads,
                static_cast<long long>(kFields * length * kWidth),
                static_cast<long long>(Policy::kSharedBytes));
  }
  std::printf("skinny_heads<%d> %d %d 0 1\n", kWidth, Policy::kThreads, Policy::kThreads * kWidth);
}

template <int kWidth>
void print_width() {
  std::printf("fvi_match_large<%d>", kWidth);
  print(Schema::fvi_match_large, kWidth, 0);
  std::printf("fvi_match_small<%d>", kWidth);
  // A thread goes along the most lines that a slice has, a word of each, before it starts again.
  using Small = FviMatchSmallPolicy;
  print(Schema::fvi_match_small, kWidth, Small::kSliceBytes,
        std::max<std::int64_t>(Small::kSliceBytes / (Small::kThreads * Small::kMaxBlock * kWidth),
                               1));
  using Arbitrary = OrthogonalArbitraryPolicy;
  const std::int64_t buffers =
      kMaxStages * largest_slice_bytes(Schema::orthogonal_arbitrary, kWidth);
  if (Arbitrary::is_packed(kWidth)) {
    for (const bool aligned : {false, true}) {
      std::printf("orthogonal_arbitrary_packed<%d,%d>", kWidth, aligned);
      print(Schema::orthogonal_arbitrary, kWidth, buffers);
    }
  }
  const SquarePolicy square(kWidth);
  const int tile_bytes = square.tile_order * square.tile_order * kWidth;
  for (const bool vectors : {false, true}) {
    for (const char* const name : {"square", "square_any_threads"}) {
      std::printf("%s<%d,%d> %d %d %d 1\n", name, kWidth, vectors, SquarePolicy::kThreads,
                  2 * tile_bytes, 2 * square.tile_bytes);
    }
  }
  for (const int gaps : {0, 1}) {
    std::printf("cells<%d,%d> %d %d 0 1\n", kWidth, gaps, CellsPolicy::kThreads,
                CellsPolicy::kThreads * CellsPolicy::kDepth * kWidth);
    std::printf("cut_cells<%d,%d> %d %d 0 1\n", kWidth, gaps, CellsPolicy::kThreads,
                CellsPolicy::kThreads * CellsPolicy::kBatch * kWidth);
  }
  print_skinny<kWidth>();
  for (const char* const name : {"runs", "runs_any_threads"}) {
    std::printf("%s<%d> %d %d 0 1\n", name, kWidth, RunsPolicy::kThreads,
                2 * RunsPolicy::kThreads * RunsPolicy::kBatch * kWidth);
  }
  print_c2r<kWidth>();
  for (const VectorAccess access :
       {VectorAccess{false, false}, {false, true}, {true, false}, {true, true}}) {
    std::printf("orthogonal_distinct<%d,%d,%d>", kWidth, access.vector_in, access.vector_out);
    print(Schema::orthogonal_distinct, kWidth,
          kMaxStages * OrthogonalDistinctPolicy(kWidth).buffer_bytes);
    if (Arbitrary::is_packed(kWidth)) continue;
    std::printf("orthogonal_arbitrary<%d,%d,%d>", kWidth, access.vector_in, access.vector_out);
    print(Schema::orthogonal_arbitrary, kWidth, buffers);
  }
}

}  // namespace

int main() {
  std::printf("fvi_match_large_shifted<%d>", FviMatchLargeShiftedPolicy::kWidth);
  print(Schema::fvi_match_large, FviMatchLargeShiftedPolicy::kWidth, 0);
  for (const char* const name : {"copy", "copy_shifted"}) {
    std::printf("%s<%d>", name, static_cast<int>(kMaxAccessBytes));
    print(Schema::copy, kMaxAccessBytes, 0);
  }
  print_width<1>();
  print_width<2>();
  print_width<4>();
  print_width<8>();
  print_width<16>();
}
