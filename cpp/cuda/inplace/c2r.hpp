// C2R and R2C (Catanzaro et al., PPoPP 2014) as launches: pure host code.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/launch.hpp"
#include "plan/cuda/inplace/policy.hpp"
#include "plan/inplace/c2r.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

// Matrices of m x n elements, one after another, of which the passes of C2R make transposes, or
// transposes of which those of R2C make matrices.
struct PermutedMatrices {
  C2r c2r;
  bool forward;  // C2R
  std::int64_t batch;
  std::int64_t element_bytes;
  std::int64_t address;  // of the array

  std::int64_t row_bytes() const { return c2r.n * element_bytes; }
  std::int64_t matrix_bytes() const { return c2r.m * row_bytes(); }
  // Bytes of a word, of which elements are made.
  std::int64_t word_bytes() const { return common_power(address | element_bytes, kMaxAccessBytes); }
};

enum class ColumnPass : std::uint8_t { rotation, shuffle };

// Whether the kernels can count rows, columns and the words of an element.
bool is_supported(const PermutedMatrices& matrices);

// Whether rows, or some columns, fit into this many bytes of shared memory.
bool rows_fit(const PermutedMatrices& matrices, std::int64_t on_chip_bytes);
bool columns_fit(const PermutedMatrices& matrices, std::int64_t on_chip_bytes);

// A pass in place, where they do. Throws std::invalid_argument where CUDA cannot number the blocks.
Launch lower_row_shuffle(const PermutedMatrices& matrices, std::int64_t on_chip_bytes);
Launch lower_column_shuffle(const PermutedMatrices& matrices, ColumnPass pass,
                            std::int64_t on_chip_bytes);

// A pass where they do not, through a workspace of `workspace_bytes` that begins with a line: what
// is gathered there is copied back, launch by launch. Throws std::invalid_argument where the
// workspace is too small.
std::vector<InplaceLaunch> lower_long_rows(const PermutedMatrices& matrices,
                                           std::int64_t workspace_bytes);
std::vector<InplaceLaunch> lower_tall_columns(const PermutedMatrices& matrices, ColumnPass pass,
                                              std::int64_t workspace_bytes);

}  // namespace ttlg::cuda
