// TTLG, Table I, against the kernels: C1, C2, C3 and C3' are the 128-byte lines that the thread
// blocks touch, where the paper's assumptions hold: 4-byte elements, blocks that divide, and pieces
// that begin on lines.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "cuda/run_kernels.hpp"
#include "plan/cuda/cases.hpp"
#include "plan/cuda/model/predict.hpp"
#include "tensor/integer.hpp"

namespace ttlg::test {
namespace {

using enum cuda::Schema;

using namespace cuda;
using Extents = std::vector<std::int64_t>;

constexpr std::int64_t kItemBytes = 4;

// Byte strides, the last axis fastest, of arrays in which every `run_axes` last axes take whole
// lines.
Extents padded_strides(const Extents& shape, std::size_t run_axes) {
  Extents strides(shape.size());
  std::int64_t stride = kItemBytes;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape.size() - i == run_axes + 1) stride = ceil_div(stride, kLineBytes) * kLineBytes;
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

void expect_transactions(const Request& request, const cuda::Parameters& parameters,
                         std::int64_t in, std::int64_t out) {
  const cuda::Plan plan = built(request, 256, parameters);
  SCOPED_TRACE(describe(plan, {}));
  ASSERT_EQ(plan.recast.element_bytes(), kItemBytes);
  const Transactions table = transactions({plan.recast, parameters});
  EXPECT_EQ(table.in_dram, in);
  EXPECT_EQ(table.out_dram, out);
  const Counts counts = expect_moved(plan);
  EXPECT_EQ(counts.load.lines_of_block, in);
  EXPECT_EQ(counts.store.lines_of_block, out);
}

Request aligned(const Extents& extents, const std::vector<int>& perm) {
  return paper_request(extents, perm, kItemBytes);
}

// The input's first `in_run` modes and the output's first `out_run` end in the middle of a line;
// the next begin on one.
Request padded(const Extents& extents, const std::vector<int>& perm, std::size_t in_run,
               std::size_t out_run) {
  Request request = aligned(extents, perm);
  request.in_byte_strides = padded_strides(request.shape, in_run);
  request.out_byte_strides = padded_strides(request.out_shape(), out_run);
  return request;
}

// C1 = ceil(N0 * b / 32) * prod(i_1..) / b.
TEST(Transactions, OfMatchSmallAreC1) {
  expect_transactions(aligned({8, 32, 16}, {0, 2, 1}), {fvi_match_small, {2, 2, 4, 4}}, 32 * 16 / 4,
                      32 * 16 / 4);
  expect_transactions(aligned({16, 8, 8, 3}, {0, 2, 1, 3}), {fvi_match_small, {2, 2, 4, 8}},
                      2 * 8 * 8 * 3 / 4, 4 * 8 * 8 * 3 / 8);
  expect_transactions(padded({12, 3, 5, 2}, {0, 2, 1, 3}, 2, 2), {fvi_match_small, {2, 2, 3, 5}},
                      2 * 3 * 5 * 2 / 3, 2 * 3 * 5 * 2 / 5);
}

// C2 = ceil(N0 / 32) * prod(i_1..).
TEST(Transactions, OfMatchLargeAreC2) {
  expect_transactions(aligned({64, 7, 5}, {0, 2, 1}), {fvi_match_large, {1, 1, 64, 1}}, 2 * 7 * 5,
                      2 * 7 * 5);
  expect_transactions(aligned({256, 3, 2}, {0, 2, 1}), {fvi_match_large, {1, 1, 64, 1}}, 8 * 3 * 2,
                      8 * 3 * 2);
  expect_transactions(padded({40, 7, 5}, {0, 2, 1}, 1, 1), {fvi_match_large, {1, 1, 40, 1}},
                      2 * 7 * 5, 2 * 7 * 5);
}

// C3 = ceil(prod(i_0..i_x-1) * b_x / 32) * prod(i_x..) / b_x, and C3' likewise.
TEST(Transactions, OfOrthogonalDistinctAreC3) {
  expect_transactions(aligned({64, 3, 96}, {2, 1, 0}), {orthogonal_distinct, {1, 1, 32, 96}},
                      64 * 3 * 96 / 32, 3 * 64 * 3);
  expect_transactions(aligned({8, 8, 5, 64}, {3, 2, 1, 0}), {orthogonal_distinct, {2, 2, 4, 5}},
                      8 * 5 * 64 / 4, 10 * 8 * 8);
  expect_transactions(padded({40, 3, 7, 9}, {3, 2, 1, 0}, 1, 2),
                      {orthogonal_distinct, {1, 2, 40, 7}}, 2 * 3 * 7 * 9, 2 * 3 * 40);
}

TEST(Transactions, OfOrthogonalArbitraryAreC3) {
  expect_transactions(aligned({8, 2, 8, 8}, {2, 1, 3, 0}), {orthogonal_arbitrary, {3, 3, 8, 4}},
                      4 * 8, 2 * 8 * 8 / 4);
  expect_transactions(aligned({32, 3, 32}, {2, 1, 0}), {orthogonal_arbitrary, {2, 2, 3, 3}}, 3 * 32,
                      3 * 32);
  expect_transactions(padded({7, 6, 5, 4}, {1, 0, 3, 2}, 2, 2),
                      {orthogonal_arbitrary, {2, 2, 6, 7}}, 2 * 5 * 4, 2 * 4 * 5);
}

// Blocks that walk along a mode touch the same lines.
TEST(Transactions, StayThoseOfTheSlicesThatABlockRepeats) {
  expect_transactions(aligned({64, 4, 96}, {2, 1, 0}), {orthogonal_distinct, {1, 1, 32, 32}, 1},
                      64 * 4 * 96 / 32, 64 * 4 * 96 / 32);
}

}  // namespace
}  // namespace ttlg::test
