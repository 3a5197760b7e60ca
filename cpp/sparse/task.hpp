// Nonzeros that are to be brought into the order of their keys.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/memory/result_pool.hpp"
#include "plan/sparse/key.hpp"
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

}  // namespace ttlg::sparse
