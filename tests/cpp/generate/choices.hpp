// Choices of programs for tensors, and what they do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "generate/choose.hpp"
#include "generate/lowering.hpp"
#include "plan/shuffle/interpret.hpp"
#include "requests.hpp"

namespace ttlg::test {

// A contiguous matrix, transposed.
inline shuffle::Tile matrix(std::int64_t rows, std::int64_t columns, std::int64_t itemsize) {
  return generate::make_tensor(make_problem(contiguous_request({rows, columns}, {1, 0}, itemsize)));
}

inline shuffle::Tile whole(shuffle::Tile tensor) {
  for (shuffle::TileMode& mode : tensor.modes) mode.tile = mode.extent;
  return tensor;
}

// Puts what one pass stores at every place that a choice's loops visit. The pass is given the bytes
// that it may read and those that it may write.
template <typename Pass>
std::vector<std::int64_t> carry_out(const generate::Choice& choice, const shuffle::Tile& tensor,
                                    const Pass& pass) {
  using shuffle::TileMode;
  std::int64_t in_bytes = bytes_of(choice.tile, &TileMode::in_step);
  std::int64_t out_bytes = bytes_of(choice.tile, &TileMode::out_step);
  if (choice.tiles > 1) {
    const generate::Loop& loop = choice.loops.back();
    const std::int64_t more = loop.step - loop.step / choice.tiles;
    in_bytes += more * loop.in_step;
    out_bytes += more * loop.out_step;
  }
  const std::vector<std::int64_t> stored = pass(in_bytes, out_bytes);
  std::vector<std::int64_t> out(
      static_cast<std::size_t>(bytes_of(whole(tensor), &TileMode::out_step)), kUntouched);
  std::vector<std::int64_t> counters(choice.loops.size(), 0);
  while (true) {
    std::int64_t in_start = 0;
    std::int64_t out_start = 0;
    for (std::size_t i = 0; i < counters.size(); ++i) {
      const generate::Loop& loop = choice.loops[i];
      const std::int64_t at = std::min(counters[i], loop.extent - loop.step);
      in_start += at * loop.in_step;
      out_start += at * loop.out_step;
    }
    for (std::size_t i = 0; i < stored.size(); ++i) {
      if (stored[i] == kUntouched) continue;
      out.at(static_cast<std::size_t>(out_start) + i) = in_start + stored[i];
    }
    std::size_t i = 0;
    while (i < counters.size() && (counters[i] += choice.loops[i].step) >= choice.loops[i].extent) {
      counters[i++] = 0;
    }
    if (i == counters.size()) return out;
  }
}

inline std::vector<std::int64_t> carry_out(const generate::Choice& choice,
                                           const shuffle::Tile& tensor) {
  return carry_out(choice, tensor, [&](std::int64_t in_bytes, std::int64_t out_bytes) {
    return interpret(choice.program, in_bytes, out_bytes);
  });
}

}  // namespace ttlg::test
