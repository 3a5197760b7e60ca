// Which program permutes a tensor with the fewest instructions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generate/lowering.hpp"
#include "plan/shuffle/program.hpp"
#include "plan/shuffle/tile.hpp"
#include "tensor/problem.hpp"

namespace ttlg::generate {

// What the ablations of GenTT, section 7.2.3, change.
struct Options {
  int unroll = 0;        // tiles in one pass of the innermost loop; 0 for as many as registers hold
  bool reorder = true;   // loads first
  int vector_bytes = 0;  // 0 for any width of the instruction set
  bool whole = false;    // registers are loaded and stored whole, in a butterfly
};

// A loop over the tiles along a mode.
struct Loop {
  std::int64_t extent;   // in elements
  std::int64_t step;     // of a pass; the last pass lies over the one before where it does not fit
  std::int64_t in_step;  // in bytes, for an element
  std::int64_t out_step;
};

struct Choice {
  shuffle::Tile tile;
  shuffle::Program program;
  std::vector<Loop> loops;  // the outermost first
  int vector_bytes = 0;
  int tiles = 1;         // in the program
  int instructions = 0;  // that the program is lowered to
  double cost = 0;       // of an element
  // Whether tables of indices find registers; those that do not may be kept on the stack.
  bool fits = true;
};

// Modes only: elements are split or joined so that they are registers' words of up to 16 bytes.
shuffle::Tile make_tensor(const Problem& problem);

Choice choose(const shuffle::Tile& tensor, const Isa& isa, const Options& options);

}  // namespace ttlg::generate
