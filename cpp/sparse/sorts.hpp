// The ways to bring nonzeros into the order of their keys.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/memory/result_pool.hpp"
#include "plan/sparse/plan.hpp"
#include "sparse/buffer.hpp"
#include "sparse/keys.hpp"
#include "sparse/nonzeros.hpp"

namespace ttlg::sparse {

struct Task {
  const Key& key;
  SortedBits sorted;  // the bits that are not in order yet
  const KeyReader& reader;
  std::int64_t count = 0;
  std::int64_t rows = 0;  // of the output, where it has row pointers
  const std::byte* values = nullptr;
  std::int64_t value_bytes = 0;
  const Output& output;
  // Where it is set, the numbers of the nonzeros in their new order are written there, and nothing
  // to the output.
  std::int64_t* order = nullptr;
  int threads = 1;
  std::int64_t cache_bytes = 0;  // of a thread
  cpu::ResultPool& pool;

  // The row of a key is what is above this bit; negative where there is one row.
  int row_shift() const {
    return key.fields.empty() || key.fields.front().out_mode != 0 ? -1 : key.fields.front().shift;
  }
};

// Most significant digit first: nonzeros are distributed to chunks that fit a cache, except where
// the order that the input has gives such chunks. Those are sorted by the rest of the bits, the
// least significant digit first, while they are in the cache, and written to the output. All of it
// is stable. Needs memory for a copy of the nonzeros where they are distributed.
void radix_sort(const Task& task);

// Counts the nonzeros of each key, by the bits that have to be sorted, and puts each to its place
// in the output at once: as SciPy transposes matrices. Needs a counter for each key and thread. The
// task sorts by the highest bits, and its result is no order.
void counting_scatter(const Task& task);

// The share of nonzeros whose key is not one of those shortly before, at most `window` nonzeros:
// their places are in no cache. Of a sample of the nonzeros.
double scattered_share(const Task& task, std::int64_t window);

// The sorting options of COMET's sparse transposition, which move the numbers of nonzeros; the
// nonzeros themselves move once, at the end.
//
// The numbers of the nonzeros in the order of the output, by one of COMET's options. All modes of
// the input are given by coordinates, and the input is in order by its first `sorted_modes` modes.
Buffer<std::int64_t> sorted_numbers(const Problem& problem, Algorithm algorithm, const Input& input,
                                    int sorted_modes, int threads, cpu::ResultPool& pool);

}  // namespace ttlg::sparse
