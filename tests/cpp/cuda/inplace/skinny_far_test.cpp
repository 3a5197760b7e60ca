// Matrices of few rows or columns and more than 2^32 bytes: some blocks of each launch, on memory
// that is not allocated.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "cuda/far_memory.hpp"
#include "cuda/inplace/lower.hpp"
#include "cuda/inplace/run_steps.hpp"
#include "cuda/run_kernels.hpp"
#include "plan/cuda/inplace/policy.hpp"
#include "plan/cuda/inplace/skinny.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;

// Where elements lie, counted from the beginning of the array or of the workspace.
class Places {
 public:
  explicit Places(const SkinnyMatrix& matrix) : m_(matrix) {}

  // Of a structure, counted through the pieces.
  std::int64_t in_structures(std::int64_t structure, std::int64_t field) const {
    return structure * m_.fields + field;
  }
  std::int64_t in_cell(std::int64_t cell, std::int64_t element) const {
    return cell * m_.length + cell / m_.pieces * m_.rest + element;
  }
  // Among all heads: of a piece's, or of what is left over.
  std::int64_t in_heads(std::int64_t piece, std::int64_t element, std::int64_t field) const {
    return (piece * m_.rest + element) * m_.fields + field;
  }

  // visit(piece, element, field) of what lies at a place among the structures, or among the heads.
  template <typename Visit>
  std::int64_t of_structures(std::int64_t place, std::int64_t length, const Visit& visit) const {
    const std::int64_t structure = place / m_.fields;
    return visit(structure / length, structure % length, place % m_.fields);
  }
  // visit(cell, element) of what lies among the cells, or beyond those of a field.
  template <typename Visit, typename Left>
  std::int64_t of_cells(std::int64_t place, const Visit& visit, const Left& left) const {
    const std::int64_t field = place / m_.structures;
    const std::int64_t in_field = place % m_.structures;
    const std::int64_t number = in_field / m_.length;
    if (number == m_.pieces) return left(field, in_field % m_.length);
    return visit(field * m_.pieces + number, in_field % m_.length);
  }

  std::int64_t piece_from_cells(std::int64_t place) const {
    return of_structures(place, m_.length, [&](auto piece, auto element, auto field) {
      return in_cell(piece * m_.fields + field, element);
    });
  }
  std::int64_t cells_from_piece(std::int64_t place) const {
    return of_cells(
        place,
        [&](auto cell, auto element) {
          return in_structures(cell / m_.fields * m_.length + element, cell % m_.fields);
        },
        [](auto, auto) { return std::int64_t{-1}; });
  }
  std::int64_t heads_from_structures(std::int64_t place) const {
    return of_structures(place, m_.rest, [&](auto piece, auto element, auto field) {
      return in_structures(piece * m_.length + element, field);
    });
  }
  std::int64_t structures_from_heads(std::int64_t place) const {
    return of_structures(place, m_.length, [&](auto piece, auto element, auto field) {
      return in_heads(piece, element, field);
    });
  }
  std::int64_t heads_from_cells(std::int64_t place) const {
    return of_structures(place, m_.rest, [&](auto piece, auto element, auto field) {
      if (piece < m_.pieces) return in_cell(piece * m_.fields + field, element);
      return field * m_.structures + m_.pieces * m_.length + element;
    });
  }
  std::int64_t cells_from_heads(std::int64_t place) const {
    return of_cells(
        place,
        [&](auto cell, auto element) {
          return in_heads(cell / m_.fields, element, cell % m_.fields);
        },
        [&](auto field, auto element) { return in_heads(m_.pieces, element, field); });
  }
  // Of cells that have moved.
  std::int64_t cells_from_cells(std::int64_t place) const {
    const InplaceStep cells = m_.cells();
    return of_cells(
        place,
        [&](auto cell, auto element) {
          return in_cell(cell % cells.rows * cells.columns + cell / cells.rows, element);
        },
        [](auto, auto) { return std::int64_t{-1}; });
  }

 private:
  const SkinnyMatrix& m_;
};

// Blocks that move parts of cycles, of which there are fewer than of those that may lead one.
std::vector<std::uint32_t> parts_of(const Launch& launch) {
  const auto& p = std::get<CellsArguments>(launch.arguments);
  const std::int64_t groups = CellsPolicy::kThreads >> p.groups.group_shift;
  const std::int64_t blocks = p.saved * p.groups.chunks.divisor() / groups;
  std::vector<std::uint32_t> sample;
  for (std::int64_t i = 0; i < 40; ++i) {
    sample.push_back(static_cast<std::uint32_t>(i * (blocks - 1) / 39));
  }
  return sample;
}

void expect_moved(const InplaceLaunch& launch, const SkinnyMatrix& matrix,
                  const std::function<std::int64_t(std::int64_t)>& element_source,
                  const std::vector<std::uint32_t>& sample = {}) {
  const auto bytes = [&](const InplaceLaunch::Location& location) {
    return location.in_workspace ? matrix.heads_bytes() : matrix.matrix_bytes();
  };
  const std::int64_t size = matrix.element_bytes;
  EXPECT_EQ(
      run_far(
          {.blocks = launch.launch.blocks,
           .threads = launch.launch.threads,
           .shared_bytes = launch.launch.shared_bytes,
           .sample = sample},
          {.in_bytes = bytes(launch.from),
           .out_bytes = bytes(launch.to),
           .source = [&](std::int64_t to) { return element_source(to / size) * size + to % size; }},
          kernel_of(launch.launch, {})),
      Violations{});
}

void expect_converted(std::int64_t structures, std::int64_t fields, std::int64_t bytes,
                      std::int64_t length) {
  for (const bool is_tall : {true, false}) {
    const InplaceStep step{.kernel = InplaceKernel::skinny,
                           .rows = is_tall ? structures : fields,
                           .columns = is_tall ? fields : structures,
                           .element_bytes = bytes,
                           .width = length};
    SCOPED_TRACE(describe(step, 0));
    ASSERT_TRUE(applies(step));
    ASSERT_GT(step.bytes(), kFar);
    const SkinnyMatrix matrix(step);
    ASSERT_GT(matrix.rest, 0);
    const Places at(matrix);
    const std::vector<InplaceLaunch> all = lower_skinny(step, 0);
    ASSERT_EQ(all.size(), 6U);
    const std::size_t first = is_tall ? 0 : 3;
    const InplaceLaunch& cells = all[is_tall ? 4 : 1];
    expect_moved(all[first], matrix, [&](auto place) {
      return is_tall ? at.heads_from_structures(place) : at.heads_from_cells(place);
    });
    expect_moved(all[first + 1], matrix, [&](auto place) {
      return is_tall ? at.cells_from_piece(place) : at.piece_from_cells(place);
    });
    expect_moved(all[first + 2], matrix, [&](auto place) {
      return is_tall ? at.cells_from_heads(place) : at.structures_from_heads(place);
    });
    expect_moved(
        cells, matrix, [&](auto place) { return at.cells_from_cells(place); },
        parts_of(cells.launch));
  }
}

TEST(SkinnyFar, ConvertsStructures) {
  expect_converted(2'200'000'123, 2, 1, 4001);
  expect_converted(700'000'001, 7, 1, 1023);
  expect_converted(90'000'007, 13, 4, 300);
  expect_converted(20'000'003, 31, 8, 170);
  expect_converted(50'000'017, 3, 32, 400);
}

}  // namespace
}  // namespace ttlg::test
