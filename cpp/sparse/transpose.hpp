// The executor of sparse transpositions, and what it relies on.
#pragma once

#include <cstdint>
#include <string>

#include "cpu/memory/result_pool.hpp"
#include "plan/sparse/plan.hpp"
#include "sparse/nonzeros.hpp"

namespace ttlg::sparse {

// What must hold of the nonzeros before they are read.
struct Findings {
  std::string fault;      // of row pointers or coordinates, and where; empty where there is none
  bool is_sorted = true;  // in lexicographic order of the input's modes, if that is asked
};

Findings check(const Problem& problem, const Input& input, bool with_order, int threads);

// Writes all of the output. The input has no fault (`check`). Throws bad_alloc before anything
// is written, or after: the output is new memory.
void transpose(const Plan& plan, const Input& input, const Output& output, cpu::ResultPool& pool);

}  // namespace ttlg::sparse
