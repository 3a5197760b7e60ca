// What a transposition of a sparse tensor has to do.
#pragma once

#include <cstdint>
#include <vector>

namespace ttlg::sparse {

// Modes are numbered from the outermost on, in the order by which nonzeros are compared.
struct Problem {
  std::vector<std::int64_t> extents;  // of the input
  std::vector<int> perm;              // mode i of the output is mode perm[i] of the input
  std::int64_t nonzeros = 0;
  std::int64_t value_bytes = 0;
  int in_index_bytes = 8;
  int out_index_bytes = 8;
  bool in_rows = false;   // mode 0 of the input is given by row pointers
  bool out_rows = false;  // that of the output is to be

  int rank() const { return static_cast<int>(perm.size()); }
};

}  // namespace ttlg::sparse
