// What goes on while a block is moved: the lines of the next block are requested, and the lines of
// the block before leave its staging buffer. Both a few at a time, so that memory always has
// something to read and something to write and its queues never overflow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/cpu/block.hpp"

namespace ttlg::cpu {

// Of a byte within its line. Always inlined: a function that the files of several SIMD levels share
// must not be emitted by one of them for all.
[[gnu::always_inline]] inline std::int64_t line_offset(const std::byte* address) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) % kLineBytes);
}

// Lines of input to come, piece by piece; see Block::pieces.
struct Requests {
  const std::byte* next = nullptr;  // the block's first byte
  std::span<const std::int64_t> pieces{};
  std::int64_t piece_bytes = 0;
  std::size_t piece = 0;
  std::int64_t byte = 0;  // of the piece
};

// Where one run of a staged block lies in the buffer and goes in the output. Both lie alike within
// their lines.
struct RunPlace {
  std::int64_t stage;
  std::int64_t out;
};

struct Departure {
  std::byte* stage = nullptr;
  std::byte* out = nullptr;
  std::span<const RunPlace> runs{};
  std::int64_t run_bytes = 0;
  bool streaming = true;  // around the caches; otherwise all at once, run by run
  // The first line of each run is whole: the block before left its part in this buffer.
  bool continued = false;
  // The last, partial line of each run waits for the next block, whose buffer begins here.
  std::byte* continues_at = nullptr;
  std::size_t run = 0;
  std::int64_t byte = 0;  // of the run; where it is whole lines, the first of the next one
};

struct Background {
  Requests requests{};
  Departure departure{};
};

}  // namespace ttlg::cpu
