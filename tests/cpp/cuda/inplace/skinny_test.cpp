// Matrices of few rows or columns, by pieces of the other dimension.
#include "plan/cuda/inplace/skinny.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "combinations.hpp"
#include "cuda/inplace/run_steps.hpp"
#include "plan/cuda/cases.hpp"
#include "plan/cuda/inplace/policy.hpp"
#include "plan/cuda/inplace/step_choice.hpp"
#include "plan/inplace_steps.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;

// Structures become fields, or fields structures.
InplaceStep skinny_of(bool is_tall, std::int64_t structures, std::int64_t fields,
                      std::int64_t bytes, std::int64_t length, std::int64_t batch = 1) {
  const auto [rows, columns] =
      is_tall ? std::pair(structures, fields) : std::pair(fields, structures);
  return {InplaceKernel::skinny, batch, rows, 1, columns, bytes, length};
}

// Both directions.
void expect_converted(std::int64_t structures, std::int64_t fields, std::int64_t bytes,
                      std::int64_t length, std::int64_t batch = 1, std::int64_t misalignment = 0) {
  for (const bool is_tall : {true, false}) {
    const InplaceStep step = skinny_of(is_tall, structures, fields, bytes, length, batch);
    ASSERT_TRUE(applies(step)) << describe(step, misalignment);
    expect_transposed(step, misalignment);
  }
}

// Of prime numbers of structures, and of numbers that the fields divide.
TEST(Skinny, ConvertsStructuresOfEverySize) {
  for (std::int64_t fields = 2; fields <= 31; ++fields) {
    for (const std::int64_t bytes : {1, 2, 4, 8, 16}) {
      const std::int64_t length = 40 / bytes + 1;
      expect_converted(101, fields, bytes, length);
      if (bytes == 8) expect_converted(8 * fields, fields, bytes, length);
    }
  }
}

// Fewer pieces than fields and more, no rest, and as long a one as there can be.
TEST(Skinny, LeavesAnyRestToTheEndsOfFields) {
  for (std::int64_t structures = 12; structures <= 160; structures += structures < 40 ? 1 : 7) {
    expect_converted(structures, 5, 4, 12);
    expect_converted(structures, 11, 3, 11);
  }
}

TEST(Skinny, ConvertsElementsOfAnySizeAnywhere) {
  for (const auto& [bytes, misalignment] :
       combinations({1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 31, 32}, {0, 1, 2, 4, 8, 72})) {
    expect_converted(101, 7, bytes, 33, 1, misalignment);
  }
  expect_converted(67, 31, 32, 40, 1, 1);  // structures of 992 words
}

TEST(Skinny, ConvertsBatches) {
  for (const std::int64_t bytes : {1, 4, 12}) {
    expect_converted(101, 3, bytes, 40, 5);
    expect_converted(101, 3, bytes, 101, 5);  // whole matrices
    expect_converted(96, 6, bytes, 32, 3);
  }
}

TEST(Skinny, ConvertsTheLongestPieces) {
  for (const auto& [fields, bytes] : combinations({2, 31}, {1, 8, 32})) {
    const std::int64_t most = SkinnyPolicy::max_length(fields, bytes, SkinnyPolicy::kSharedBytes);
    expect_converted(most, fields, bytes, most);
    expect_converted(2 * most + most - 1, fields, bytes, most);
    EXPECT_FALSE(applies(skinny_of(true, 3 * most, fields, bytes, most + 1)));
  }
}

struct SkinnyFigures {
  double sectors;  // read and written, in times of the matrices'
  double conflicts_of_line;
};

SkinnyFigures figures_of(bool is_tall, std::int64_t structures, std::int64_t fields,
                         std::int64_t bytes) {
  InplaceStep step = skinny_of(is_tall, structures, fields, bytes, 0);
  step.width = skinny_length(step, analytic_model());
  const Report report = run_step(step);
  EXPECT_EQ(report.violations, Violations{}) << describe(step, 0);
  const auto lines = static_cast<double>(step.bytes()) / 128;
  const auto sectors = report.counts.load.sectors + report.counts.store.sectors;
  return {static_cast<double>(sectors) / lines / 8,
          static_cast<double>(report.counts.bank_conflicts) / lines};
}

// Two passes, of which only the second reads or writes anything else, a cell of 64 to the workspace
// and back. Out of place there is one.
TEST(Skinny, MovesEveryByteTwice) {
  for (const auto& [is_tall, fields, bytes] :
       combinations({true, false}, {2, 3, 8, 12, 16, 31}, {4, 8, 16})) {
    SCOPED_TRACE(std::to_string(fields) + " fields of " + std::to_string(bytes));
    const std::int64_t structures = 128 * (1200 / (fields * bytes) + 1);
    const SkinnyFigures even = figures_of(is_tall, structures, fields, bytes);
    EXPECT_LE(even.sectors, 2 * (1 + 1.0 / 64) + 0.02);
    EXPECT_LE(even.conflicts_of_line, 1);
    // One more, and few fields begin with a sector.
    const SkinnyFigures odd = figures_of(is_tall, structures + 1, fields, bytes);
    EXPECT_LE(odd.sectors, 2.1 + 1.2 / static_cast<double>(bytes));
    EXPECT_LE(odd.conflicts_of_line, 1);
  }
}

TEST(Skinny, MovesWhatFitsInSharedMemoryOnce) {
  for (const auto& [is_tall, fields] : combinations({true, false}, {2, 5, 16, 31})) {
    const SkinnyFigures whole = figures_of(is_tall, 176, fields, 8);
    EXPECT_EQ(whole.sectors, 1) << fields;
    EXPECT_LT(whole.conflicts_of_line, 0.7) << fields;
  }
}

TEST(Skinny, LaunchesABlockForEveryPiece) {
  const std::vector<InplaceLaunch> tall = lower_skinny(skinny_of(true, 1003, 7, 4, 100, 2), 0);
  ASSERT_EQ(tall.size(), 6U);  // heads away, pieces, heads back, and the cells' three
  EXPECT_TRUE(tall[0].to.in_workspace);
  EXPECT_EQ(tall[1].launch.blocks, 20U);
  EXPECT_TRUE(tall[2].from.in_workspace);
  EXPECT_TRUE(std::holds_alternative<CellsArguments>(tall[4].launch.arguments));
  const std::vector<InplaceLaunch> wide = lower_skinny(skinny_of(false, 1000, 7, 4, 100), 0);
  ASSERT_EQ(wide.size(), 4U);  // there is nothing left over
  EXPECT_TRUE(std::holds_alternative<SkinnyArguments>(wide[3].launch.arguments));
  EXPECT_EQ(lower_skinny(skinny_of(true, 1000, 7, 4, 1000, 3), 0).size(), 1U);
}

}  // namespace
}  // namespace ttlg::test
