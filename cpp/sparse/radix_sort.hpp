// Sorts nonzeros that are many and lie anywhere.
#pragma once

#include "sparse/task.hpp"

namespace ttlg::sparse {

// Most significant digit first: nonzeros are distributed to chunks that fit a cache, except where
// the order that the input has gives such chunks. Those are sorted by the rest of the bits, the
// least significant digit first, while they are in the cache, and written to the output. All of it
// is stable. Needs memory for a copy of the nonzeros where they are distributed.
void radix_sort(const Task& task);

}  // namespace ttlg::sparse
