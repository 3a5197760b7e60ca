// The executor of sparse transpositions.
#pragma once

#include <cstdint>

#include "cpu/memory/result_pool.hpp"
#include "plan/sparse/plan.hpp"
#include "sparse/nonzeros.hpp"

namespace ttlg::sparse {

// Writes all of the output. The input has no fault (`check`). Throws bad_alloc before anything
// is written, or after: the output is new memory.
void transpose(const Plan& plan, const Input& input, const Output& output, cpu::ResultPool& pool);

}  // namespace ttlg::sparse
