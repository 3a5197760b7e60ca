// Counts what a kernel does for a plan: tiles, programs, elements.
#pragma once

#include <cstdint>

#include "plan/cpu/model/machine.hpp"
#include "plan/cpu/model/terms.hpp"
#include "plan/cpu/parameters.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

// In which order a kernel writes a block.
struct WriteOrder {
  std::int64_t row_blocks = 1;  // blocks that follow one another along the out axis
  double stores_a_line = 1;     // of tiles, each of which misses where rows share sets
  // Tiles sweep over the rows of the in axis, so that what is one run in memory is not written as
  // one: bytes of a row, rows of a block and the bytes from one to the next; 0 bytes: as it lies.
  std::int64_t row_bytes = 0;
  std::int64_t rows = 0;
  std::int64_t row_step = 0;
  bool rows_alike = true;    // they begin at the same place of their lines
  bool makes_lines = false;  // in registers, from where they are streamed
};

// Streamed directly, the lines between blocks are written by one of them.
bool owns_lines(const Problem& folded, const Parameters& parameters, const Machine& machine);

// `part`: the part of the work that the busiest thread does. Not for copies and the reference.
WriteOrder count_work(Terms& terms, const Problem& folded, const Parameters& parameters,
                      const Machine& machine, double part);

}  // namespace ttlg::cpu
