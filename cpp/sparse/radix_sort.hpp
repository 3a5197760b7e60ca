// Sorts nonzeros by the bits of their keys that are not in order yet.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/memory/result_pool.hpp"
#include "plan/sparse/key.hpp"
#include "sparse/keys.hpp"
#include "sparse/nonzeros.hpp"

namespace ttlg::sparse {

struct RadixSort {
  const Key& key;
  SortedBits sorted;
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

  // Most significant digit first: nonzeros are distributed to chunks that fit a cache, except where
  // the order that the input has gives such chunks. Those are sorted by the rest of the bits, the
  // least significant digit first, while they are in the cache, and written to the output. All of
  // it is stable. Needs memory for a copy of the nonzeros where they are distributed.
  void run() const;
};

}  // namespace ttlg::sparse
