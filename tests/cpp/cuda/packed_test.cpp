// Orthogonal-Arbitrary with elements of one and two bytes, whose runs begin anywhere.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "cuda/run_kernels.hpp"
#include "plan/cuda/cases.hpp"
#include "sample.hpp"

namespace ttlg::test {
namespace {

using enum cuda::Schema;

using Extents = std::vector<std::int64_t>;

struct Case {
  Extents extents;  // the fastest first
  std::vector<int> perm;
  cuda::Slice slice;
  int coarsened_mode = -1;
};

// Runs whose distances and lengths have any remainders, whole and cut on either side.
const std::vector<Case> kCases{
    {{15, 17, 9}, {2, 1, 0}, {1, 1, 15, 9}},
    {{15, 17, 9}, {1, 0, 2}, {1, 1, 15, 17}},
    {{15, 17, 9}, {2, 0, 1}, {1, 2, 7, 5}},
    {{16, 17, 9}, {1, 2, 0}, {1, 1, 8, 6}},
    {{16, 20, 12}, {2, 1, 0}, {1, 1, 16, 12}},
    {{16, 20, 12}, {2, 1, 0}, {1, 1, 12, 8}},
    {{16, 20, 12}, {1, 2, 0}, {2, 1, 8, 8}},
    {{33, 3, 5, 7}, {3, 1, 0, 2}, {2, 2, 2, 3}},
    {{2, 3, 61, 5}, {1, 3, 0, 2}, {2, 2, 3, 4}},
    {{130, 7, 11}, {1, 0, 2}, {1, 1, 61, 7}, 2},
    {{3, 250, 6}, {1, 0, 2}, {1, 1, 3, 125}},
    {{3, 3, 2, 2, 2, 5}, {4, 2, 5, 0, 3, 1}, {3, 3, 2, 2}},
};

class Packed : public testing::TestWithParam<std::int64_t> {};

TEST_P(Packed, RunsMayBeginAtAnyByteOfAWord) {
  const std::int64_t bytes = GetParam();
  for (const auto& [extents, perm, slice, coarsened_mode] : kCases) {
    const Request request = paper_request(extents, perm, bytes);
    for (std::int64_t i = 0; i < 16; i += bytes) {
      const Misalignments misalignments{i / 4, i % 4};
      if (misalignments.in % bytes != 0 || !is_sample()) continue;
      const int stages = static_cast<int>(1 + (i / 4 + i % 4) / bytes % 2);
      expect_moved(built(request, alignment_of(misalignments),
                         {orthogonal_arbitrary, slice, coarsened_mode, stages}, small_model()),
                   misalignments);
    }
  }
}

// Pointers may be aligned worse than planned.
TEST_P(Packed, RunsMayBeginWithinWordsThoughPlannedAtThem) {
  const std::int64_t bytes = GetParam();
  for (const Case& each : kCases) {
    const cuda::Plan plan = built(paper_request(each.extents, each.perm, bytes), 256,
                                  {orthogonal_arbitrary, each.slice}, small_model());
    for (const Misalignments& misalignments :
         {Misalignments{bytes, 0}, {0, bytes}, {4 - bytes, 4 - bytes}, {0, 0}}) {
      if (is_sample()) expect_moved(plan, misalignments);
    }
  }
}

// Bytes beside the runs come with their words, and only a few sectors more.
TEST_P(Packed, TouchFewSectorsMoreThanTheirBytes) {
  const std::int64_t bytes = GetParam();
  for (const Extents& extents : {Extents{225, 71, 3}, {129, 9, 50}}) {
    const Request request = paper_request(extents, {1, 0, 2}, bytes);
    const cuda::Plan plan =
        built(request, bytes, {orthogonal_arbitrary, {1, 1, 110, extents[1]}}, small_model());
    const Counts counts = expect_moved(plan, {bytes, 0});
    const auto& [load, store] = std::pair(counts.load, counts.store);
    EXPECT_LE(load.sectors_of_block, load.sectors_of_run * 3 / 2);
    EXPECT_LE(store.sectors_of_block, store.sectors_of_run * 3 / 2);
    EXPECT_LE(load.accesses, load.sectors_of_run) << "fewer than a sector an access";
  }
}

INSTANTIATE_TEST_SUITE_P(, Packed, testing::Values(1, 2), testing::PrintToStringParamName());

}  // namespace
}  // namespace ttlg::test
