// Prints, for tools/kernel_budget.py, what a thread block of each kernel moves at once: the kernel
// with its element width and whether it reads and writes vectors, threads, bytes, and bytes of
// shared memory. All of it follows from the policies, so that nothing is said twice.
#include <cstdint>
#include <cstdio>

#include "cuda/kernels/orthogonal_distinct.hpp"
#include "plan/cuda/occupancy.hpp"

using namespace ttlg::cuda;

namespace {

void print(Schema schema, int width, VectorAccess access, std::int64_t shared_bytes) {
  std::printf(" %d %lld %lld\n", threads_of(schema),
              static_cast<long long>(largest_slice_bytes(schema, width, access)),
              static_cast<long long>(shared_bytes));
}

template <int kWidth>
void print_width() {
  std::printf("copy<%d>", kWidth);
  print(Schema::copy, kWidth, {}, 0);
  std::printf("fvi_match_large<%d>", kWidth);
  print(Schema::fvi_match_large, kWidth, {}, 0);
  std::printf("fvi_match_small<%d>", kWidth);
  print(Schema::fvi_match_small, kWidth, {}, FviMatchSmallPolicy::kSliceBytes);
  for (const VectorAccess access :
       {VectorAccess{false, false}, {false, true}, {true, false}, {true, true}}) {
    std::printf("orthogonal_distinct<%d,%d,%d>", kWidth, access.vector_in, access.vector_out);
    print(Schema::orthogonal_distinct, kWidth, access, DistinctTile<kWidth>::kSharedBytes);
    std::printf("orthogonal_arbitrary<%d,%d,%d>", kWidth, access.vector_in, access.vector_out);
    const std::int64_t slice = largest_slice_bytes(Schema::orthogonal_arbitrary, kWidth, access);
    const int stages = kWidth >= 4 || access.vector_in ? kMaxStages : 1;
    print(Schema::orthogonal_arbitrary, kWidth, access, stages * slice);
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
