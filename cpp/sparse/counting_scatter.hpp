// Sorts nonzeros that follow others of their key soon.
#pragma once

#include "sparse/task.hpp"

namespace ttlg::sparse {

// Counts the nonzeros of each key, by the bits that have to be sorted, and puts each to its place
// in the output at once: as SciPy transposes matrices. Needs a counter for each key and thread. The
// task sorts by the highest bits, and its result is no order.
void counting_scatter(const Task& task);

// The share of nonzeros whose key is not one of those shortly before, at most `window` nonzeros:
// their places are in no cache. Of a sample of the nonzeros.
double scattered_share(const Task& task, std::int64_t window);

}  // namespace ttlg::sparse
