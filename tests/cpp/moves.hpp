// What is moved where, byte by byte: the meaning of a Request or a Problem, whatever its form. Two
// forms of the same transposition have the same moves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <span>
#include <utility>
#include <vector>

#include "tensor/problem.hpp"

namespace ttlg {

// How GoogleTest prints a mode.
inline void PrintTo(const Mode& mode, std::ostream* stream) {
  *stream << "{" << mode.extent << ", " << mode.in_byte_stride << ", " << mode.out_byte_stride
          << "}";
}

namespace test {

using Moves = std::vector<std::pair<std::int64_t, std::int64_t>>;  // input offset, output offset

inline void append_moves(Moves& moves, std::span<const Mode> modes, std::int64_t element_bytes,
                         std::int64_t in, std::int64_t out) {
  if (modes.empty()) {
    for (std::int64_t i = 0; i < element_bytes; ++i) moves.emplace_back(in + i, out + i);
    return;
  }
  const Mode& mode = modes.back();
  for (std::int64_t i = 0; i < mode.extent; ++i) {
    append_moves(moves, modes.first(modes.size() - 1), element_bytes, in + i * mode.in_byte_stride,
                 out + i * mode.out_byte_stride);
  }
}

inline Moves sorted(Moves moves) {
  std::ranges::sort(moves);
  return moves;
}

inline Moves moves_of(const Problem& problem) {
  Moves moves;
  append_moves(moves, problem.modes, problem.element_bytes(), problem.in_byte_offset,
               problem.out_byte_offset);
  return sorted(std::move(moves));
}

inline Moves unsorted_moves_of(const Request& request) {
  const std::vector<std::int64_t> out_strides = request.resolved_out_byte_strides();
  std::vector<Mode> modes;
  for (std::size_t i = 0; i < request.axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(request.axes[i]);
    modes.push_back({request.shape[axis], request.in_byte_strides[axis], out_strides[i]});
  }
  Moves moves;
  append_moves(moves, modes, request.itemsize, 0, 0);
  return moves;
}

inline Moves moves_of(const Request& request) { return sorted(unsorted_moves_of(request)); }

}  // namespace test
}  // namespace ttlg
