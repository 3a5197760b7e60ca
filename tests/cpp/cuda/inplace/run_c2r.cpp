#include "cuda/inplace/run_c2r.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <ostream>
#include <random>

#include "cuda/inplace/run_steps.hpp"
#include "cuda/run_kernels.hpp"
#include "sample.hpp"

namespace ttlg::test {

using Position = std::pair<std::int64_t, std::int64_t>;

void PrintTo(const C2rCase& c, std::ostream* stream) {
  *stream << (c.forward ? "C2R" : "R2C") << " of " << c.batch << " x " << c.rows << " x "
          << c.columns << " of " << c.element_bytes << " bytes, " << c.misalignment
          << " bytes misaligned";
}

C2rArray::C2rArray(const C2rCase& c)
    : case_(c),
      array_(static_cast<std::size_t>(c.bytes()), static_cast<std::size_t>(c.misalignment)) {
  std::ranges::generate(array_.bytes(), [random = std::minstd_rand(1)]() mutable {
    return static_cast<std::byte>(random() >> 8);
  });
}

// Element (i, j) of each matrix becomes the one at from(i, j).
template <typename From>
std::vector<std::byte> C2rArray::gathered(const From& from) const {
  const auto size = static_cast<std::size_t>(case_.element_bytes);
  std::vector<std::byte> result(array_.bytes().size());
  const auto element = [&](std::int64_t matrix, Position position) {
    return size * static_cast<std::size_t>((matrix * case_.rows + position.first) * case_.columns +
                                           position.second);
  };
  for (std::int64_t matrix = 0; matrix < case_.batch; ++matrix) {
    for (std::int64_t i = 0; i < case_.rows; ++i) {
      for (std::int64_t j = 0; j < case_.columns; ++j) {
        std::memcpy(result.data() + element(matrix, {i, j}),
                    array_.bytes().data() + element(matrix, from(i, j)), size);
      }
    }
  }
  return result;
}

std::vector<std::byte> C2rArray::expected(C2rPass pass) const {
  const C2r c2r(case_.rows, case_.columns);
  const std::int64_t m = c2r.m;
  const std::int64_t n = c2r.n;
  const auto shuffled = [&](std::int64_t i, std::int64_t j) {  // Eq. 24
    return ((i + j / c2r.b) % m + j * m) % n;
  };
  const auto index_of = [&](std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(i * n + j);
  };
  // Where the elements of C2R's passes go to, or those of R2C's come from.
  std::vector<Position> positions(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      switch (pass) {
        case C2rPass::rotation:  // Eq. 23, a gather
          positions[index_of((i + j / c2r.b) % m, j)] = {i, j};
          break;
        case C2rPass::rows:  // a scatter
          positions[index_of(i, j)] = {i, shuffled(i, j)};
          break;
        case C2rPass::shuffle:  // Eq. 26, a gather
          positions[index_of(floor_mod(j + i * n - i / c2r.a, m), j)] = {i, j};
      }
    }
  }
  if (!case_.forward) {
    return gathered([&](std::int64_t i, std::int64_t j) { return positions[index_of(i, j)]; });
  }
  std::vector<Position> inverse(positions.size());
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const auto [to_i, to_j] = positions[index_of(i, j)];
      inverse[index_of(to_i, to_j)] = {i, j};
    }
  }
  return gathered([&](std::int64_t i, std::int64_t j) { return inverse[index_of(i, j)]; });
}

// Of C2R, the matrices' elements in the transposes' order; of R2C, the other way round.
std::vector<std::byte> C2rArray::expected_transpose() const {
  const std::int64_t m = case_.rows;
  const std::int64_t n = case_.columns;
  return gathered([&](std::int64_t i, std::int64_t j) -> Position {
    const std::int64_t at = i * n + j;
    const std::int64_t from = case_.forward ? at % m * n + at / m : at % n * m + at / n;
    return {from / n, from % n};
  });
}

Report C2rArray::run(const cuda::Launch& launch, bool backwards) {
  const std::vector<std::uint8_t> writes(array_.bytes().size(), 1);
  return run_kernel({launch.blocks, launch.threads, launch.shared_bytes, backwards},
                    {.in = array_.bytes(), .out = array_.bytes(), .expected_writes = writes},
                    kernel_of(launch, {}));
}

Report C2rArray::run(const std::vector<cuda::InplaceLaunch>& launches,
                     std::int64_t workspace_bytes) {
  return run_launches(launches, array_, workspace_bytes);
}

bool C2rArray::equals(const std::vector<std::byte>& bytes) {
  return std::ranges::equal(array_.bytes(), bytes);
}

Counts expect_pass(const C2rCase& c, C2rPass pass, const C2rRun& run) {
  SCOPED_TRACE(testing::PrintToString(c) + ", pass " + std::to_string(static_cast<int>(pass)));
  C2rArray array(c);
  const std::vector<std::byte> expected = array.expected(pass);
  const Report report = run(array, pass);
  EXPECT_EQ(report.violations, Violations{});
  EXPECT_TRUE(array.equals(expected));
  return report.counts;
}

void expect_transposed(const C2rCase& c, const C2rRun& run) {
  if (!is_sample()) return;
  SCOPED_TRACE(testing::PrintToString(c));
  C2rArray array(c);
  const std::vector<std::byte> expected = array.expected_transpose();
  std::vector<C2rPass> passes{C2rPass::rotation, C2rPass::rows, C2rPass::shuffle};
  if (!c.forward) std::ranges::reverse(passes);
  for (const C2rPass pass : passes) {
    EXPECT_EQ(run(array, pass).violations, Violations{}) << "pass " << static_cast<int>(pass);
  }
  EXPECT_TRUE(array.equals(expected));
}

std::vector<C2rCase> cases_of_large_elements() {
  std::vector<C2rCase> cases;
  for (const std::int64_t bytes : {20, 100, 520, 1000, 1024, 5000}) {
    for (const auto& [rows, columns] : {std::pair{5, 7}, {6, 9}, {12, 8}, {1, 4}}) {
      for (const bool forward : {false, true}) {
        cases.push_back({forward, rows, columns, bytes, 2, 8});
      }
    }
  }
  return cases;
}

}  // namespace ttlg::test
