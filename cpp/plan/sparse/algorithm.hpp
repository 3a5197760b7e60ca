// How the nonzeros of a sparse tensor are brought into order.
#pragma once

#include "plan/names.hpp"

namespace ttlg::sparse {

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
