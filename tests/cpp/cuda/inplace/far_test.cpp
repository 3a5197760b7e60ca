// The kernels that work in place, and those between an array and a workspace, on arrays of more
// than 2^32 bytes: some blocks of each launch, on memory that is not allocated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <variant>
#include <vector>

#include "cuda/inplace/c2r_cases.hpp"
#include "cuda/inplace/run_steps.hpp"
#include "plan/cuda/inplace/policy.hpp"
#include "plan/cuda/inplace/skinny.hpp"
#include "tensor/integer.hpp"
#include "tensor/width.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;
using enum InplaceKernel;

constexpr std::int64_t kOnChip = 226 << 10;

void exchange_far(const InplaceStep& step) {
  SCOPED_TRACE(describe(step, 0));
  ASSERT_TRUE(applies(step));
  // Of several launches, that of the last region.
  expect_permuted_far({lower_square(step, 0).back()}, {.in_bytes = step.bytes()}, source_of(step));
}

TEST(FarInplace, ExchangesTiles) {
  for (const std::int64_t size : kWidths) {
    for (const std::int64_t odd : {0, 1}) {
      const std::int64_t order = (size == 1 ? 72000 : size == 2 ? 50000 : 34000) + odd;
      exchange_far({square_v1b, 1, order, 1, order, size, 8});
      // Many matrices, and modes between their rows and columns.
      exchange_far({square_v1, 70000, 260 + odd, 1, 260 + odd, size, 0});
      exchange_far({square_v2, 3, 260 + odd, 25000, 260 + odd, size, 0});
    }
  }
  for (const InplaceKernel kernel : {square_v1r, square_v2, square_ip}) {
    exchange_far({kernel, 1, 34000, 1, 34000, 4, 0});
  }
  exchange_far({square_sg, 1, 34000, 1, 34000, 4, 128});
}

TEST(FarInplace, ExchangesRuns) {
  for (const InplaceStep& step : {InplaceStep{square_tw, 1, 34001, 1, 34001, 4, 0},
                                  {runs, 1, 1050, 1, 1050, 4096, 0},
                                  {runs, 1, 40, 1, 40, 3'000'004, 0},
                                  {runs, 30000, 60, 1, 60, 44, 0},
                                  {runs, 3, 60, 10000, 60, 44, 0},
                                  {runs, 1, 3, 1, 3, 1'200'000'000, 0}}) {
    exchange_far(step);
  }
}

// Blocks that move something in the last matrix: for every one of few parts and cycles, and for
// some of many parts, which come first.
std::vector<std::uint32_t> blocks_of_items(const Launch& launch) {
  const auto& p = std::get<CellsArguments>(launch.arguments);
  const std::int64_t items = p.groups.per_matrix.divisor();
  const std::int64_t chunks = p.groups.chunks.divisor();
  const std::int64_t groups = CellsPolicy::kThreads >> p.groups.group_shift;  // of a block
  const std::int64_t last = p.groups.items / chunks - items;
  std::vector<std::uint32_t> blocks;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(items, 100); ++i) {
    const std::int64_t item = items <= 100 ? i : i * (p.saved - 1) / 99;
    blocks.push_back(static_cast<std::uint32_t>(((last + item) * chunks + chunks / 2) / groups));
  }
  return blocks;
}

// Saves cells, moves the others along their cycles, and brings what was saved to where it belongs.
void move_cells_far(const InplaceStep& step) {
  SCOPED_TRACE(describe(step, 0));
  ASSERT_TRUE(applies(step));
  const std::vector<InplaceLaunch> launches = lower_cells(step, 0);
  ASSERT_EQ(launches.size(), 3U);
  const std::int64_t cells = step.rows * step.columns;
  const std::int64_t saved = ceil_div(cells, step.width);  // of a matrix
  const Memory memory{.in_bytes = step.bytes(),
                      .workspace_bytes = step.batch * saved * step.element_bytes};
  // A single cell of each matrix may be the first one.
  const FarOptions options{.goes_far = saved > 1};
  const auto saved_from = [&](std::int64_t to) {
    return to / saved * cells + to % saved * step.width;
  };
  const Source moved = source_of(step);
  const auto restored_from = [&](std::int64_t to) {
    const std::int64_t from = moved.of(to);
    EXPECT_EQ(from % cells % step.width, 0);
    return from / cells * saved + from % cells / step.width;
  };
  expect_permuted_far(launches[0], memory, {step.element_bytes, saved_from}, options);
  expect_permuted_far(launches[1], memory, moved, {.sample = blocks_of_items(launches[1].launch)});
  expect_permuted_far(launches[2], memory, {step.element_bytes, restored_from}, options);
}

TEST(FarInplace, MovesCells) {
  for (const InplaceStep& step : {InplaceStep{cells, 1, 1000, 1, 1100, 4096, 64},
                                  {cells, 1, 1000, 1, 1101, 4092, 64},
                                  // All lie far apart, most of them in cycles of which none is
                                  // saved, or many.
                                  {cells, 1, 5, 1, 7, 300'000'016, 64},
                                  {cells, 1, 5, 1, 7, 300'000'016, 2},
                                  {cells, 1, 2, 1, 2, 2'200'000'000, 4},
                                  {cells, 40, 300, 1, 1000, 400, 64},
                                  {cells, 300, 500, 1, 200, 200, 1024}}) {
    move_cells_far(step);
  }
}

struct FarSize {
  std::int64_t rows;
  std::int64_t columns;
};

// Calls visit(case) for matrices of each size, of several widths, both ways.
template <typename Visit>
void for_far_cases(std::initializer_list<FarSize> sizes, const Visit& visit) {
  for (const auto& [rows, columns] : sizes) {
    for (const std::int64_t bytes : {1, 4, 12}) {
      for (const bool forward : {false, true}) {
        const C2rCase c{forward, rows, columns, bytes, 4};
        SCOPED_TRACE(testing::PrintToString(c));
        visit(c);
      }
    }
  }
}

TEST(FarInplace, PermutesRowsAndColumnsOnChip) {
  // Many matrices; rows, and columns, that are most of a matrix.
  for_far_cases(
      {{600, 7010}, {3, 50}, {50, 3}, {36'000'000, 125}, {6000, 900'000}, {100, 200'000'000}},
      [](C2rCase c) {
        c.batch = kFar / (c.bytes() / c.batch) * 5 / 4 + 1;
        for (const C2rPass pass : kC2rPasses) {
          const bool fits = pass == C2rPass::rows ? rows_fit(c.matrices(), kOnChip)
                                                  : columns_fit(c.matrices(), kOnChip);
          if (!fits) continue;
          expect_permuted_far({lower_on_chip(c, pass, kOnChip)}, {.in_bytes = c.bytes()},
                              source_of(c, pass));
        }
      });
}

// Expects the first two and the last two of the launches through a workspace, of which only those
// go far, to take from the array what `place_of(gather)` says of the workspace, in elements from
// there to the array and back.
template <typename PlaceOf>
void expect_gathered_far(const C2rCase& c, C2rPass pass, std::int64_t workspace,
                         const PlaceOf& place_of) {
  const std::vector<InplaceLaunch> launches = lower_in_workspace(c, pass, workspace);
  ASSERT_EQ(launches.size() % 2, 0U);
  ASSERT_GT(launches.size(), 2U);
  const Memory memory{.in_bytes = c.bytes(), .workspace_bytes = workspace};
  const Source permuted = source_of(c, pass);
  for (const std::size_t first : {std::size_t{0}, launches.size() - 2}) {
    const auto [in_array, in_workspace] = place_of(launches[first]);
    const auto gathered = [&permuted, &at = in_array](auto to) { return permuted.of(at(to)); };
    const FarOptions options{.goes_far = first > 0};
    expect_permuted_far(launches[first], memory, {c.element_bytes, gathered}, options);
    expect_permuted_far(launches[first + 1], memory, {c.element_bytes, in_workspace}, options);
  }
}

TEST(FarInplace, GathersLongRows) {
  for_far_cases({{64, 30'000'000}, {3, 1'600'000'000}}, [](const C2rCase& c) {
    expect_gathered_far(c, C2rPass::rows, workspace_bytes(c, C2rPass::rows, 2),
                        [&](const InplaceLaunch& gather) {
                          const std::int64_t first = gather.from.offset / c.element_bytes;
                          return std::pair([=](std::int64_t at) { return first + at; },
                                           [=](std::int64_t at) { return at - first; });
                        });
  });
}

// Groups of columns lie in the workspace one after another.
TEST(FarInplace, GathersTallColumns) {
  for_far_cases({{2'000'000, 3200}, {150'000'000, 12}, {500'000, 9999}}, [](const C2rCase& c) {
    const auto place_of = [&](const InplaceLaunch& gather) {
      const auto& p = std::get<ColumnGatherArguments>(gather.launch.arguments);
      const std::int64_t width = p.group_columns;
      const std::int64_t groups = p.groups.divisor();
      const std::int64_t first_group = p.first_group;
      const std::int64_t first_column = p.first_column;
      const auto in_array = [=](std::int64_t at) {
        const std::int64_t group = first_group + at / (c.rows * width);
        const std::int64_t row = group / groups * c.rows + at % (c.rows * width) / width;
        return row * c.columns + first_column + group % groups * width + at % width;
      };
      const auto in_workspace = [=](std::int64_t at) {
        const std::int64_t row = at / c.columns;
        const std::int64_t column = at % c.columns - first_column;
        const std::int64_t group = row / c.rows * groups + column / width - first_group;
        return (group * c.rows + row % c.rows) * width + column % width;
      };
      return std::pair(in_array, in_workspace);
    };
    for (const C2rPass pass : {C2rPass::rotation, C2rPass::shuffle}) {
      expect_gathered_far(c, pass, workspace_bytes(c, pass, 2), place_of);
    }
  });
}

// Where an element of a matrix of few rows or columns is: of which piece, or of what is left over,
// and of which field.
struct SkinnyPlace {
  std::int64_t piece;
  std::int64_t element;
  std::int64_t field;
};

// Where elements lie, and which lies there, counted from the beginning of the array or of the
// workspace.
struct SkinnyPlaces {
  const SkinnyMatrix& m;

  std::int64_t in_structures(const SkinnyPlace& at) const {
    return (at.piece * m.length + at.element) * m.fields + at.field;
  }
  std::int64_t in_heads(const SkinnyPlace& at) const {
    return (at.piece * m.rest + at.element) * m.fields + at.field;
  }
  std::int64_t in_cell(std::int64_t cell, std::int64_t element) const {
    return cell * m.length + cell / m.pieces * m.rest + element;
  }
  std::int64_t in_cells(const SkinnyPlace& at) const {
    if (at.piece < m.pieces) return in_cell(at.piece * m.fields + at.field, at.element);
    return at.field * m.structures + m.pieces * m.length + at.element;
  }
  // Among the structures, or among the heads, of which each has as many elements of a field.
  SkinnyPlace of_structures(std::int64_t place, std::int64_t elements) const {
    const std::int64_t structure = place / m.fields;
    return {structure / elements, structure % elements, place % m.fields};
  }
  SkinnyPlace of_cells(std::int64_t place) const {
    const std::int64_t field = place / m.structures;
    const std::int64_t number = place % m.structures / m.length;
    const std::int64_t element = place % m.structures % m.length;
    if (number == m.pieces) return {m.pieces, element, field};
    const std::int64_t cell = field * m.pieces + number;
    return {cell / m.fields, element, cell % m.fields};
  }
  bool is_left_over(const SkinnyPlace& at) const { return at.piece >= m.pieces; }
};

// Blocks that move parts of cycles, of which there are fewer than of those that may lead one.
std::vector<std::uint32_t> blocks_of_parts(const Launch& launch) {
  const auto& p = std::get<CellsArguments>(launch.arguments);
  const std::int64_t groups = CellsPolicy::kThreads >> p.groups.group_shift;
  const std::int64_t blocks = p.saved * p.groups.chunks.divisor() / groups;
  std::vector<std::uint32_t> sample;
  for (std::int64_t i = 0; i < 40; ++i) {
    sample.push_back(static_cast<std::uint32_t>(i * (blocks - 1) / 39));
  }
  return sample;
}

void convert_far(bool is_tall, std::int64_t structures, std::int64_t fields, std::int64_t bytes,
                 std::int64_t length) {
  const InplaceStep step{.kernel = skinny,
                         .rows = is_tall ? structures : fields,
                         .columns = is_tall ? fields : structures,
                         .element_bytes = bytes,
                         .width = length};
  SCOPED_TRACE(describe(step, 0));
  ASSERT_TRUE(applies(step));
  const SkinnyMatrix m(step);
  ASSERT_GT(m.rest, 0);
  const SkinnyPlaces at{m};
  const std::vector<InplaceLaunch> all = lower_skinny(step, 0);
  ASSERT_EQ(all.size(), 6U);
  const auto expect = [&](std::size_t launch, const auto& source, const FarOptions& options = {}) {
    expect_permuted_far(all[launch],
                        {.in_bytes = m.matrix_bytes(), .workspace_bytes = m.heads_bytes()},
                        {bytes, source}, options);
  };
  // Heads go to the workspace, pieces become cells or cells pieces, heads come back.
  const std::size_t first = is_tall ? 0 : 3;
  expect(first, [&](std::int64_t to) {
    const SkinnyPlace from = at.of_structures(to, m.rest);
    return is_tall ? at.in_structures(from) : at.in_cells(from);
  });
  expect(first + 1, [&](std::int64_t to) {
    const SkinnyPlace from = is_tall ? at.of_cells(to) : at.of_structures(to, m.length);
    if (at.is_left_over(from)) return std::int64_t{-1};
    return is_tall ? at.in_structures(from) : at.in_cells(from);
  });
  expect(first + 2, [&](std::int64_t to) {
    return at.in_heads(is_tall ? at.of_cells(to) : at.of_structures(to, m.length));
  });
  const auto moved = [&, cells = m.cells()](std::int64_t to) {
    const SkinnyPlace from = at.of_cells(to);
    if (at.is_left_over(from)) return std::int64_t{-1};
    const std::int64_t cell = from.piece * m.fields + from.field;
    return at.in_cell(cell % cells.rows * cells.columns + cell / cells.rows, from.element);
  };
  const std::size_t cells = is_tall ? 4 : 1;
  expect(cells, moved, {.sample = blocks_of_parts(all[cells].launch)});
}

TEST(FarInplace, ConvertsStructures) {
  for (const bool is_tall : {true, false}) {
    convert_far(is_tall, 2'200'000'123, 2, 1, 4001);
    convert_far(is_tall, 700'000'001, 7, 1, 1023);
    convert_far(is_tall, 90'000'007, 13, 4, 300);
    convert_far(is_tall, 20'000'003, 31, 8, 170);
    convert_far(is_tall, 50'000'017, 3, 32, 400);
  }
}

}  // namespace
}  // namespace ttlg::test
