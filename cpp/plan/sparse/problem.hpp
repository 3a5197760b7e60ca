// What a transposition of a sparse tensor has to do.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/names.hpp"

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

// All but the first are the options of COMET's sparse transposition (SORT_TYPE).
enum class Algorithm {
  automatic,     // packed keys, sorted by as few of their bits as the order of the input allows
  no_sort,       // the input is traversed and counted again for each mode out of order
  seq_qsort,     // a quicksort by all modes together
  par_qsort,     // the same by several threads
  radix_bucket,  // mode by mode from the last on, each by a bucket sort
  count_radix,   // mode by mode from the last on, each by a counting sort
  count_quick,   // a counting sort by the first mode, and a quicksort within each of its slices
};

inline constexpr NameTable<Algorithm, 7> kAlgorithms({"auto", "no_sort", "seq_qsort", "par_qsort",
                                                      "radix_bucket", "count_radix",
                                                      "count_quick"});

}  // namespace ttlg::sparse
