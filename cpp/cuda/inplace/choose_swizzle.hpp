// How the row shuffle lays rows out in shared memory.
#pragma once

#include "cuda/kernels/inplace/row_shuffle.hpp"

namespace ttlg::cuda {

// The swizzle with the fewest bank conflicts in a sample of the warps that access the elements of
// rows at their positions, in words of `word_bytes`, `in_word` elements after one another by each
// lane. All else of the arguments is known.
LineSwizzle choose_swizzle(const RowShuffleArguments& p, int word_bytes, std::uint32_t in_word);

}  // namespace ttlg::cuda
