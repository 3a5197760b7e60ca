// The dispatch table: what an instruction set offers for moving one block. The executor knows
// nothing else of a machine; an instruction set is one file that fills one table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ttlg::cpu {

// in_extent x out_extent elements. Rows of the output run along the out mode.
struct Block {
  std::int64_t in_extent;
  std::int64_t out_extent;
  std::int64_t in_step_in;    // bytes on the input side, one step along the in mode
  std::int64_t in_step_out;   // bytes on the input side, one step along the out mode
  std::int64_t out_step_in;   // bytes on the output side, one step along the in mode
  std::int64_t out_step_out;  // bytes on the output side, one step along the out mode
  std::int64_t element_bytes;
  // Source of the block that this thread moves next, or null: its lines are requested while this
  // block is worked on, because its short rows are no stream that the hardware would foresee.
  const std::byte* next;
};

using BlockKernel = void (*)(const std::byte* in, std::byte* out, const Block& block);
using CopyKernel = void (*)(std::byte* out, const std::byte* in, std::int64_t bytes);

struct Kernels {
  const char* name;
  // Transposes a block of unit stride on both sides; indexed by log2 of the element's bytes, 0..4.
  std::array<BlockKernel, 5> tile;
  // Moves elements of the same widths between any strides; the last entry takes any width.
  std::array<BlockKernel, 6> run;
  // Copies with ordinary stores, and with stores that bypass the caches for whole lines.
  CopyKernel copy;
  CopyKernel stream;
  // Orders what `stream` wrote before whatever this thread signals next.
  void (*fence)();
};

// 16-byte vectors: what every x86-64 (SSE2) and AArch64 (NEON) machine has.
extern const Kernels kPortableKernels;

// The table for this machine.
const Kernels& kernels();

}  // namespace ttlg::cpu
