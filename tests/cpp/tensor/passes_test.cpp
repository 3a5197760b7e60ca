// Each pass of the normal form alone; problem_test.cpp has them composed.
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "moves.hpp"
#include "tensor/problem.hpp"

namespace ttlg {
namespace {

using Modes = std::vector<Mode>;
using Perm = std::vector<int>;

// As the passes see it; perm is theirs to set.
Problem problem_of(std::int64_t element_bytes, Modes modes) {
  Problem problem;
  problem.in_bytes = problem.out_bytes = element_bytes;
  problem.modes = std::move(modes);
  return problem;
}

TEST(DropUnitModes, KeepsTheOthersInOrder) {
  const Problem dropped =
      drop_unit_modes(problem_of(4, {{1, 999, -7}, {5, 4, 12}, {1, 0, 0}, {3, 20, 4}}));
  EXPECT_EQ(dropped.modes, (Modes{{5, 4, 12}, {3, 20, 4}}));
  EXPECT_EQ(dropped.perm, (Perm{1, 0}));
}

TEST(DropUnitModes, LeavesNothingOfAScalar) {
  const Problem dropped = drop_unit_modes(problem_of(8, {{1, 8, 8}}));
  EXPECT_TRUE(dropped.modes.empty());
  EXPECT_TRUE(dropped.perm.empty());
  EXPECT_EQ(dropped.elements(), 1);
}

TEST(TurnNegativeStrides, StartsAtTheOtherEndOfTheOutput) {
  const Problem flipped = flip_negative_strides(problem_of(4, {{5, 4, -12}, {3, -40, 4}}));
  EXPECT_EQ(flipped.modes, (Modes{{5, -4, 12}, {3, -40, 4}}));
  EXPECT_EQ(flipped.in_byte_offset, 4 * 4);
  EXPECT_EQ(flipped.out_byte_offset, 4 * -12);
  EXPECT_EQ(flipped.perm, (Perm{1, 0}));
}

TEST(TurnNegativeStrides, TurnsAModeThatIsReversedOnBothSidesStraight) {
  const Problem flipped = flip_negative_strides(problem_of(2, {{6, -2, -2}}));
  EXPECT_EQ(flipped.modes, (Modes{{6, 2, 2}}));
  EXPECT_EQ(flipped.in_byte_offset, -10);
  EXPECT_EQ(flipped.out_byte_offset, -10);
}

TEST(PlaceSigns, LetsTheInputsVectorsBeReadForwards) {
  const Problem placed =
      place_signs(sort_by_input_stride(problem_of(1, {{3, -1, 500}, {500, 3, 1}})));
  EXPECT_EQ(placed.modes, (Modes{{3, 1, -500}, {500, 3, 1}}));
  EXPECT_EQ(placed.in_byte_offset, -2);
  EXPECT_EQ(placed.out_byte_offset, 2 * 500);
  EXPECT_EQ(placed.perm, (Perm{1, 0})) << "as before";
}

TEST(PlaceSigns, LeavesWhatIsInVectorsOfBothSidesOrOfNeither) {
  for (const Modes& modes : {Modes{{60, -2, 2}}, Modes{{3, 1, 500}, {500, -3, 1}},
                             Modes{{100, 1, 30}, {30, 100, 1}, {5, -3000, 3000}}}) {
    const Problem problem = sort_by_input_stride(problem_of(1, modes));
    EXPECT_EQ(place_signs(problem), problem);
  }
}

TEST(SortByInputStride, OrdersBySizeOfTheStepAndPutsBroadcastsLast) {
  const Problem sorted =
      sort_by_input_stride(problem_of(4, {{2, 0, 96}, {3, 64, 4}, {4, -16, 12}, {2, 4, 48}}));
  EXPECT_EQ(sorted.modes, (Modes{{2, 4, 48}, {4, -16, 12}, {3, 64, 4}, {2, 0, 96}}));
  EXPECT_EQ(sorted.perm, (Perm{2, 1, 0, 3}));
}

TEST(SortByInputStride, BreaksTiesByTheOutput) {
  const Problem sorted = sort_by_input_stride(problem_of(4, {{2, 0, 8}, {2, 0, 4}, {3, 0, 16}}));
  EXPECT_EQ(sorted.modes, (Modes{{2, 0, 4}, {2, 0, 8}, {3, 0, 16}}));
}

TEST(FuseModes, MultipliesExtentsOfModesThatStayAdjacent) {
  // [i0,i1,i2,i3] => [i3,i1,i2,i0]: the middle modes stay together.
  const Problem fused =
      fuse_modes(problem_of(8, {{2, 8, 480}, {3, 16, 40}, {4, 48, 120}, {5, 192, 8}}));
  EXPECT_EQ(fused.modes, (Modes{{2, 8, 480}, {12, 16, 40}, {5, 192, 8}}));
  EXPECT_EQ(fused.perm, (Perm{2, 1, 0}));
}

TEST(FuseModes, NeedsAdjacencyOnBothSides) {
  const Modes gap_in_the_input{{4, 4, 4}, {3, 20, 16}};
  const Modes gap_in_the_output{{4, 4, 4}, {3, 16, 20}};
  EXPECT_EQ(fuse_modes(problem_of(4, gap_in_the_input)).modes, gap_in_the_input);
  EXPECT_EQ(fuse_modes(problem_of(4, gap_in_the_output)).modes, gap_in_the_output);
}

TEST(FuseModes, FusesBroadcastsAndReversedModes) {
  EXPECT_EQ(fuse_modes(problem_of(4, {{2, 0, 4}, {3, 0, 8}})).modes, (Modes{{6, 0, 4}}));
  EXPECT_EQ(fuse_modes(problem_of(4, {{2, -4, 4}, {3, -8, 8}})).modes, (Modes{{6, -4, 4}}));
}

TEST(FoldRun, TurnsACommonUnitStrideModeIntoTheElement) {
  const Problem folded = fold_run(problem_of(4, {{4, 4, 4}, {3, 16, 80}, {5, 48, 16}}));
  EXPECT_EQ(folded.element_bytes(), 16);
  EXPECT_EQ(folded.modes, (Modes{{3, 16, 80}, {5, 48, 16}}));
  EXPECT_EQ(folded.perm, (Perm{1, 0}));
}

TEST(FuseModes, CountsTheBytesOfEachSide) {
  Problem problem = problem_of(4, {{3, 4, 2}, {5, 12, 6}, {2, 60, 40}});
  problem.out_bytes = 2;
  EXPECT_EQ(fuse_modes(problem).modes, (Modes{{15, 4, 2}, {2, 60, 40}}));
}

TEST(FoldRun, LeavesElementsThatAreConverted) {
  Problem of_sizes = problem_of(4, {{3, 4, 2}});
  of_sizes.out_bytes = 2;
  Problem of_types = problem_of(4, {{3, 4, 4}});
  of_types.map = {Type::float32, Type::int32};
  for (const Problem& problem : {of_sizes, of_types}) {
    EXPECT_EQ(fold_run(problem).modes, problem.modes);
    EXPECT_EQ(fold_run(problem).in_bytes, 4);
    EXPECT_THROW(problem.element_bytes(), std::logic_error);
    EXPECT_THROW(problem.bytes(), std::logic_error);
  }
}

TEST(FoldRun, NeedsUnitStrideOnBothSides) {
  for (const Modes& modes : {Modes{{4, 4, 8}, {3, 16, 4}}, Modes{{4, 8, 4}}, Modes{{4, -4, 4}}}) {
    const Problem folded = fold_run(problem_of(4, modes));
    EXPECT_EQ(folded.element_bytes(), 4);
    EXPECT_EQ(folded.modes, modes);
  }
}

}  // namespace
}  // namespace ttlg
