// What must hold of the nonzeros before they are read.
#pragma once

#include <string>

#include "plan/sparse/problem.hpp"
#include "sparse/nonzeros.hpp"

namespace ttlg::sparse {

// Says what is wrong with row pointers or coordinates, and where; empty where nothing is.
std::string find_fault(const Problem& problem, const Input& input, int threads);

// Whether the nonzeros are in lexicographic order of the input's modes. They have no fault.
bool is_sorted(const Problem& problem, const Input& input, int threads);

}  // namespace ttlg::sparse
