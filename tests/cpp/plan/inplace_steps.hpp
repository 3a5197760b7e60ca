// Transpositions in place, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "moves.hpp"
#include "plan/inplace/matrices.hpp"
#include "requests.hpp"

namespace ttlg::test {

inline Request inplace_request(std::vector<std::int64_t> shape, std::vector<int> axes,
                               std::int64_t itemsize) {
  Request request = contiguous_request(std::move(shape), std::move(axes), itemsize);
  request.inplace = true;
  return request;
}

// Which byte of the input lies at each place.
using ByteNumbers = std::vector<std::int64_t>;

inline ByteNumbers expected_bytes(const Request& request) {
  const Moves moves = unsorted_moves_of(request);
  ByteNumbers bytes(moves.size());
  for (const auto& [in, out] : moves) bytes[static_cast<std::size_t>(out)] = in;
  return bytes;
}

inline ByteNumbers transposed(const ByteNumbers& before, const Matrices& matrices) {
  const auto& [batch, rows, between, columns, element_bytes] = matrices;
  ByteNumbers after;
  for (std::int64_t i = 0; i < batch; ++i) {
    for (std::int64_t x = 0; x < columns; ++x) {
      for (std::int64_t y = 0; y < between; ++y) {
        for (std::int64_t z = 0; z < rows; ++z) {
          const std::int64_t element = ((i * rows + z) * between + y) * columns + x;
          for (std::int64_t byte = 0; byte < element_bytes; ++byte) {
            after.push_back(before[static_cast<std::size_t>(element * element_bytes + byte)]);
          }
        }
      }
    }
  }
  return after;
}

template <typename Step>
ByteNumbers bytes_after(const std::vector<Step>& steps, std::int64_t bytes) {
  ByteNumbers numbers(static_cast<std::size_t>(bytes));
  std::iota(numbers.begin(), numbers.end(), 0);
  for (const Step& step : steps) numbers = transposed(numbers, matrices_of(step));
  return numbers;
}

}  // namespace ttlg::test
