// What the planner must know of a machine; measured by cpu/, so that planning stays pure.
#pragma once

#include <cstdint>

namespace ttlg::cpu {

struct Machine {
  std::int64_t l1_cache_bytes = 32 << 10;
  std::int64_t l2_cache_bytes = 1 << 20;
  std::int64_t last_level_cache_bytes = 32 << 20;
  bool has_shuffle = true;  // an instruction that permutes the bytes of a vector
};

}  // namespace ttlg::cpu
