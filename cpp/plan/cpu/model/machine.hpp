// What the planner must know of a machine; found out by cpu/, so that planning stays pure.
#pragma once

#include <cstdint>

#include "plan/cpu/model/time_model.hpp"

namespace ttlg::cpu {

struct Machine {
  std::int64_t l1_cache_bytes = 32 << 10;
  std::int64_t l2_cache_bytes = 1 << 20;
  std::int64_t last_level_cache_bytes = 32 << 20;
  int vector_bytes = 64;
  bool has_shuffle = true;  // an instruction that permutes the bytes of a vector
  // Until another thread that watches for calls begins its part of one; 0 until it is measured.
  double thread_start_seconds = 0;
  TimeModel model = generic_model();
};

}  // namespace ttlg::cpu
