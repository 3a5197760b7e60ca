// Threads: how many a plan may use, and how a range of blocks is shared among them.
#pragma once

#include <cstdint>

#include "cpu/threads/part.hpp"
#include "cpu/threads/shares.hpp"

namespace ttlg::cpu {

// The number that was chosen, else the default, but no more than the limit.
int num_threads();

// 0 where none was chosen and there is no limit.
int chosen_num_threads();

// 0 goes back to the default.
void choose_num_threads(int threads);

// On both of them; none where it is not below.
void limit_num_threads(int threads);

// At first the number of the processors that this process may run on.
void set_default_num_threads(int threads);

// Calls work(begin, end) on contiguous shares of 0..count-1, shares_per_thread for each, on this
// thread and at most threads - 1 others, of this process's team or of the pool that it is a guest
// of. A call within a call is done by the one thread that makes it.
void parallel_ranges(int threads, std::int64_t count, std::int64_t shares_per_thread,
                     const RangeWork& work);

}  // namespace ttlg::cpu
